"""Real phrases that return three to eight times between sentences of another speaker, so that all copies are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.non_speech import Samples, at_level
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.timespan import TimeSpan

COPIES = (3, 5, 8)
FADE_S = 0.03
MARGIN_MS = 30


@dataclass(frozen=True)
class Phrase:
    """What is repeated: a part of a recording, in milliseconds, and its words."""

    file: str
    start_ms: int
    end_ms: int
    text: str


PHRASES = (
    Phrase("ami/EN2001b_000000.flac", 22_300, 22_690, "yeah"),
    Phrase("ami/EN2001a_000000.flac", 10_480, 10_880, "okay"),
    Phrase("ami/EN2001d_000000.flac", 20_840, 21_330, "ah yeah"),
    Phrase("ami/EN2004a_000000.flac", 480, 1_400, "if not more yeah"),
    Phrase("ami/EN2006a_000000.flac", 8_370, 9_600, "and something to fidget with"),
    Phrase("ami/ES2003a_000000.flac", 28_500, 29_610, "you're the marketing expert"),
    Phrase("ami/ES2003a_000000.flac", 26_300, 28_260, "I'm the marketing expert"),
    Phrase("ami/EN2001a_000000.flac", 28_090, 29_860, "like duplication of effort and stuff"),
    Phrase("batchalign/test.flac", 985, 2_395, "this is a test of wake-up"),
    Phrase("batchalign/test.flac", 16_475, 17_235, "I don't know what to say"),
    Phrase("batchalign/test.flac", 13_085, 14_875, "press command slash for more info"),
    Phrase("speech/jfk.flac", 3_280, 4_440, "ask not"),
    Phrase("speech/jfk.flac", 5_400, 7_560, "what your country can do for you"),
    Phrase("speech/jfk.flac", 320, 2_140, "and so my fellow Americans"),
    Phrase("paired/michael.flac", 46_460, 48_360, "and here's a long pause"),
    Phrase("paired/michael.flac", 40_200, 41_600, "and I'm saying a bunch of"),
)
BEFORE = Phrase(
    "paired/michael.flac",
    1_000,
    4_580,
    "this is the acoustic corpus I'm talking pretty fast here there's nothing going on",
)
AFTER = Phrase("paired/michael.flac", 27_950, 30_600, "so this is the sick corpus uh I have a cold")


@dataclass(frozen=True)
class Repeated:
    """A recording in which a phrase returns.

    Attributes:
        path: The recording.
        phrase: What returns.
        copies: How often it is said.
        texts: All texts in order, each with its start and end in seconds.
    """

    path: Path
    phrase: Phrase
    copies: int
    texts: tuple[tuple[str, float, float], ...] = ()


def recordings(data: Path, folder: Path) -> Iterator[Repeated]:
    """Yield each phrase in each number of copies."""
    random = np.random.default_rng(0)
    for number, phrase in enumerate(PHRASES):
        for copies in COPIES:
            sound = np.zeros(0, np.float32)
            texts = []
            for at, part in enumerate([BEFORE, *[phrase] * copies, AFTER]):
                pause_s = random.uniform(0.15, 0.4) if 1 < at <= copies else 0.6
                sound = np.concatenate([sound, np.zeros(round(pause_s * SAMPLE_RATE_HZ), np.float32)])
                start_s = len(sound) / SAMPLE_RATE_HZ
                sound = np.concatenate([sound, cut(data, part)])
                texts.append((part.text, start_s, len(sound) / SAMPLE_RATE_HZ))
            path = folder / f"{number}-{copies}.wav"
            soundfile.write(path, sound + 1e-4 * random.standard_normal(len(sound)), SAMPLE_RATE_HZ)
            yield Repeated(path, phrase, copies, tuple(texts))


def cut(data: Path, phrase: Phrase) -> Samples:
    """Return the samples of a phrase as loud as others, faded in and out."""
    span = TimeSpan(max(0, phrase.start_ms - MARGIN_MS), phrase.end_ms + MARGIN_MS)
    samples = Recording.open(data / phrase.file).load(span)
    fade = np.minimum(1, np.arange(len(samples)) / (FADE_S * SAMPLE_RATE_HZ))
    return at_level(samples * fade * fade[::-1], -25)
