"""Times are added and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.align.transcripts import text_without_times, with_times, without_times
from lsa_whisper.timespan import TimeSpan

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / ".." / "shared" / "data" / "chat" / "reference"


def timed(transcript):
    blocks = []
    for block in transcript.blocks:
        if isinstance(block, chat.Utterance):
            words = [(word, TimeSpan(10 * at, 10 * at + 10)) for at, word in enumerate(block.verbatim())]
            block = with_times(block, TimeSpan(0, 900), words)
        blocks.append(block)
    return replace(transcript, blocks=blocks)


@pytest.mark.parametrize(
    "text",
    [
        "@UTF8\n@Begin\n*CHI:\tthe [/] the\n\tdog . [+ gram]\n%mor:\tx\n*CHI:\txxx .\n@End\n",
        "*CHI:\t&-um hello .\r\n%com:\tnothing\r\n*MOT:\thi .\r\n",
        "*CHI:\tno line end .",
    ],
)
def test_only_times_are_added(text):
    before = chat.parse(text)
    after = chat.parse(chat.serialize(timed(before)))
    assert text_without_times(after) == text_without_times(before) == text.rstrip("\r\n")
    assert [each.span for each in after.utterances] == [TimeSpan(0, 900)] * len(before.utterances)
    for each in after.utterances:
        assert [word for word, _ in each.word_times] == each.verbatim()
        assert each.tiers[0].name == "%wor"


def test_a_bullet_on_a_line_of_its_own_is_removed_with_its_line():
    spoken = chat.parse("*CHI:\thello .\n\t\x150_900\x15\n%wor:\thello \x150_900\x15 .\n").utterances[0]
    assert without_times(spoken).main == "*CHI:\thello .\n" and without_times(spoken).tiers == ()


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="../shared/data is absent")
def test_every_construct_of_chat_keeps_its_text():
    for path in sorted(REFERENCE.rglob("*.cha")):
        before = chat.read(path)
        after = chat.parse(chat.serialize(timed(before)))
        assert text_without_times(after) == text_without_times(before), path


def test_times_without_control_characters_are_replaced():
    made = with_times(chat.parse("*CHI:\thi . 30_90\n").utterances[0], TimeSpan(0, 900), [])
    assert made.main == "*CHI:\thi . \x150_900\x15\n"
