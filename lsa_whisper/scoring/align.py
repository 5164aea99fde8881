"""Word alignment of a hypothesis with its reference, over a whole file.

This alignment is our own because jiwer and similar libraries return any one of the cheapest alignments, and have no
wildcards; ``plain_errors`` counts by jiwer wherever that makes no difference.

Conventions:

- The number of errors is Levenshtein's (substitution = deletion = insertion = 1). Long texts are cut at anchors first.
- Among alignments of the same cost, the one that deletes the most *disfluent* reference words wins: for
  ``i [/] i want`` against ``i want`` the retraced ``i`` is deleted. Then the one that pairs the fewest words of
  utterances that do not overlap in time and inserts the most disfluent hypothesis words.
- An unintelligible reference word (a wildcard) costs nothing, whatever it is aligned with. Hypothesis words inserted
  next to it belong to it, up to a limit: they are *excluded*, not errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from lsa_whisper.scoring.anchors import Bools, DisjointUtterances, Ints, numbered, pieces
from lsa_whisper.scoring.counts import WordErrors

UNALIGNED = -1
# Costs are whole numbers in which one edit outweighs all first tie-breaks of a file together, and one of these all
# second ones; so they hold for files of up to half a million words.
_SECOND = 1
_FIRST = 1 << 21
_EDIT = 1 << 42
_NEVER = 1 << 62
_CELLS = 1 << 26  # most alignment cells kept at once (64 MB); longer files are halved first
_DIAGONAL, _DELETE, _INSERT = 0, 1, 2


@dataclass(frozen=True)
class Alignment:
    """Pairs of word positions in reading order; :data:`UNALIGNED` if one side has no word.

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
    """Shape (reference words,): the hypothesis position, or :data:`UNALIGNED`."""
    to_reference: Ints
    """Shape (hypothesis words,): the reference position, or :data:`UNALIGNED`."""

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((int(r), int(h)) for r, h in self.pairs)

    @property
    def errors(self) -> WordErrors:
        """The counts of the whole alignment."""
        return self.errors_where(np.ones(len(self.pairs), dtype=np.bool_))

    def errors_where(self, columns: Bools | Ints) -> WordErrors:
        """Return the counts of the chosen ``columns``: a flag for each (shape (columns,)), or their numbers."""
        pairs, equal, excluded = self.pairs[columns], self.equal[columns], self.excluded[columns]
        missing, added = pairs[:, 1] == UNALIGNED, pairs[:, 0] == UNALIGNED
        both = ~(excluded | missing | added)
        return WordErrors(
            hits=int((both & equal).sum()),
            substitutions=int((both & ~equal).sum()),
            deletions=int((missing & ~excluded).sum()),
            insertions=int((added & ~excluded).sum()),
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
    disjoint: DisjointUtterances | None = None,
    excused: Sequence[int] | None = None,
) -> Alignment:
    """Return the alignment of two word lists.

    Args:
        reference: Words, already normalized.
        hypothesis: Words, already normalized.
        disfluent_reference: Per reference word, whether to prefer its deletion among equal costs.
        disfluent_hypothesis: Per hypothesis word, whether to prefer its insertion among equal costs.
        wildcard: Per reference word, whether it is unintelligible.
        disjoint: Utterances whose words are not paired if there is another alignment of equal cost.
        excused: Per unintelligible word, how many hypothesis words may stand for it; any number if left out.
    """
    free = _flags(wildcard, len(reference))
    r, h = numbered(reference, hypothesis)
    delete = np.where(free, 0, _EDIT - _FIRST * _flags(disfluent_reference, len(reference)).astype(np.int64))
    insert = _EDIT - _SECOND * _flags(disfluent_hypothesis, len(hypothesis)).astype(np.int64)
    problem = _Problem(r, h, delete, insert, free, disjoint)
    moves = np.concatenate([_moves(problem.part(*piece)) for piece in pieces(r, h)])
    step_r, step_h = moves != _INSERT, moves != _DELETE
    pairs = np.full((len(moves), 2), UNALIGNED, dtype=np.int64)
    pairs[step_r, 0] = np.arange(len(r))
    pairs[step_h, 1] = np.arange(len(h))
    both = step_r & step_h
    equal = np.zeros(len(moves), dtype=np.bool_)
    equal[both] = r[pairs[both, 0]] == h[pairs[both, 1]]
    to_hypothesis, to_reference = np.full(len(r), UNALIGNED), np.full(len(h), UNALIGNED)
    to_hypothesis[pairs[both, 0]] = pairs[both, 1]
    to_reference[pairs[both, 1]] = pairs[both, 0]
    unclear = np.zeros(len(moves), dtype=np.bool_)
    unclear[step_r] = free
    excluded = _spread(unclear, ~step_r)
    if excused is not None and unclear.any():
        _limit(excluded, unclear, pairs[:, 1] != UNALIGNED, excused)
    return Alignment(pairs, equal, excluded, to_hypothesis, to_reference)


def _flags(values: Sequence[bool] | Bools | None, length: int) -> Bools:
    return np.zeros(length, dtype=np.bool_) if values is None else np.asarray(values, dtype=np.bool_)


def _spread(unclear: Bools, inserted: Bools) -> Bools:
    """Return ``unclear`` grown over the inserted words that touch it on either side."""
    if not unclear.any():
        return unclear
    run = np.cumsum(~(unclear | inserted))  # constant along a run of unclear and inserted columns
    return (unclear | inserted) & np.isin(run, run[unclear])


def _limit(excluded: Bools, unclear: Bools, spoken: Bools, excused: Sequence[int]) -> None:
    """Take from ``excluded`` the columns of inserted words that are more than the unclear words beside them excuse."""
    allowances = iter(excused)
    for run in np.split(np.arange(len(excluded)), np.flatnonzero(np.diff(excluded)) + 1):
        if not excluded[run[0]]:
            continue
        allowed = sum(next(allowances) for _ in range(int(unclear[run].sum()))) - int((unclear & spoken)[run].sum())
        inserted = run[~unclear[run]]
        # Words that stand close to the unclear word are excused first.
        near = np.abs(inserted[:, None] - run[unclear[run]][None]).min(axis=1)
        excluded[inserted[np.argsort(near, kind="stable")[max(0, allowed) :]]] = False


@dataclass(frozen=True)
class _Problem:
    """Two numbered word lists and what it costs to delete, insert and pair their words."""

    r: Ints
    h: Ints
    delete: Ints
    insert: Ints
    free: Bools
    disjoint: DisjointUtterances | None

    def part(self, r: slice, h: slice) -> _Problem:
        """Return the problem of a stretch of both lists; slices of step -1 reverse it."""
        disjoint = self.disjoint and DisjointUtterances(
            self.disjoint.matrix, self.disjoint.reference[r], self.disjoint.hypothesis[h]
        )
        return _Problem(self.r[r], self.h[h], self.delete[r], self.insert[h], self.free[r], disjoint)

    def pairings(self) -> Iterator[Ints]:
        """Yield, per reference word, what pairing it with each hypothesis word costs more than inserting that.

        Equal words have equal rows, so as many rows as fit in 32 MB are cached.
        """
        cache: dict[tuple[int, bool], Ints] = {}
        most = (1 << 22) // max(len(self.h), 1) + 1
        for key in zip(self.r.tolist(), self.free.tolist(), strict=True):
            if key not in cache:
                if len(cache) >= most:
                    cache.clear()
                # An unintelligible word pays for a word: it must not take one that is right elsewhere.
                cache[key] = (self.h != key[0]) * (2 * _FIRST if key[1] else _EDIT) - self.insert
            yield cache[key]

    def distances(self) -> Iterator[Ints]:
        """Yield, per reference word, the added cost of pairing it with each hypothesis word of a disjoint utterance.

        Words of one utterance have the same row, so it is computed once per utterance.
        """
        if self.disjoint is None:
            yield from repeat(np.zeros(len(self.h), dtype=np.int64), len(self.r))
            return
        for utterance, words in groupby(self.disjoint.reference.tolist()):
            yield from repeat(self.disjoint.matrix[utterance][self.disjoint.hypothesis] * _SECOND, len(list(words)))

    def band(self) -> tuple[int, int]:
        """Return how far a cheapest path may deviate below and above the diagonal (Ukkonen 1985).

        It deletes and inserts no more words than the edit distance, unintelligible words aside.
        """
        rows, columns = len(self.r), len(self.h)
        most = Levenshtein.distance(self.r.tolist(), self.h.tolist()) + int(self.free.sum())
        return min((most + rows - columns) // 2, rows), min((most + columns - rows) // 2, columns)


def _rows(problem: _Problem, below: int, above: int) -> Iterator[tuple[slice, Ints, Ints, Ints]]:
    """Yield the cost table row by row, within a band about the diagonal.

    Costs are given less those of inserting all hypothesis words before, so that inserting costs nothing more and the
    cheapest way along a row is a running minimum. Each time: the band's columns, the whole row (:data:`_NEVER` outside
    the band), the costs in the band before insertions are considered, and those of deleting the row's word.
    """
    row = np.zeros(len(problem.h) + 1, dtype=np.int64)
    row[above + 1 :] = _NEVER
    for i, (paired_with, distance) in enumerate(zip(problem.pairings(), problem.distances(), strict=True)):
        first, last = max(0, i + 1 - below), min(len(problem.h), i + 1 + above)
        band, paired = slice(first, last + 1), slice(max(first - 1, 0), last)
        deleted = row[band] + problem.delete[i]
        direct = deleted.copy()
        tail = direct[1:] if first == 0 else direct
        np.minimum(tail, row[paired] + paired_with[paired] + distance[paired], out=tail)
        row[paired.start] = _NEVER
        np.minimum.accumulate(direct, out=row[band])
        yield band, row, direct, deleted


def _last_row(problem: _Problem) -> Ints:
    """Return the last row of the whole table, as :func:`_rows` gives it, of a problem with reference words."""
    *_, last = (row for _, row, _, _ in _rows(problem, len(problem.r), len(problem.h)))
    return last


def _moves(problem: _Problem) -> NDArray[np.uint8]:
    """Return the moves of a cheapest path; a table too big to keep is cut at its middle row (Hirschberg 1975)."""
    below, above = problem.band()
    rows = len(problem.r)
    if (rows + 1) * (below + above + 1) <= _CELLS or rows < 2:
        return _traced(problem, below, above)
    middle, everything, back = rows // 2, slice(None), slice(None, None, -1)
    before = _last_row(problem.part(slice(None, middle), everything))
    after = _last_row(problem.part(slice(middle, None), everything).part(back, back))[::-1]
    cut = int(np.argmin(before + after))  # what _rows leaves out, inserting every word, is the same for every cut
    left = _moves(problem.part(slice(None, middle), slice(None, cut)))
    return np.concatenate((left, _moves(problem.part(slice(middle, None), slice(cut, None)))))


def _traced(problem: _Problem, below: int, above: int) -> NDArray[np.uint8]:
    """Return the moves of a cheapest path, keeping for every cell of the band how it was reached."""
    i, j = len(problem.r), len(problem.h)
    inserted = np.ones((i + 1, below + above + 1), dtype=np.bool_)
    removed = np.zeros_like(inserted)
    for n, (band, row, direct, deleted) in enumerate(_rows(problem, below, above), 1):
        cells = slice(band.start - n + below, band.stop - n + below)
        np.less(row[band], direct, out=inserted[n, cells])
        np.equal(direct, deleted, out=removed[n, cells])
    path = []
    while i or j:
        cell = i, j - i + below
        move = _INSERT if inserted[cell] else _DELETE if removed[cell] else _DIAGONAL
        path.append(move)
        i, j = i - (move != _INSERT), j - (move != _DELETE)
    return np.array(path[::-1], dtype=np.uint8)
