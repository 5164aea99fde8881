"""Features of a word from the windows around it: words that may be taken back, beside those that would repair them.

A window is compared as a whole with what follows it, and words may be put in or left out: *they bought – they have
bought*. What parts the two counts, a cut-off word, a filler or a comma, and so does how well the repair fits what
stands before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from lsa_whisper.retraces.context import WordColumns
from lsa_whisper.retraces.features import COPIES, LIKENESSES, MAX_WINDOW, Likenesses
from lsa_whisper.retraces.tables import ONLY_IF, Column, Numbers, Table, best_around, names, read_templates
from lsa_whisper.retraces.word_kinds import CONTENT_KINDS
from lsa_whisper.retraces.words import SpokenWord

_ALIKE = {"same stem": 0.6, "same beginning": 0.6, "related class": 0.6, "same class": 0.4, "": 0.0}
_OTHER_LIKENESS, _SAME_KIND = 0.3, 0.2
_WORTH = np.array(
    [1 + 1j if name in COPIES else _ALIKE.get(name, _OTHER_LIKENESS) for name in LIKENESSES] + [_SAME_KIND]
)
"""How much it counts that a word may stand for another, by their likeness, and whether it is a copy."""
_KIND = len(LIKENESSES)
"""Stands for words that are not alike but of one kind."""
_STEPS = 5
_RANKS = 2
_BEGINS = (*LIKENESSES, "kind")

_FIRST_COPIES = read_templates("""
    bridge {alike}: {broad before} {broad of copy}
    bridge {up to 4} {alike}: {kind}
    break {alike} {up to 3}: {broad before copy} {parted} {broad of copy}
    parted {alike} {distance}: {parted}
    left out {alike}: {broad after} > {broad after copy}{if 2}
    left out {alike}: {broad after} {broad behind} > {broad after copy}{if more}
""")
_WINDOWS = read_templates("""
    window {rank}, {score}
    window {rank}, {score}, {length} words
    window {rank}, {score}, {copies} of {length}
    window {rank}, {score}, {begins} {parted}
    window {rank}, {score}, {from first} from first, {to repair} to repair
    window {rank}, {score}, break {broad before repair} {parted} {broad of repair}
    window {rank}, {score}, bridge {broad before} {broad of repair}
    window {rank}, {score}, {kind}
    window {rank}, {broad of first} to {broad before repair}, {copies} of {length}
    window {rank}, {score}, first word {begins}, {length}{if first}
""")
_NO_WINDOW = read_templates("no window{if none}")


def all_features(words: Sequence[SpokenWord]) -> list[list[str]]:
    """Return the features that the shipped tagger sees of each of an utterance's ``words``.

    >>> they, *_ = all_features([SpokenWord(text) for text in "they bought they have bought".split()])
    >>> [name for name in they if name.endswith(" of 2")]
    ['window 0, 5, 2 of 2', 'window 0, subject to verb, 2 of 2']
    """
    return names(all_tables([words]), len(words))


def all_tables(utterances: Sequence[Sequence[SpokenWord]]) -> Iterator[Table]:
    """Yield the tables of all features that the shipped tagger sees of the words of ``utterances``."""
    words = WordColumns(utterances)
    like = Likenesses(words)
    yield from words.tables()
    yield words.kinds()
    yield from like.tables()
    yield _first_copies(like)
    yield from _windows(like)


def _first_copies(like: Likenesses) -> Table:
    """The next two words that are like each word, with what stands before them and what they would follow."""
    first, distance, nearer = like.pairs
    near = (distance <= MAX_WINDOW) & (nearer < 2)
    first, distance = first[near], distance[near]
    of_word, copy = like.words.of_word, first + distance
    columns = {
        "alike": like.column(distance, first),
        "distance": Column.count(distance),
        "up to 3": Column.count(np.minimum(distance, 3)),
        "up to 4": Column.count(np.minimum(distance, 4)),
        "kind": of_word("kind", first),
        "parted": of_word("parted", copy),
        "broad before": of_word("broad", first, -1),
        "broad after": of_word("broad", first, 1),
        "broad behind": of_word("broad", first, 2),
        "broad before copy": of_word("broad", copy, -1),
        "broad of copy": of_word("broad", copy),
        "broad after copy": of_word("broad", copy, 1),
        "if 2": Column(ONLY_IF, (distance == 2).astype(np.int64)),
        "if more": Column(ONLY_IF, (distance > 2).astype(np.int64)),
    }
    return Table(first, columns, _FIRST_COPIES)


def _windows(like: Likenesses) -> Iterator[Table]:
    """Yield the tables of the two windows around each word that are most like their repair, and of words without one.

    The first words of a window and of its repair are alike or of one kind, or a cut-off word stands between.
    """
    words, count = like.words, len(like.words.all_words)
    broad = words.of_word("broad", np.arange(count))
    first, repair, total = _candidates(like, broad)
    cut_off, length = words.cut_off[repair - 1], repair - first
    score = (total.real + (0.3 * cut_off + 0.1 * words.after_filler[repair])) / length
    order = np.lexsort((first, repair, -length, -score))
    ranks = list(best_around(first, repair, order, _RANKS))
    at, best = (np.concatenate(parts) for parts in zip(*ranks, strict=True))
    rank = np.repeat(np.arange(_RANKS), [len(places) for places, _ in ranks])
    first, repair, length, score, copies = (
        values[best] for values in (first, repair, length, score, total.imag.astype(np.int64))
    )
    alike = like.column(length, first).indices
    same_kind = (alike == 0) & (broad.indices[first] == broad.indices[repair])
    columns = {
        "rank": Column.count(rank),
        "score": Column.count(np.minimum(_STEPS, (score * _STEPS + 1e-9).astype(np.int64))),
        "length": Column.count(length),
        "copies": Column.count(copies),
        "begins": Column(_BEGINS, np.where(same_kind, _KIND, alike)),
        "parted": words.of_word("parted", repair),
        "from first": Column.count(at - first),
        "to repair": Column.count(repair - at),
        "kind": words.of_word("kind", at),
        "broad before": words.of_word("broad", first, -1),
        "broad of first": words.of_word("broad", first),
        "broad before repair": words.of_word("broad", repair, -1),
        "broad of repair": words.of_word("broad", repair),
        "if first": Column(ONLY_IF, (at == first).astype(np.int64)),
    }
    yield Table(at, columns, _WINDOWS)
    (alone,) = np.nonzero(np.bincount(ranks[0][0], minlength=count) == 0)
    yield Table(alone, {"if none": Column(ONLY_IF, np.ones(len(alone), dtype=np.int64))}, _NO_WINDOW)


def _candidates(like: Likenesses, broad: Column) -> tuple[Numbers, Numbers, npt.NDArray[np.complex128]]:
    """Return the first word of each window, that of its repair, and how alike the two are.

    The last is a complex number: how much the words count that may stand for each other in the best alignment, and how
    many of them are copies. NumPy orders such numbers by their real part, then by the other one.
    """
    same_kind = _same_kind(like, broad.indices)
    content = np.array([kind in CONTENT_KINDS for kind in broad.values])[broad.indices]
    codes = like.codes.copy()
    codes[:, : len(content)][same_kind[:, : len(content)] & content & (codes[:, : len(content)] == 0)] = _KIND
    cut_off = np.append(like.words.cut_off, np.zeros(len(like.codes), dtype=np.int64)) > 0
    candidates = []
    for length in range(1, MAX_WINDOW + 1):
        cut_before = np.roll(cut_off, 1 - length)
        (first,) = np.nonzero(like.inside[length] & (cut_before | same_kind[length] | (like.codes[length] > 0)))
        total = _best_alignment(codes, first, length)
        keep = (total.real > 0) | cut_before[first]
        candidates.append((first[keep], first[keep] + length, total[keep]))
    first, repair, totals = (np.concatenate(parts) for parts in zip(*candidates, strict=True))
    return first, repair, totals


def _same_kind(like: Likenesses, broad: Numbers) -> npt.NDArray[np.bool_]:
    same = np.zeros_like(like.inside)
    for distance in range(1, len(same)):
        size = max(len(broad) - distance, 0)
        same[distance, :size] = broad[:size] == broad[distance:]
    return same & like.inside


def _best_alignment(codes: npt.NDArray[np.int8], first: Numbers, length: int) -> npt.NDArray[np.complex128]:
    """Return what the best alignment of windows with the words behind them counts; these may be two words more."""
    total = np.zeros((length + 3, len(first)), dtype=np.complex128)
    for step in range(length):
        ahead = _WORTH[codes[length - step : 2 * length + 2 - step, first + step]]
        total[1:] = np.maximum(total[1:], total[:-1] + ahead)
        total = np.maximum.accumulate(total, axis=0)
    best: npt.NDArray[np.complex128] = total[-1]
    return best
