"""What the hypothesis has where the reference has a disfluency, and the other way round.

Conventions:

- For an event of the reference: the class of the hypothesis event that shares most aligned words with it (the same
  class first); else :data:`PLAIN` when words stand there without a mark, else :data:`NOTHING_THERE`.
- A hypothesis event that no reference event met is counted in the row of what the reference has there:
  :data:`PLAIN` or :data:`NOTHING_THERE`.
- Pauses lie between words and meet only pauses.
- Events meet more easily here than they are *found* (see ``disfluency``): a repetition with one copy missing is in the
  cell of repetitions and yet not found. The matrix shows what is taken for what, not how well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lsa_whisper.chat import Disfluency, Event
from lsa_whisper.scoring.align import NOTHING, Alignment
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.words import FileWords

PLAIN = "plain words"
NOTHING_THERE = "nothing"

Confusion = Counter[tuple[str, str]]
"""How often, by (what the reference has, what the hypothesis has): a class' name or one of the two above."""


def confusion(reference: FileWords, hypothesis: FileWords, alignment: Alignment, pauses: Detections) -> Confusion:
    """Return the matrix of one file; ``pauses`` are its detections of pauses."""
    counted: Confusion = Counter()
    heard = [event for event in hypothesis.events if event.start < event.end]
    at = _events_at(heard)
    met: set[int] = set()
    for event in reference.events:
        if event.start == event.end:
            continue
        words = [int(h) for h in alignment.to_hypothesis[event.start : event.end] if h != NOTHING]
        best = _best(event.kind, words, at, heard)
        if best is None:
            counted[event.kind.value, PLAIN if words else NOTHING_THERE] += 1
        else:
            met.update(n for h in words for n in at.get(h, ()) if heard[n].kind is heard[best].kind)
            counted[event.kind.value, heard[best].kind.value] += 1
    unclear = np.isin(np.arange(len(hypothesis.words)), alignment.pairs[alignment.excluded, 1])
    for number, event in enumerate(heard):
        if number not in met and not unclear[event.start : event.end].all():
            said = (alignment.to_reference[event.start : event.end] != NOTHING).any()
            counted[PLAIN if said else NOTHING_THERE, event.kind.value] += 1
    pause = Disfluency.PAUSE.value
    counted[pause, pause] += pauses.true_positives
    counted[pause, NOTHING_THERE] += pauses.false_negatives
    counted[NOTHING_THERE, pause] += pauses.false_positives
    return +counted


def _events_at(events: Sequence[Event]) -> dict[int, list[int]]:
    at: dict[int, list[int]] = {}
    for number, event in enumerate(events):
        for position in range(event.start, event.end):
            at.setdefault(position, []).append(number)
    return at


def _best(kind: Disfluency, words: list[int], at: dict[int, list[int]], events: Sequence[Event]) -> int | None:
    """Return the event that covers most of ``words``, one of ``kind`` before all others."""
    shared = Counter(number for word in words for number in at.get(word, ()))
    return max(shared, key=lambda n: (events[n].kind is kind, shared[n], -n), default=None)
