"""Which disfluencies of the reference the hypothesis has at the same time, whatever the words.

Conventions:

- Two events of one class agree when they begin at most ``collar`` milliseconds apart, each with one other at most. It
  shows whether a disfluency was heard where it was said, also where the words around it are wrong.
- A file in which either side has words but no times says nothing about times: its events are *not scored*.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

import numpy as np

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.words import FileWords

COLLAR_MS = 500
"""How far apart two events may begin: about one word, as shared-out times are no better."""


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
    reference: FileWords, hypothesis: FileWords, collar_ms: float = COLLAR_MS
) -> dict[Disfluency, Detections]:
    """Return the timed agreement of every class that one of the two has."""
    said, heard = _onsets(reference), _onsets(hypothesis)
    dumb = any(len(side.words) and np.isnan(side.times).all() for side in (reference, hypothesis))
    found = {}
    for kind in dict.fromkeys((*said, *heard)):
        times = said.get(kind, [])
        if dumb:
            found[kind] = Detections(not_scored=len(times))
            continue
        known = sorted(time for time in times if not isnan(time))
        others = sorted(time for time in heard.get(kind, []) if not isnan(time))
        found[kind] = agree(known, others, collar_ms) + Detections(not_scored=len(times) - len(known))
    return found


def _onsets(words: FileWords) -> dict[Disfluency, list[float]]:
    """Return when the events of each class begin, in milliseconds; nan where nothing says so."""
    found: dict[Disfluency, list[float]] = {}
    starts, ends = words.times[:, 0].tolist(), words.times[:, 1].tolist()
    for event in words.events:
        if event.start < event.end:
            at = starts[event.start]
        elif event.start:  # a pause begins where the word before it ends
            at = ends[event.start - 1]
        else:
            at = starts[0] if starts else nan
        found.setdefault(event.kind, []).append(at)
    return found
