"""Spliced speech of storybook's train set, made once."""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from lsa_whisper import chat
from lsa_whisper.audio import Recording
from lsa_whisper.splice import DisfluencyProfile, SplicedSpeech, count_profile, splice_speech

TRAIN = Path(__file__).parents[2] / "corpora/storybook/train"


@dataclass(frozen=True)
class SplicedRecording:
    """One train recording, its transcript, and the speech spliced from it."""

    recording: Recording
    transcript: chat.Transcript
    speech: SplicedSpeech


@pytest.fixture(scope="session")
def profile() -> DisfluencyProfile:
    return count_profile(one for path in sorted(TRAIN.glob("*.cha")) for one in chat.read(path).utterances)


@pytest.fixture(scope="session")
def spliced(profile) -> list[SplicedRecording]:
    made = []
    for number, path in enumerate(sorted(TRAIN.glob("*.cha"))):
        transcript, recording = chat.read(path), Recording.open(path.with_suffix(".flac"))
        speech = splice_speech(
            transcript.utterances,
            recording.load,
            round(recording.duration_s * 1000),
            profile=profile,
            rate=0.6,
            rng=random.Random(number),
        )
        made.append(SplicedRecording(recording, transcript, speech))
    return made
