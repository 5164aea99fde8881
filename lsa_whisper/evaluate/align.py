"""Which hypothesis word stands for which reference word, over a whole file.

Conventions:

- The number of errors is Levenshtein's (substitution = deletion = insertion = 1).
- Among alignments of the same cost, the one that deletes the most *disfluent* reference words wins, then the one that
  inserts the most disfluent hypothesis words: for ``i [/] i want`` against ``i want`` it is the taken-back ``i`` that
  is missing.
- An unintelligible reference word (a wildcard) costs nothing, whatever it meets. Hypothesis words inserted beside it
  are its words too: they are *excluded*, not errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.evaluate.counts import WordErrors

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

NOTHING = -1
_EDIT = 1 << 24  # one edit outweighs every tie-break of a file together (files stay far below 8 million words)
_CELLS = 1 << 26  # most alignment cells kept at once (64 MB); longer files are halved first
_DIAGONAL, _DELETE, _INSERT = 0, 1, 2


@dataclass(frozen=True)
class Alignment:
    """Pairs of word positions in reading order; :data:`NOTHING` stands where one side has no word.

    >>> aligned = align(["i", "i", "want"], ["i", "want"], disfluent_reference=[True, False, False])
    >>> list(aligned)
    [(0, -1), (1, 0), (2, 1)]
    >>> aligned.errors.deletions
    1
    """

    pairs: Ints
    """Shape (columns, 2): reference position, hypothesis position."""
    equal: Bools
    """Shape (columns,): both sides have the same word."""
    excluded: Bools
    """Shape (columns,): an unintelligible word, or a hypothesis word that stands for one."""
    to_hypothesis: Ints
    """Shape (reference words,): the hypothesis position, or :data:`NOTHING`."""
    to_reference: Ints
    """Shape (hypothesis words,): the reference position, or :data:`NOTHING`."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((int(r), int(h)) for r, h in self.pairs)

    @property
    def errors(self) -> WordErrors:
        """The counts of the whole alignment."""
        return self.errors_where(np.ones(len(self.pairs), dtype=np.bool_))

    def errors_where(self, columns: Bools) -> WordErrors:
        """Return the counts of the chosen ``columns`` (shape (columns,))."""
        missing, added = self.pairs[:, 1] == NOTHING, self.pairs[:, 0] == NOTHING
        scored, excluded = columns & ~self.excluded, columns & self.excluded
        both = scored & ~missing & ~added
        return WordErrors(
            hits=int((both & self.equal).sum()),
            substitutions=int((both & ~self.equal).sum()),
            deletions=int((scored & missing).sum()),
            insertions=int((scored & added).sum()),
            excluded_reference=int((excluded & ~added).sum()),
            excluded_hypothesis=int((excluded & ~missing).sum()),
        )


def align(
    reference: Sequence[str],
    hypothesis: Sequence[str],
    *,
    disfluent_reference: Sequence[bool] | Bools | None = None,
    disfluent_hypothesis: Sequence[bool] | Bools | None = None,
    wildcard: Sequence[bool] | Bools | None = None,
) -> Alignment:
    """Return the alignment of two word lists.

    Args:
        reference: words, already normalized.
        hypothesis: words, already normalized.
        disfluent_reference: per reference word, whether to prefer deleting it among equals.
        disfluent_hypothesis: per hypothesis word, whether to prefer inserting it among equals.
        wildcard: per reference word, whether it is unintelligible.
    """
    free = _flags(wildcard, len(reference))
    r, h = _numbered(reference, hypothesis)
    delete = np.where(free, 0, _EDIT - 2 * _flags(disfluent_reference, len(reference)).astype(np.int64))
    insert = _EDIT - _flags(disfluent_hypothesis, len(hypothesis)).astype(np.int64)
    moves = _moves(r, h, delete, insert, free)
    step_r, step_h = moves != _INSERT, moves != _DELETE
    pairs = np.full((len(moves), 2), NOTHING, dtype=np.int64)
    pairs[step_r, 0] = np.arange(len(r))
    pairs[step_h, 1] = np.arange(len(h))
    both = step_r & step_h
    equal = np.zeros(len(moves), dtype=np.bool_)
    equal[both] = r[pairs[both, 0]] == h[pairs[both, 1]]
    to_hypothesis, to_reference = np.full(len(r), NOTHING), np.full(len(h), NOTHING)
    to_hypothesis[pairs[both, 0]] = pairs[both, 1]
    to_reference[pairs[both, 1]] = pairs[both, 0]
    unclear = np.zeros(len(moves), dtype=np.bool_)
    unclear[step_r] = free
    return Alignment(pairs, equal, _spread(unclear, ~step_r), to_hypothesis, to_reference)


def _flags(values: Sequence[bool] | Bools | None, length: int) -> Bools:
    return np.zeros(length, dtype=np.bool_) if values is None else np.asarray(values, dtype=np.bool_)


def _numbered(*lists: Sequence[str]) -> list[Ints]:
    """Return every list with its words as numbers, the same word the same number in all."""
    numbers: dict[str, int] = {}
    return [np.array([numbers.setdefault(w, len(numbers)) for w in words], dtype=np.int64) for words in lists]


def _spread(unclear: Bools, inserted: Bools) -> Bools:
    """Return ``unclear`` grown over the inserted words that touch it on either side."""
    if not unclear.any():
        return unclear
    run = np.cumsum(~(unclear | inserted))  # constant along a run of unclear and inserted columns
    return (unclear | inserted) & np.isin(run, run[unclear])


def _row(above: Ints, same: Bools, delete: int, free: bool, along: Ints) -> tuple[Ints, Ints]:
    """Return the next row of the cost table, and its costs before insertions are considered."""
    row = above + delete
    step = np.where(same, 0, 0 if free else _EDIT)
    np.minimum(row[1:], above[:-1] + step, out=row[1:])
    return np.minimum.accumulate(row - along) + along, row


def _last_row(r: Ints, h: Ints, delete: Ints, insert: Ints, free: Bools) -> Ints:
    along = np.concatenate(([0], np.cumsum(insert)))
    row = along
    for i in range(len(r)):
        row, _ = _row(row, h == r[i], delete[i], free[i], along)
    return row


def _moves(r: Ints, h: Ints, delete: Ints, insert: Ints, free: Bools) -> NDArray[np.uint8]:
    """Return the moves of a cheapest path; a table too big to keep is cut at its middle row (Hirschberg 1975)."""
    if (len(r) + 1) * (len(h) + 1) <= _CELLS or len(r) < 2:
        return _traced(r, h, delete, insert, free)
    middle = len(r) // 2
    top, bottom = slice(None, middle), slice(middle, None)
    before = _last_row(r[top], h, delete[top], insert, free[top])
    after = _last_row(r[bottom][::-1], h[::-1], delete[bottom][::-1], insert[::-1], free[bottom][::-1])[::-1]
    cut = int(np.argmin(before + after))
    left = _moves(r[top], h[:cut], delete[top], insert[:cut], free[top])
    right = _moves(r[bottom], h[cut:], delete[bottom], insert[cut:], free[bottom])
    return np.concatenate((left, right))


def _traced(r: Ints, h: Ints, delete: Ints, insert: Ints, free: Bools) -> NDArray[np.uint8]:
    along = np.concatenate(([0], np.cumsum(insert)))
    table = np.empty((len(r) + 1, len(h) + 1), dtype=np.uint8)
    table[0] = _INSERT
    row = along
    for i in range(len(r)):
        above = row
        row, direct = _row(above, h == r[i], delete[i], free[i], along)
        table[i + 1] = np.where(row < direct, _INSERT, np.where(direct == above + delete[i], _DELETE, _DIAGONAL))
    path = []
    i, j = len(r), len(h)
    while i or j:
        move = int(table[i, j])
        path.append(move)
        i, j = i - (move != _INSERT), j - (move != _DELETE)
    return np.array(path[::-1], dtype=np.uint8)
