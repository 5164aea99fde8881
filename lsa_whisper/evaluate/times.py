"""When each word was said, and which disfluencies stand at the same time.

Conventions:

- The times of words come from ``%wor`` where it has as many words as the utterance; elsewhere an utterance's time is
  shared out among its words by their letters. Words of an utterance without times have none.
- A *timed* agreement knows nothing of the words: two events of one class agree when they begin at most ``collar``
  milliseconds apart, each with one other at most. It shows whether a disfluency was heard where it was said, also
  where the words around it are wrong.
- A file whose hypothesis has words but no times says nothing about times: its events are *not scored*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.chat import Disfluency, Event, Utterance
from lsa_whisper.evaluate.counts import Detections

if TYPE_CHECKING:
    from lsa_whisper.evaluate.words import FileWords

Floats = NDArray[np.float64]

COLLAR_MS = 500
"""How far apart two events may begin: about one word, as shared-out times are no better."""


def word_times(
    utterances: Sequence[Utterance], utterance_of: NDArray[np.int64], spoken_of: NDArray[np.int64]
) -> Floats:
    """Return the start and end of each word in milliseconds, shape (words, 2); nan where it has none.

    Args:
        utterances: of one file.
        utterance_of: per word, the utterance, shape (words,).
        spoken_of: per word, which of the utterance's spoken words it belongs to, shape (words,).
    """
    times = np.full((len(utterance_of), 2), np.nan)
    if not len(utterance_of):
        return times
    begins = np.concatenate(([0], np.flatnonzero(np.diff(utterance_of)) + 1, [len(utterance_of)]))
    for start, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        spoken = _spoken_times(utterances[int(utterance_of[start])])
        if spoken is not None:
            times[start:end] = spoken[spoken_of[start:end]]
    return times


def _spoken_times(utterance: Utterance) -> Floats | None:
    """Return the times of an utterance's spoken words, shape (spoken words, 2)."""
    words, span = utterance.verbatim(), utterance.span
    timed = utterance.word_times
    if len(timed) == len(words):
        return np.array([(at.start_ms, at.end_ms) for _, at in timed], dtype=np.float64)
    if span is None:
        return None
    edges = np.concatenate(([0], np.cumsum([len(word) + 1 for word in words])))
    edges = span.start_ms + edges * (span.duration_ms / edges[-1])
    return np.stack((edges[:-1], edges[1:]), axis=1)


def onsets(words: FileWords, events: Iterable[Event]) -> list[float]:
    """Return when each event that has a time begins, in milliseconds, ascending."""
    found = []
    for event in events:
        if event.start < event.end:
            at = words.times[event.start, 0]
        else:  # a pause begins where the word before it ends; the first one of a file ends where the first word begins
            at = words.times[event.start - 1, 1] if event.start else words.times[:1, 0].sum()
        if not np.isnan(at):
            found.append(float(at))
    return sorted(found)


def agree(reference: Sequence[float], hypothesis: Sequence[float], collar_ms: float = COLLAR_MS) -> Detections:
    """Return how many of two ascending lists of times agree, each with one other at most.

    Taking the earliest that fits is best, for all collars are equally wide.

    >>> agree([1000, 5000], [1400, 4000, 5200])
    Detections(true_positives=2, false_positives=1, false_negatives=0, not_scored=0)
    """
    hits = used = 0
    for time in reference:
        while used < len(hypothesis) and hypothesis[used] < time - collar_ms:
            used += 1
        if used < len(hypothesis) and hypothesis[used] <= time + collar_ms:
            hits, used = hits + 1, used + 1
    return Detections(hits, len(hypothesis) - hits, len(reference) - hits)


def timed_detections(
    kind: Disfluency, reference: FileWords, hypothesis: FileWords, collar_ms: float = COLLAR_MS
) -> Detections:
    """Return the timed agreement of one class in one file."""
    said = [event for event in reference.events if event.kind is kind]
    expected = onsets(reference, said)
    untimed = len(said) - len(expected)
    if len(hypothesis.words) and np.isnan(hypothesis.times).all():
        return Detections(not_scored=len(said))
    found = onsets(hypothesis, (event for event in hypothesis.events if event.kind is kind))
    if np.isnan(reference.times).all():
        return Detections(not_scored=len(said))
    return agree(expected, found, collar_ms) + Detections(not_scored=untimed)
