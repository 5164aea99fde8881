"""Counts that add: results are combined only with ``+``, so that rates are never averaged by mistake.

A rate is a property of the counts, and a rate that is undefined (nothing to divide by) is ``None``, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, TypeVar


class _Adds(Protocol):
    def __add__(self, other: Any, /) -> Any: ...


Count = TypeVar("Count", bound=_Adds)


def ratio(numerator: float, denominator: float) -> float | None:
    """Return ``numerator / denominator``, or ``None`` when there is nothing to divide by.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, None)
    """
    return numerator / denominator if denominator else None


def match_in_order(ranges: Iterable[tuple[float, float]], places: Sequence[float]) -> list[tuple[int, int]]:
    """Return the largest one-to-one matching of ranges with places inside them, as indices into both.

    All of them ascend, the lower and the upper ends of the ranges too, so taking the first fit is optimal.

    >>> match_in_order([(0, 2), (1, 3)], [1, 2, 9])
    [(0, 0), (1, 1)]
    """
    pairs, used = [], 0
    for number, (low, high) in enumerate(ranges):
        while used < len(places) and places[used] < low:
            used += 1
        if used < len(places) and places[used] <= high:
            pairs.append((number, used))
            used += 1
    return pairs


class Additive:
    """Field-wise ``+`` for frozen dataclasses of counts; anything else is refused."""

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})


class ByLabel(dict[str, Count]):
    """Counts of one kind by a label; ``+`` adds label by label, and a label that one side lacks stays as it is.

    >>> ByLabel(a=1, b=2) + ByLabel(b=3, c=4)
    {'a': 1, 'b': 5, 'c': 4}
    """

    def __add__(self, other: ByLabel[Count]) -> ByLabel[Count]:
        return ByLabel({**self, **{label: self[label] + n if label in self else n for label, n in other.items()}})


@dataclass(frozen=True, slots=True)
class WordErrors(Additive):
    """How the words (or characters) of a hypothesis differ from a reference.

    ``excluded_reference`` counts unintelligible reference words (``xxx``), ``excluded_hypothesis`` the hypothesis words
    in their place; neither is in the other counts.

    >>> errors = WordErrors(hits=8, substitutions=1, deletions=1, insertions=2) + WordErrors()
    >>> errors.errors, errors.reference_words, errors.rate
    (4, 10, 0.4)
    >>> WordErrors(insertions=3).rate is None
    True
    """

    hits: int = 0
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0
    excluded_reference: int = 0
    excluded_hypothesis: int = 0

    @property
    def errors(self) -> int:
        """Substitutions, deletions and insertions together."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def reference_words(self) -> int:
        """The number of scored reference words."""
        return self.hits + self.substitutions + self.deletions

    @property
    def rate(self) -> float | None:
        """Errors per reference word (above 1 when much is inserted); ``None`` without reference words."""
        return ratio(self.errors, self.reference_words)


@dataclass(frozen=True, slots=True)
class Detections(Additive):
    """Counts of detected events: true positives, false positives and false negatives.

    ``not_scored`` counts reference events of a class that the system does not support.

    >>> found = Detections(true_positives=3, false_positives=1, false_negatives=2)
    >>> found.precision, found.recall, round(found.f1, 3)
    (0.75, 0.6, 0.667)
    >>> Detections(not_scored=4).f1 is None
    True
    """

    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0
    not_scored: int = 0

    @property
    def reference_events(self) -> int:
        """The number of reference events, scored or not."""
        return self.true_positives + self.false_negatives + self.not_scored

    @property
    def hypothesis_events(self) -> int:
        """The number of hypothesis events."""
        return self.true_positives + self.false_positives

    @property
    def precision(self) -> float | None:
        """The share of the hypothesis' events that are right; ``None`` when it has none."""
        return ratio(self.true_positives, self.hypothesis_events)

    @property
    def recall(self) -> float | None:
        """The share of the reference's scored events that were found; ``None`` when it has none."""
        return ratio(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; 0 when none is right, ``None`` when there is nothing to score."""
        return ratio(*self.f1_fraction)

    @property
    def f1_fraction(self) -> tuple[int, int]:
        """F1 as one fraction: 2 TP / (2 TP + FP + FN)."""
        right = 2 * self.true_positives
        return right, right + self.false_positives + self.false_negatives
