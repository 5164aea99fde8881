"""Word errors of one file: verbatim, fluent, per speaker and per utterance.

Conventions:

- *Verbatim* compares every spoken word, fillers folded to ``um``, ``uh``, ``mm`` (or as spelled).
- *Fluent* compares the words that were meant: the hypothesis with its disfluencies removed by us, and, beside it, the
  raw hypothesis, as if all its words had been meant.
- Unintelligible reference words (``xxx``) and the hypothesis words in their place are excluded, and counted.
- An inserted word belongs to the speaker and utterance of a reference word beside it: the one that shares its
  hypothesis utterance, the earlier one if both or neither do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.scoring.align import NOTHING, Alignment, Apart, align, plain_errors
from lsa_whisper.scoring.counts import ByLabel, WordErrors
from lsa_whisper.scoring.words import FileWords


def align_verbatim(reference: FileWords, hypothesis: FileWords, *, raw_fillers: bool = False) -> Alignment:
    """Return the alignment of all spoken words, disfluent words giving way first."""
    return align(
        reference.raw_words if raw_fillers else reference.words,
        hypothesis.raw_words if raw_fillers else hypothesis.words,
        disfluent_reference=reference.disfluent,
        disfluent_hypothesis=hypothesis.disfluent,
        wildcard=reference.unintelligible,
        apart=_apart(reference, hypothesis),
    )


def _apart(reference: FileWords, hypothesis: FileWords) -> Apart | None:
    """Return which utterances share no moment; ``None`` where either side has no times."""
    said, heard = _times(reference), _times(hypothesis)
    if np.isnan(said).all() or np.isnan(heard).all():
        return None
    starts, ends = said[:, None, 0], said[:, None, 1]
    matrix = (starts >= heard[None, :, 1]) | (heard[None, :, 0] >= ends)  # never true of nan
    return Apart(matrix, reference.utterance_of, hypothesis.utterance_of)


def _times(words: FileWords) -> NDArray[np.float64]:
    """Return the start and end of every utterance in milliseconds, shape (utterances, 2); nan where it has none."""
    spans = [utterance.span for utterance in words.utterances]
    times = [(np.nan, np.nan) if span is None else (span.start_ms, span.end_ms) for span in spans]
    return np.array(times, dtype=np.float64).reshape(-1, 2)


@dataclass(frozen=True)
class FluentErrors:
    """Errors against the words that were meant."""

    cleaned: WordErrors
    """The hypothesis after our removal of its disfluencies."""
    raw: WordErrors
    """The hypothesis as it is."""


def fluent_errors(reference: FileWords, hypothesis: FileWords) -> FluentErrors:
    """Return the errors against the fluent reference, with and without removing the hypothesis' disfluencies."""
    cleaned, raw = (_errors(reference, words) for words in (hypothesis.fluent, hypothesis.words))
    return FluentErrors(cleaned, raw)


def _errors(reference: FileWords, words: Sequence[str]) -> WordErrors:
    if reference.fluent_unintelligible.any():
        return align(reference.fluent, words, wildcard=reference.fluent_unintelligible).errors
    return plain_errors(reference.fluent, words)


def character_errors(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> WordErrors:
    """Return the verbatim errors counted in characters, words joined by single spaces; excluded words are left out."""
    return _characters(alignment, reference.words, hypothesis.words)


def _characters(alignment: Alignment, reference: Sequence[str], hypothesis: Sequence[str]) -> WordErrors:
    kept = alignment.pairs[~alignment.excluded]
    said = " ".join(reference[r] for r in kept[:, 0] if r != NOTHING)
    heard = " ".join(hypothesis[h] for h in kept[:, 1] if h != NOTHING)
    return plain_errors(said, heard)


def fluent_characters(reference: FileWords, hypothesis: FileWords) -> WordErrors:
    """Return the errors of the cleaned hypothesis against the words that were meant, counted in characters.

    Where the reference has unintelligible words, they and the words in their place are left out first.
    """
    if not reference.fluent_unintelligible.any():
        return plain_errors(" ".join(reference.fluent), " ".join(hypothesis.fluent))
    alignment = align(reference.fluent, hypothesis.fluent, wildcard=reference.fluent_unintelligible)
    return _characters(alignment, reference.fluent, hypothesis.fluent)


def utterance_of_columns(alignment: Alignment, reference: FileWords, hypothesis: FileWords) -> NDArray[np.int64]:
    """Return, per column of ``alignment``, the reference utterance it belongs to; -1 when there is none."""
    columns = len(alignment.pairs)
    in_reference = alignment.pairs[:, 0] != NOTHING
    if not in_reference.any():
        return np.full(columns, NOTHING, dtype=np.int64)
    own = np.flatnonzero(in_reference)
    place = np.searchsorted(own, np.arange(columns), side="right")
    before, after = own[np.maximum(place - 1, 0)], own[np.minimum(place, len(own) - 1)]
    with_next = _shares_utterance(alignment, hypothesis, after) & ~_shares_utterance(alignment, hypothesis, before)
    chosen = np.where(in_reference, np.arange(columns), np.where(with_next, after, before))
    return np.asarray(reference.utterance_of[alignment.pairs[chosen, 0]])


def _shares_utterance(alignment: Alignment, hypothesis: FileWords, other: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, per column, whether its hypothesis word and that of column ``other`` are of one utterance."""
    heard = alignment.pairs[:, 1]
    if not len(hypothesis.words):
        return np.zeros(len(heard), dtype=np.bool_)
    utterance = np.where(heard == NOTHING, NOTHING, hypothesis.utterance_of[heard])
    shared: NDArray[np.bool_] = (utterance != NOTHING) & (utterance == utterance[other])
    return shared


def errors_by_speaker(alignment: Alignment, reference: FileWords, utterances: NDArray[np.int64]) -> ByLabel[WordErrors]:
    """Return the verbatim errors per reference speaker; ``utterances`` is :func:`utterance_of_columns`."""
    codes = np.array([utterance.speaker for utterance in reference.utterances])
    if not len(codes):
        return ByLabel()
    speaker = np.where(utterances == NOTHING, "", codes[utterances])
    return ByLabel((code, alignment.errors_where(speaker == code)) for code in dict.fromkeys(codes.tolist()))
