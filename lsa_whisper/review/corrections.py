"""What a person has corrected in a draft, and how many errors are probably left, with what uncertainty.

The model's confidences promise a number of wrong words: the sum of ``1 - confidence``. They know nothing of words that
the model left out, and they may be wrong for this recording. So the number is multiplied by a factor that is learned
from what the reviewer has corrected so far: errors are Poisson distributed with the promised number times the factor as
their mean, and the factor has a gamma distribution (``PRIOR`` errors found where ``PRIOR_PROMISED`` were promised).
What is left is therefore distributed as a negative binomial.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.decoding.confidences import ScoredUtterance
from lsa_whisper.review.word_confidence import WordConfidences
from lsa_whisper.timespan import TimeSpan

PRIOR = 4.0
"""How many errors the confidences alone count for, before any were found."""
PRIOR_PROMISED = 2.1
"""How many errors were promised for those: a model leaves words out, which its confidences do not count.

The truth was 1.0 to 4.7 times what whisper-base promised for the 13 of 14 recordings (ten clips of meetings, four of
other speech) of which it wrote a word, and in the range each time.
"""
_TAIL = 0.025
_USELESS = 10
"""An interval whose end is more than ten times its beginning says nothing."""


@dataclass(frozen=True)
class ErrorEstimate:
    """Expected number of wrong words, with the ends of a 95 % interval."""

    errors: float
    low: float
    high: float

    @property
    def rounded(self) -> list[int]:
        """The number and its interval in whole words; empty where the interval says nothing.

        >>> ErrorEstimate(12.4, 6.1, 18.9).rounded, ErrorEstimate(981.7, 17.7, 1945.7).rounded
        ([12, 6, 19], [])
        """
        useless = self.high > _USELESS * max(1.0, self.low)
        return [] if useless else [round(value) for value in (self.errors, self.low, self.high)]


def expected_errors(confidences: WordConfidences) -> float:
    """Return the expected number of wrong words.

    >>> expected_errors((0.5, None, 0.75))
    0.75
    """
    return sum(1 - value for value in confidences if value is not None)


def errors_left(unreviewed: Iterable[float], reviewed: Iterable[float], errors_found: int) -> ErrorEstimate:
    """Return the estimate for what is not reviewed.

    The expected errors of each utterance are from the draft; ``errors_found`` are the words that the reviewer changed,
    added or removed in the reviewed ones.

    >>> errors_left([4.2], [], 0), round(errors_left([2.0, 2.0], [7.9], 20).errors, 1)
    (ErrorEstimate(errors=8.0, low=1, high=20), 9.6)
    >>> errors_left([90.0], [], 290).low, errors_left([1e-20], [], 0).high
    (11185, 0)
    """
    promised = sum(unreviewed)
    shape, rate = PRIOR + errors_found, PRIOR_PROMISED + sum(reviewed)
    mean = promised * shape / rate
    if mean < _TAIL:  # so improbable is even one
        return ErrorEstimate(mean, 0, 0)
    from scipy.special import nbdtrik

    low, high = nbdtrik([_TAIL, 1 - _TAIL], shape, rate / (rate + promised))
    return ErrorEstimate(mean, math.ceil(low), math.ceil(high))


def word_changes(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many words differ: the edit distance of two word lists.

    >>> word_changes(["a", "b"], ["a", "c", "d"])
    2
    """
    from rapidfuzz.distance import Levenshtein

    return int(Levenshtein.distance(old, new))


WORDS = "words"
"""The name under which changed words are counted, beside the classes of disfluencies."""


class Corrections:
    """Counts of what differs from the draft, kept up to date with the edits; an undone edit is not counted.

    An utterance is compared with the draft at the same time of the recording. One that was moved, divided or joined has
    no such draft and is not counted.
    """

    def __init__(self, drafts: Mapping[TimeSpan | None, ScoredUtterance], utterances: Iterable[Utterance]):
        """Compare the transcript as it is with its draft."""
        self._drafts = drafts
        self._counts: Counter[str] = Counter()
        self.replace((), [block for block in utterances if block.span])

    def replace(self, removed: Sequence[Utterance], added: Sequence[Utterance]) -> None:
        """Count the utterances that an edit has put in, and no longer those that it has taken out."""
        for block in added:
            self._counts.update(self._differences(block))
        for block in removed:
            self._counts.subtract(self._differences(block))

    def as_dict(self) -> dict[str, int]:
        """Return the counts by class, the largest first."""
        return {kind: count for kind, count in self._counts.most_common() if count > 0}

    def _differences(self, block: Utterance) -> Counter[str]:
        draft = self._drafts.get(block.span) if block.span else None
        if draft is None or draft.text == block.text:
            return Counter()
        old, new = _classes(utterance(block.speaker, draft.text)), _classes(block)
        counts = (old - new) + (new - old)
        counts[WORDS] = word_changes(draft.words, block.reading.verbatim)
        return counts


def _classes(block: Utterance) -> Counter[str]:
    return Counter(event.kind.value for event in block.reading.events)
