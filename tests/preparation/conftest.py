"""Small corpora made on the spot: each utterance is a burst of noise between silences."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.timespan import TimeSpan

RATE_HZ = 16_000
Line = tuple[str, str, tuple[int, int] | None]
Session = Callable[..., Path]


def sound(spans: Sequence[tuple[int, int]], duration_ms: int, seed: int = 0) -> np.ndarray:
    samples = np.zeros(duration_ms * 16, np.float32)
    rng = np.random.default_rng(seed)
    for start_ms, end_ms in spans:
        burst = samples[max(0, start_ms) * 16 : end_ms * 16]
        burst += 0.1 * rng.standard_normal(len(burst)).astype(np.float32)
    return samples


@pytest.fixture
def session(tmp_path) -> Session:
    """Return a function that writes a session's transcript and recording into ``corpus`` and returns the folder."""

    def write(
        name: str,
        lines: Sequence[Line],
        *,
        persons: Sequence[Participant] = (),
        duration_ms: int | None = None,
        samples: np.ndarray | None = None,
        corpus: str = "corpus",
        language: str = "eng",
    ) -> Path:
        folder = tmp_path / corpus
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        spans = [span for _, _, span in lines if span]
        end_ms = duration_ms or max((end for _, end in spans), default=0) + 500
        seed = sum(f"{corpus} {name}".encode())
        sf.write(folder / f"{name}.wav", sound(spans, end_ms, seed) if samples is None else samples, RATE_HZ)
        codes = dict.fromkeys(speaker for speaker, _, _ in lines)
        transcript = chat.compose(
            languages=[language],
            participants=persons or [Participant(code, "Target_Child") for code in codes],
            utterances=[
                chat.utterance(speaker, text, TimeSpan(*span) if span else None) for speaker, text, span in lines
            ],
            media=Path(name).name,
        )
        chat.write(transcript, folder / f"{name}.cha")
        return folder

    return write


@pytest.fixture
def talk() -> Callable[..., list[Line]]:
    """Return a function that makes ``count`` utterances of about two seconds with gaps of 300 ms."""

    def make(count: int, speaker: str = "CHI", first_ms: int = 300) -> list[Line]:
        texts = ("&-um I want [/] want it .", "the <big dog> [//] small cat ran .", "we (.) go home now ?")
        return [
            (speaker, f"{texts[at % 3]}", (first_ms + at * 2300, first_ms + at * 2300 + 2000)) for at in range(count)
        ]

    return make
