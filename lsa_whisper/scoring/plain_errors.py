"""Plain word and character errors, by jiwer.

``align`` counts errors with rules that jiwer does not have: tie-breaking towards disfluent words, wildcards for
unintelligible speech, utterances that do not overlap in time. Where none of them applies, jiwer does the counting.
"""

from __future__ import annotations

from collections.abc import Sequence

import jiwer
from rapidfuzz.distance import Levenshtein

from lsa_whisper.scoring.anchors import word_pieces
from lsa_whisper.scoring.counts import WordErrors


def plain_errors(reference: Sequence[str], hypothesis: Sequence[str]) -> WordErrors:
    """Return the counts of a Levenshtein alignment of words; long lists are cut at anchors.

    >>> plain_errors(["the", "dog"], [])
    WordErrors(hits=0, substitutions=0, deletions=2, insertions=0, ...)
    """
    parts = (_counted(reference[r], hypothesis[h]) for r, h in word_pieces(reference, hypothesis))
    return sum(parts, WordErrors())


def plain_character_errors(reference: Sequence[str], hypothesis: Sequence[str]) -> WordErrors:
    """Return the counts of a Levenshtein alignment of the characters of two word lists, joined by single spaces.

    >>> plain_character_errors(["abc"], ["xbcd"])
    WordErrors(hits=2, substitutions=1, deletions=0, insertions=1, ...)
    """
    *parts, last = word_pieces(reference, hypothesis)
    total = _counted(" ".join(reference[last[0]]), " ".join(hypothesis[last[1]]))
    for r, h in parts:
        total += _counted(" ".join([*reference[r], ""]), " ".join([*hypothesis[h], ""]))
    whole = " ".join(reference), " ".join(hypothesis)
    # What is cheapest for words is not always cheapest for their characters.
    return _counted(*whole) if parts and total.errors != Levenshtein.distance(*whole) else total


def _counted(reference: Sequence[str], hypothesis: Sequence[str]) -> WordErrors:
    # The words are normalized and split already, so the transforms leave them as they are.
    found = jiwer.process_words(
        [list(reference)], [list(hypothesis)], reference_transform=list, hypothesis_transform=list
    )
    return WordErrors(found.hits, found.substitutions, found.deletions, found.insertions)
