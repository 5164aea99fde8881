"""Word errors of one file: verbatim, fluent, per speaker and per utterance.

Conventions:

- *Verbatim* compares every spoken word, fillers folded to ``um``, ``uh``, ``mm`` (or as spelled).
- *Fluent* compares the words without disfluencies. The hypothesis is compared twice: with its disfluencies removed,
  and as it is (*raw*).
- Unintelligible reference words (``xxx``) and the hypothesis words in their place are excluded, and counted; of the
  latter, no more than fit (:func:`lsa_whisper.scoring.words.excused_words`).
- An inserted word belongs to the speaker and utterance of an adjacent reference word: the one in the same hypothesis
  utterance, or the earlier one if both or neither are.
- jiwer counts where none of the rules of ``align`` applies that it does not have: tie-breaking towards disfluent words,
  wildcards for unintelligible speech, utterances that do not overlap in time.
"""

from __future__ import annotations

from collections.abc import Sequence

import jiwer
import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from lsa_whisper.scoring.align import UNALIGNED, Alignment, align
from lsa_whisper.scoring.anchors import DisjointUtterances, UtteranceTimes, word_pieces
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.words import FileWords


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
    # What is cheapest for words is not always cheapest for their characters. It never costs less, so that the limit
    # changes nothing but the time.
    cheapest = Levenshtein.distance(*whole, score_cutoff=total.errors) if parts else total.errors
    return total if total.errors == cheapest else _counted(*whole)


def _counted(reference: Sequence[str], hypothesis: Sequence[str]) -> WordErrors:
    # The words are normalized and split already, so the transforms leave them as they are.
    output = jiwer.process_words(
        [list(reference)], [list(hypothesis)], reference_transform=list, hypothesis_transform=list
    )
    return WordErrors(output.hits, output.substitutions, output.deletions, output.insertions)


def align_verbatim(reference: FileWords, hypothesis: FileWords, *, raw_fillers: bool = False) -> Alignment:
    """Return the alignment of all spoken words, disfluent words left unaligned first among equal costs."""
    return align(
        reference.raw_words if raw_fillers else reference.words,
        hypothesis.raw_words if raw_fillers else hypothesis.words,
        disfluent_reference=reference.disfluent,
        disfluent_hypothesis=hypothesis.disfluent,
        wildcard=reference.unintelligible,
        disjoint=_disjoint(reference, hypothesis),
        excused=reference.excused,
    )


def _disjoint(reference: FileWords, hypothesis: FileWords) -> DisjointUtterances | None:
    """Return which utterances do not overlap in time; ``None`` if either transcript has no times."""
    expected, actual = _times(reference), _times(hypothesis)
    if np.isnan(expected).all() or np.isnan(actual).all():
        return None
    return DisjointUtterances(UtteranceTimes(expected, actual), reference.utterance_of, hypothesis.utterance_of)


def _times(words: FileWords) -> NDArray[np.float64]:
    """Return the start and end of every utterance in milliseconds, shape (utterances, 2); nan where it has none."""
    spans = [utterance.span for utterance in words.utterances]
    times = [(np.nan, np.nan) if span is None else (span.start_ms, span.end_ms) for span in spans]
    return np.array(times, dtype=np.float64).reshape(-1, 2)


def fluent_errors(reference: FileWords, words: Sequence[str]) -> WordErrors:
    """Return the errors of ``words``, all or the fluent ones of the hypothesis, against the fluent reference."""
    if reference.fluent_unintelligible.any():
        return _align_fluent(reference, words).errors
    return plain_errors(reference.fluent, words)


def _align_fluent(reference: FileWords, words: Sequence[str]) -> Alignment:
    unclear, excused = reference.fluent_unintelligible, reference.fluent_excused
    return align(reference.fluent, words, wildcard=unclear, excused=excused)


def character_errors(alignment: Alignment, reference: Sequence[str], hypothesis: Sequence[str]) -> WordErrors:
    """Return the errors counted in characters, words joined by single spaces; excluded words do not count."""
    pairs = alignment.pairs[~alignment.excluded]
    expected = [reference[r] for r in pairs[:, 0] if r != UNALIGNED]
    return plain_character_errors(expected, [hypothesis[h] for h in pairs[:, 1] if h != UNALIGNED])


def fluent_characters(reference: FileWords, hypothesis: FileWords) -> WordErrors:
    """Return the errors of the hypothesis without its disfluencies against the fluent reference, counted in characters.

    Unintelligible words of the reference and the words in their place are excluded first.
    """
    if not reference.fluent_unintelligible.any():
        return plain_character_errors(reference.fluent, hypothesis.fluent)
    alignment = _align_fluent(reference, hypothesis.fluent)
    return character_errors(alignment, reference.fluent, hypothesis.fluent)


def utterance_of_columns(alignment: Alignment, reference: FileWords, hypothesis: FileWords) -> NDArray[np.int64]:
    """Return, per column of ``alignment``, the reference utterance it belongs to; -1 when there is none."""
    columns = len(alignment.pairs)
    in_reference = alignment.pairs[:, 0] != UNALIGNED
    if not in_reference.any():
        return np.full(columns, UNALIGNED, dtype=np.int64)
    own = np.flatnonzero(in_reference)
    place = np.searchsorted(own, np.arange(columns), side="right")
    before, after = own[np.maximum(place - 1, 0)], own[np.minimum(place, len(own) - 1)]
    with_next = _shares_utterance(alignment, hypothesis, after) & ~_shares_utterance(alignment, hypothesis, before)
    source = np.where(in_reference, np.arange(columns), np.where(with_next, after, before))
    return np.asarray(reference.utterance_of[alignment.pairs[source, 0]])


def _shares_utterance(alignment: Alignment, hypothesis: FileWords, other: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, per column, whether its hypothesis word and that of column ``other`` are of one utterance."""
    words = alignment.pairs[:, 1]
    if not len(hypothesis.words):
        return np.zeros(len(words), dtype=np.bool_)
    utterance = np.where(words == UNALIGNED, UNALIGNED, hypothesis.utterance_of[words])
    is_shared: NDArray[np.bool_] = (utterance != UNALIGNED) & (utterance == utterance[other])
    return is_shared
