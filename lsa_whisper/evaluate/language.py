"""Language-sample measures of one speaker's utterances.

Conventions (all over *fluent* words: fillers, sounds and words taken back do not count, ``xxx`` neither):

- MLU in words: over utterances with at least one word and nothing unintelligible (as CLAN's MLU leaves them out).
- NTW, NDW: all and different words. ``ndw_100``: different words among the first 100, so that samples of different
  length can be compared. TTR = NDW / NTW.
- MATTR: the mean TTR of all windows of 50 words (Covington & McFall 2010).
- Maze words: the share of spoken words that are fillers, sounds or taken back (SALT's % maze words).
- Words per minute: over utterances with times only, the time being that of the utterances, not of the silences.
- Samples too short for a measure have none: ``None``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Utterance
from lsa_whisper.evaluate.counts import ratio
from lsa_whisper.evaluate.normalize import normalize
from lsa_whisper.evaluate.words import UNINTELLIGIBLE

FIXED_LENGTH = 100
WINDOW = 50
MEASURES = (
    "mlu_words",
    "total_words",
    "different_words",
    "ndw_100",
    "ttr",
    "mattr",
    "maze_share",
    "words_per_minute",
    "abandoned",
    "utterances",
)


@dataclass(frozen=True, slots=True)
class LanguageSample:
    """What a language sample says about its speaker. ``None`` = cannot be computed from this sample."""

    utterances: int
    total_words: int
    different_words: int
    abandoned: int
    mlu_words: float | None
    ndw_100: int | None
    ttr: float | None
    mattr: float | None
    maze_share: float | None
    words_per_minute: float | None


def measure(utterances: Sequence[Utterance]) -> LanguageSample:
    """Return the measures of ``utterances``.

    >>> from lsa_whisper import chat
    >>> sample = measure([chat.utterance("CHI", "&-um <I want> [/] I want it ."), chat.utterance("CHI", "xxx no .")])
    >>> sample.mlu_words, sample.total_words, round(sample.maze_share, 2)
    (3.0, 4, 0.43)
    """
    fluent = [_words(utterance.fluent()) for utterance in utterances]
    words = [word for said in fluent for word in said]
    spoken = sum(len(_words(utterance.verbatim())) for utterance in utterances)
    complete = [len(f) for f, u in zip(fluent, utterances, strict=True) if f and u.unusable() != "untranscribed"]
    timed = [(len(f), u.span.duration_ms) for f, u in zip(fluent, utterances, strict=True) if u.span is not None]
    return LanguageSample(
        utterances=len(utterances),
        total_words=len(words),
        different_words=len(set(words)),
        abandoned=sum(utterance.abandoned for utterance in utterances),
        mlu_words=ratio(sum(complete), len(complete)),
        ndw_100=len(set(words[:FIXED_LENGTH])) if len(words) >= FIXED_LENGTH else None,
        ttr=ratio(len(set(words)), len(words)),
        mattr=moving_ttr(words),
        maze_share=ratio(max(spoken - len(words), 0), spoken),
        words_per_minute=ratio(60_000 * sum(n for n, _ in timed), sum(ms for _, ms in timed if ms > 0)),
    )


def moving_ttr(words: Sequence[str], window: int = WINDOW) -> float | None:
    """Return the mean type-token ratio of all windows of ``window`` words; ``None`` for fewer words than that.

    >>> moving_ttr(["a", "b", "a", "a"], window=2)
    0.8333333333333334
    """
    if len(words) < window:
        return None
    counts: dict[str, int] = {}
    different = 0
    for position, word in enumerate(words):
        counts[word] = counts.get(word, 0) + 1
        if position >= window:
            left = words[position - window]
            counts[left] -= 1
            if not counts[left]:
                del counts[left]
        if position >= window - 1:
            different += len(counts)
    return different / (window * (len(words) - window + 1))


def by_speaker(utterances: Sequence[Utterance]) -> dict[str, list[Utterance]]:
    """Return the utterances of each speaker, speakers in order of appearance."""
    sorted_out: dict[str, list[Utterance]] = {}
    for utterance in utterances:
        sorted_out.setdefault(utterance.speaker, []).append(utterance)
    return sorted_out


def _words(words: Sequence[str]) -> list[str]:
    return [word for word in normalize(words, fillers="raw") if word not in UNINTELLIGIBLE]
