"""Recordings of telephones and browsers are transcribed with what `pip install` brings."""

from __future__ import annotations

import pytest
from containers import encode

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.system.shipped import NANO, STORYBOOK, shipped
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription import Transcriber


@pytest.fixture(scope="module")
def talk():
    return Recording.open(shipped(STORYBOOK) / "test" / "test01.flac").load(TimeSpan(0, 12_000))


@pytest.fixture(scope="module")
def transcriber():
    return Transcriber(shipped(NANO))


@pytest.mark.parametrize("name", ["New Recording 3.m4a", "talk.mp4", "talk.webm"])
def test_the_words_are_those_of_the_sound(tmp_path, talk, transcriber, name):
    path = encode(tmp_path / name, talk, 16_000, video=name.endswith("mp4"))
    spoken = chat.read(shipped(STORYBOOK) / "test" / "test01.cha").utterances
    said = {word for each in spoken for word in each.fluent() if each.span.end_ms < 12_000}
    written = {word for each in transcriber.transcribe(path).transcript.utterances for word in each.fluent()}
    assert len(said & written) >= 0.7 * len(said)
