"""Words that nobody said: how much of a transcript is made up where there was no speech, or goes round in a loop.

Conventions:

- *Silence* is the time outside every reference utterance, each widened by :data:`MARGIN_MS` on both sides, up to the
  last end of either transcript. Only files in which every utterance of both sides has times are counted.
- A word *in silence* is a hypothesis word that stands for none of the reference and whose middle lies in silence.
- A *run* is an utterance of the hypothesis with at least :data:`RUN` words added one after the other.
- A *loop* is the same 1 to :data:`LONGEST` words at least :data:`ROUNDS` times in a row, where the reference has not
  said them: more than half of its words are added. (A child may well say something four times.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.scoring.align import NOTHING, Alignment
from lsa_whisper.scoring.counts import Additive, ratio
from lsa_whisper.scoring.words import FileWords

MARGIN_MS = 250
RUN = 5
LONGEST = 8
ROUNDS = 4

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hallucinations(Additive):
    """Counts of what was made up."""

    words_in_silence: int = 0
    silence_ms: int = 0
    utterances: int = 0
    """Of the hypothesis."""
    runs: int = 0
    """Of them, those with a run of added words."""
    loops: int = 0
    looped_words: int = 0
    """Of their words, those that were added: the first round may have been said."""

    @property
    def words_per_minute_of_silence(self) -> float | None:
        """Words added per minute without speech; ``None`` where there is no such time."""
        return ratio(60_000 * self.words_in_silence, self.silence_ms)

    @property
    def share_with_runs(self) -> float | None:
        """The share of the hypothesis' utterances that hold a run of added words."""
        return ratio(self.runs, self.utterances)


def hallucinations(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> Hallucinations:
    """Return what the hypothesis of one file made up."""
    added = np.zeros(len(hypothesis.words), dtype=np.bool_)
    inserted = alignment.pairs[(alignment.pairs[:, 0] == NOTHING) & ~alignment.excluded, 1]
    added[inserted] = True
    in_silence, silence_ms = _in_silence(reference, hypothesis, added)
    loops = [(a, b) for a, b in looped(hypothesis.words) if added[a:b].mean() > 0.5]
    return Hallucinations(
        words_in_silence=in_silence,
        silence_ms=silence_ms,
        utterances=len(np.unique(hypothesis.utterance_of)),
        runs=_runs(hypothesis, added),
        loops=len(loops),
        looped_words=sum(int(added[a:b].sum()) for a, b in loops),
    )


def _in_silence(reference: FileWords, hypothesis: FileWords, added: Bools) -> tuple[int, int]:
    """Return the words added in silence, and how long that silence is in milliseconds."""
    said, heard = ([u.span for u in side.utterances] for side in (reference, hypothesis))
    if None in said or None in heard or not (said or heard):
        return 0, 0
    spans = sorted((s.start_ms - MARGIN_MS, s.end_ms + MARGIN_MS) for s in said if s is not None)
    last = max(s.end_ms for s in (*said, *heard) if s is not None)
    silent, at = 0, 0
    starts, ends = [], []
    for start, end in spans:
        if start > at:
            silent += start - at
            starts.append(at)
            ends.append(start)
        at = max(at, end)
    if last > at:
        silent += last - at
        starts.append(at)
        ends.append(last + 1)
    middles = hypothesis.times[added].mean(axis=1) if added.any() else np.zeros(0)
    place = np.searchsorted(starts, middles, side="right") - 1
    inside = (place >= 0) & (middles < np.array([*ends, 0])[place])
    return int(inside.sum()), silent


def _runs(hypothesis: FileWords, added: Bools) -> int:
    """Return how many utterances hold a run of added words."""
    if not added.any():
        return 0
    stretch = np.cumsum(~added)  # the same number all along a stretch of added words
    key = np.stack((hypothesis.utterance_of[added], stretch[added]))
    stretches, lengths = np.unique(key, axis=1, return_counts=True)
    return len(np.unique(stretches[0, lengths >= RUN]))


def looped(words: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the stretches (half-open) in which the same words come again and again.

    >>> looped(tuple("xababababy"))
    [(1, 9)]
    """
    if len(words) < ROUNDS:
        return []
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(word, len(numbers)) for word in words])
    covered = np.zeros(len(words), dtype=np.bool_)
    for length in range(1, min(LONGEST, len(words) // ROUNDS) + 1):
        same = np.concatenate(([0], (codes[length:] == codes[:-length]).astype(np.int8), [0]))
        edges = np.flatnonzero(np.diff(same))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if end - start >= length * (ROUNDS - 1):
                covered[start : end + length] = True
    edges = np.flatnonzero(np.diff(np.concatenate(([0], covered.astype(np.int8), [0]))))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
