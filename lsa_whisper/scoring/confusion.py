"""The disfluency confusion matrix: what the hypothesis has where the reference has a disfluency, and vice versa.

Conventions:

- For an event of the reference: the class of the hypothesis event that shares most aligned words with it (the same
  class first); else :data:`PLAIN_WORDS` if there are words without a mark, else :data:`NO_WORDS`.
- A hypothesis event that matches no reference event is counted in the row of what the reference has there:
  :data:`PLAIN_WORDS` or :data:`NO_WORDS`.
- Pauses lie between words and match only pauses.
- Events match more easily here than they count as *found* (see ``disfluency``): a repetition with one copy missing is
  in the cell of repetitions and yet not found. The matrix shows confusions between classes, not detection quality.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lsa_whisper.chat import Disfluency, Event
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.words import FileWords, events_at

PLAIN_WORDS = "plain words"
NO_WORDS = "nothing"

Confusion = Counter[tuple[str, str]]
"""Counts by (reference, hypothesis): each a class name, :data:`PLAIN_WORDS` or :data:`NO_WORDS`."""


def confusion(reference: FileWords, hypothesis: FileWords, alignment: Alignment, pauses: Detections) -> Confusion:
    """Return the matrix of one file; ``pauses`` are its detections of pauses."""
    matrix: Confusion = Counter()
    events = [event for event in hypothesis.events if event.start < event.end]
    at = events_at(events)
    matched: set[int] = set()
    for event in reference.events:
        if event.start == event.end:
            continue
        words = [int(h) for h in alignment.to_hypothesis[event.start : event.end] if h != UNALIGNED]
        best = _best(event.kind, words, at, events)
        if best is None:
            matrix[event.kind.value, PLAIN_WORDS if words else NO_WORDS] += 1
        else:
            matched.update(n for h in words for n in at.get(h, ()) if events[n].kind is events[best].kind)
            matrix[event.kind.value, events[best].kind.value] += 1
    unclear = np.isin(np.arange(len(hypothesis.words)), alignment.pairs[alignment.excluded, 1])
    for number, event in enumerate(events):
        if number not in matched and not unclear[event.start : event.end].all():
            aligned = (alignment.to_reference[event.start : event.end] != UNALIGNED).any()
            matrix[PLAIN_WORDS if aligned else NO_WORDS, event.kind.value] += 1
    pause = Disfluency.PAUSE.value
    matrix[pause, pause] += pauses.true_positives
    matrix[pause, NO_WORDS] += pauses.false_negatives
    matrix[NO_WORDS, pause] += pauses.false_positives
    return +matrix


def _best(kind: Disfluency, words: list[int], at: dict[int, list[int]], events: Sequence[Event]) -> int | None:
    """Return the event that covers most of ``words``, one of ``kind`` before all others."""
    overlap = Counter(number for word in words for number in at.get(word, ()))
    return max(overlap, key=lambda n: (events[n].kind is kind, overlap[n], -n), default=None)
