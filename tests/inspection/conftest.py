from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.preparation import prepare
from lsa_whisper.timespan import TimeSpan


def write_corpus(folder: Path, sessions: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    people = [Participant("CHI", "Target_Child"), Participant("MOT", "Mother")]
    for at in range(sessions):
        timed_lines = [
            ("CHI", "&-um I want [/] want it .", (100, 2000)),
            ("MOT", "you want <the ball> [//] the doll ?", (2500, 4500)),
            ("CHI", "xxx .", (5000, 6000)),
        ]
        notes = [chat.utterance(who, text, TimeSpan(*span)) for who, text, span in timed_lines]
        made = chat.compose(languages=["eng"], participants=people, utterances=notes, media=f"s{at}")
        chat.write(made, folder / f"s{at}.cha")
        noise = np.random.default_rng(at).standard_normal(16_000 * 7) * 0.1
        sf.write(folder / f"s{at}.wav", noise.astype(np.float32), 16_000)
    return folder


@pytest.fixture
def corpus(tmp_path):
    """Writes a corpus of so many sessions below a folder of that name."""
    return lambda name="corpus", sessions=1: write_corpus(tmp_path / name, sessions)


@pytest.fixture(scope="session")
def thirty(tmp_path_factory) -> Path:
    """Thirty sessions, prepared; not to be changed."""
    folder = tmp_path_factory.mktemp("thirty")
    prepare([write_corpus(folder / "corpus", 30)], folder / "prepared", context_s=10, without_timestamps=0)
    return folder / "prepared"


@pytest.fixture(autouse=True)
def a_wide_terminal(monkeypatch):
    """Tables break words where the terminal ends, and what they say must not depend on how long a path is."""
    monkeypatch.setenv("COLUMNS", "200")
