"""Inserted words (hallucinations): words transcribed in silence, long runs of insertions, repetition loops.

Conventions:

- *Silence* is the time outside every reference utterance, each widened by :data:`MARGIN_MS` on both sides, up to the
  last end of either transcript. Only files in which every utterance of both sides has times are counted.
- A word *in silence* is an inserted word whose midpoint lies in silence.
- A *run* is an utterance of the hypothesis with at least :data:`RUN` consecutive inserted words.
- A *loop* is the same 1 to :data:`MAX_LENGTH` words at least :data:`ROUNDS` times in a row, of which more than half are
  insertions. (A child may well say something four times.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.anchors import numbered
from lsa_whisper.scoring.counts import Additive, ratio
from lsa_whisper.scoring.timing import word_times
from lsa_whisper.scoring.words import FileWords

MARGIN_MS = 250
RUN = 5
MAX_LENGTH = 8
ROUNDS = 4

_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hallucinations(Additive):
    """Counts of inserted words by circumstance."""

    words_in_silence: int = 0
    words_outside: int = 0
    """Of them, those before the first utterance of the reference, or after its last one."""
    silence_ms: int = 0
    utterances: int = 0
    """Utterances of the hypothesis."""
    runs: int = 0
    """Of them, those with a run of inserted words."""
    loops: int = 0
    words_in_loops: int = 0
    """The inserted words in loops; the first round may be correct."""

    @property
    def words_per_minute_of_silence(self) -> float | None:
        """Inserted words per minute of silence; ``None`` if there is no silence."""
        return ratio(60_000 * self.words_in_silence, self.silence_ms)

    @property
    def share_with_runs(self) -> float | None:
        """The share of the hypothesis' utterances that have a run of inserted words."""
        return ratio(self.runs, self.utterances)


def hallucinations(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> Hallucinations:
    """Return the inserted words of one file by circumstance."""
    is_inserted = np.zeros(len(hypothesis.words), dtype=np.bool_)
    positions = alignment.pairs[(alignment.pairs[:, 0] == UNALIGNED) & ~alignment.excluded, 1]
    is_inserted[positions] = True
    in_silence, outside, silence_ms = _in_silence(reference, hypothesis, is_inserted)
    loops = [(a, b) for a, b in find_word_loops(hypothesis.words) if is_inserted[a:b].mean() > 0.5]
    return Hallucinations(
        words_in_silence=in_silence,
        words_outside=outside,
        silence_ms=silence_ms,
        utterances=len(np.unique(hypothesis.utterance_of)),
        runs=_runs(hypothesis, is_inserted),
        loops=len(loops),
        words_in_loops=sum(int(is_inserted[a:b].sum()) for a, b in loops),
    )


def _in_silence(reference: FileWords, hypothesis: FileWords, inserted: _Bools) -> tuple[int, int, int]:
    """Return the words inserted in silence, those of them outside the reference, and the milliseconds of silence."""
    expected, actual = ([u.span for u in words.utterances] for words in (reference, hypothesis))
    if None in expected or None in actual or not (expected or actual):
        return 0, 0, 0
    spans = sorted((s.start_ms - MARGIN_MS, s.end_ms + MARGIN_MS) for s in expected if s is not None)
    last = max(s.end_ms for s in (*expected, *actual) if s is not None)
    starts = np.maximum.accumulate([0, *(end for _, end in spans)])
    ends = np.array([*(start for start, _ in spans), last])
    silent = starts < ends
    silence_ms = int((ends - starts)[silent].sum())
    final = starts[-1]
    ends[-1] += 1  # a word may end last
    starts, ends = starts[silent], ends[silent]
    middles = word_times(hypothesis)[inserted].mean(axis=1) if inserted.any() else np.zeros(0)
    place = np.searchsorted(starts, middles, side="right") - 1
    inside = (place >= 0) & (middles < np.append(ends, 0)[place])
    outside = inside & ((middles < spans[0][0]) | (middles >= final)) if spans else inside[:0]
    return int(inside.sum()), int(outside.sum()), silence_ms


def _runs(hypothesis: FileWords, inserted: _Bools) -> int:
    """Return the number of utterances with a run of inserted words."""
    if not inserted.any():
        return 0
    stretch = np.cumsum(~inserted)  # the same number all along a stretch of insertions
    key = np.stack((hypothesis.utterance_of[inserted], stretch[inserted]))
    stretches, lengths = np.unique(key, axis=1, return_counts=True)
    return len(np.unique(stretches[0, lengths >= RUN]))


def find_word_loops(words: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return the half-open ranges in which the same words repeat.

    >>> find_word_loops(tuple("xababababy"))
    [(1, 9)]
    """
    if len(words) < ROUNDS:
        return []
    (codes,) = numbered(words)
    covered = np.zeros(len(words), dtype=np.bool_)
    for length in range(1, min(MAX_LENGTH, len(words) // ROUNDS) + 1):
        for start, end in _stretches(codes[length:] == codes[:-length]):
            if end - start >= length * (ROUNDS - 1):
                covered[start : end + length] = True
    return _stretches(covered)


def _stretches(flags: _Bools) -> list[tuple[int, int]]:
    """Return the half-open ranges in which all ``flags`` are true."""
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
