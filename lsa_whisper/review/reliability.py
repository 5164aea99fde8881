"""Reliability of two transcribers, as papers report it: agreement with intervals, and Cohen's kappa by word.

Agreement is symmetric: of words, twice the matching words divided by the words of both; of a class of disfluencies,
twice the matching ones divided by those of both (the F1 of one as the reference of the other). Its 95 % interval is
Wilson's for the share of matching ones among all that either has, of which agreement is a function.

Kappa is computed over the words of both: each transcriber assigns a word the class of the disfluency that it belongs
to, or none, or did not write it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.words import FileWords

_NORMAL_95 = 1.96
_ABSENT = "not written"


@dataclass(frozen=True)
class RaterAgreement:
    """How much of what one or the other transcriber has is the same; ``None`` where neither has anything."""

    matching: int
    left: int
    right: int

    @property
    def share(self) -> float | None:
        """Twice the matching ones divided by those of both.

        >>> RaterAgreement(6, 8, 10).share, RaterAgreement(0, 0, 0).share
        (0.6666666666666666, None)
        """
        return 2 * self.matching / (self.left + self.right) if self.left + self.right else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the share.

        >>> [round(end, 2) for end in RaterAgreement(6, 8, 10).interval or ()]
        [0.4, 0.85]
        """
        either = self.left + self.right - self.matching
        if not either:
            return None
        share, z2 = self.matching / either, _NORMAL_95**2
        middle = (share + z2 / (2 * either)) / (1 + z2 / either)
        half = _NORMAL_95 / (1 + z2 / either) * math.sqrt(share * (1 - share) / either + z2 / (4 * either**2))
        low, high = max(0.0, middle - half), min(1.0, middle + half)
        return 2 * low / (1 + low), 2 * high / (1 + high)


def kappa_by_word(first: FileWords, second: FileWords, alignment: Alignment) -> float | None:
    """Return Cohen's kappa of the classes of all words; ``None`` where chance alone would agree."""
    left, right = _classes(first), _classes(second)
    partners = alignment.to_hypothesis.tolist()
    pairs = [(left[at], right[other] if other != UNALIGNED else _ABSENT) for at, other in enumerate(partners)]
    both = {other for other in partners if other != UNALIGNED}
    return kappa([*pairs, *((_ABSENT, each) for other, each in enumerate(right) if other not in both)])


def kappa(pairs: list[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of pairs of categories (Cohen 1960).

    >>> kappa([("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15)
    0.4
    >>> kappa([("a", "a")])
    """
    if not pairs:
        return None
    left, right = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    observed = sum(a == b for a, b in pairs) / len(pairs)
    chance = sum(count * right[name] for name, count in left.items()) / len(pairs) ** 2
    return round((observed - chance) / (1 - chance), 10) if chance < 1 else None


def _classes(words: FileWords) -> list[str]:
    found = [""] * len(words.words)
    for event in words.events:
        for at in range(event.start, min(event.end, len(found))):
            found[at] = found[at] or event.kind.value
    return found
