import random

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from lsa_whisper.scoring import align as room
from lsa_whisper.scoring.align import UNALIGNED, align
from lsa_whisper.scoring.anchors import DisjointUtterances
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.wer import plain_errors

words = st.lists(st.sampled_from(["i", "want", "it", "um", "fr-", "the"]), max_size=14)
flags = st.lists(st.booleans(), min_size=14, max_size=14)


@given(words, words, flags, flags)
def test_cost_is_levenshteins_whatever_breaks_the_ties(reference, hypothesis, first, second):
    aligned = align(
        reference,
        hypothesis,
        disfluent_reference=first[: len(reference)],
        disfluent_hypothesis=second[: len(hypothesis)],
    )
    assert aligned.errors.errors == Levenshtein.distance(reference, hypothesis)
    assert [r for r, _ in aligned if r != UNALIGNED] == list(range(len(reference)))
    assert [h for _, h in aligned if h != UNALIGNED] == list(range(len(hypothesis)))


@given(words.filter(bool), words)
def test_rate_is_jiwers(reference, hypothesis):
    assert align(reference, hypothesis).errors.rate == pytest.approx(
        jiwer.wer(" ".join(reference), " ".join(hypothesis))
    )


@pytest.mark.slow
def test_rate_is_jiwers_on_ten_thousand_pairs():
    generator = random.Random(11)
    for _ in range(10_000):
        reference, hypothesis = (generator.choices("abcde", k=generator.randint(1, 12)) for _ in range(2))
        rate = align(reference, hypothesis).errors.rate
        assert rate == pytest.approx(jiwer.wer(" ".join(reference), " ".join(hypothesis)))


@given(words, words, flags)
def test_no_alignment_of_that_cost_deletes_more_disfluent_words(reference, hypothesis, disfluent):
    disfluent = disfluent[: len(reference)]
    aligned = align(reference, hypothesis, disfluent_reference=disfluent)
    deleted = sum(disfluent[r] for r, h in aligned if h == UNALIGNED)
    assert (aligned.errors.errors, -deleted) == _best(reference, hypothesis, disfluent)


def _best(reference, hypothesis, disfluent):
    """The least (edits, -disfluent deletions) by plain recursion over a table."""
    row = [(j, 0) for j in range(len(hypothesis) + 1)]
    for said, gives_way in zip(reference, disfluent, strict=True):
        above, row = row, [(row[0][0] + 1, row[0][1] - gives_way)]
        for j, heard in enumerate(hypothesis):
            row.append(
                min(
                    (above[j][0] + (said != heard), above[j][1]),
                    (above[j + 1][0] + 1, above[j + 1][1] - gives_way),
                    (row[j][0] + 1, row[j][1]),
                )
            )
    return row[-1]


@given(words, words, flags, flags)
def test_a_table_cut_in_halves_costs_the_same(reference, hypothesis, disfluent, unclear):
    choices = {"disfluent_reference": disfluent[: len(reference)], "wildcard": unclear[: len(reference)]}
    whole = align(reference, hypothesis, **choices)
    kept, room._CELLS = room._CELLS, 4
    try:
        cut = align(reference, hypothesis, **choices)
    finally:
        room._CELLS = kept
    assert _paid(cut, unclear) == _paid(whole, unclear)


def _paid(aligned, unclear):
    pairs = zip(aligned, aligned.equal, strict=True)
    return sum(not (equal or (r != UNALIGNED and unclear[r])) for (r, _), equal in pairs)


def test_the_retraced_word_is_deleted():
    aligned = align(["i", "i", "want"], ["i", "want"], disfluent_reference=[True, False, False])
    assert list(aligned) == [(0, UNALIGNED), (1, 0), (2, 1)]
    aligned = align(["i", "want"], ["i", "i", "want"], disfluent_hypothesis=[True, False, False])
    assert list(aligned) == [(UNALIGNED, 0), (0, 1), (1, 2)]
    aligned = align(["i", "want"], ["i", "i", "want"], disfluent_hypothesis=[False, True, False])
    assert list(aligned) == [(0, 0), (UNALIGNED, 1), (1, 2)]


def test_of_equal_alignments_words_at_the_same_time_are_paired():
    utterance_of = np.array([0, 1, 1])
    apart = DisjointUtterances(np.array([[True], [False]]), utterance_of, np.array([0]))
    assert list(align(["no", "no", "dog"], ["no"], disjoint=apart)) == [(0, UNALIGNED), (1, 0), (2, UNALIGNED)]
    nearer = DisjointUtterances(~apart.matrix, utterance_of, np.array([0]))
    assert list(align(["no", "no", "dog"], ["no"], disjoint=nearer)) == [(0, 0), (1, UNALIGNED), (2, UNALIGNED)]


@given(words, words, flags, st.integers(1, 4), st.integers(1, 4))
def test_splitting_the_table_does_not_change_the_pairing(reference, hypothesis, matrix, first, second):
    of_reference, of_hypothesis = (np.arange(len(w)) // n for w, n in ((reference, first), (hypothesis, second)))
    apart = DisjointUtterances(np.resize(matrix, (15, 15)), of_reference, of_hypothesis)
    whole = align(reference, hypothesis, disjoint=apart)
    kept, room._CELLS = room._CELLS, 4
    try:
        cut = align(reference, hypothesis, disjoint=apart)
    finally:
        room._CELLS = kept
    assert _pairs_said_apart(cut, apart) == _pairs_said_apart(whole, apart)


def _pairs_said_apart(aligned, apart):
    pairs = [(r, h) for r, h in aligned if UNALIGNED not in (r, h)]
    return sum(bool(apart.matrix[apart.reference[r], apart.hypothesis[h]]) for r, h in pairs)


def test_an_unintelligible_word_takes_none_that_stands_for_its_neighbour():
    aligned = align(["um", "xxx"], ["uh"], disfluent_reference=[True, False], wildcard=[False, True])
    assert list(aligned) == [(0, 0), (1, UNALIGNED)] and aligned.errors.substitutions == 1


def test_counts_alone_are_those_of_any_cheapest_alignment():
    assert plain_errors("abc", "xbcd") == WordErrors(hits=2, substitutions=1, deletions=0, insertions=1)
    assert plain_errors("abc", "") == WordErrors(deletions=3)
    assert plain_errors(["a", "b"], ["b"]) == WordErrors(hits=1, deletions=1)


def test_counts_of_some_columns_are_those_of_these_columns():
    unclear = [False, True, False, False, False, False]
    aligned = align(["a", "xxx", "b", "c", "b", "d"], ["a", "q", "b", "x", "b"], wildcard=unclear)
    assert list(aligned) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, UNALIGNED)]
    alone = [aligned.errors_where(np.arange(6) == column) for column in range(6)]
    assert alone[:2] == [WordErrors(hits=1), WordErrors(excluded_reference=1, excluded_hypothesis=1)]
    assert alone[3] == WordErrors(substitutions=1) and alone[5] == WordErrors(deletions=1)
    assert sum(alone, WordErrors()) == aligned.errors


def test_both_sides_list_their_counterparts():
    aligned = align(["a", "b", "c"], ["b", "c", "d"])
    assert aligned.to_hypothesis.tolist() == [UNALIGNED, 0, 1] and aligned.to_reference.tolist() == [1, 2, UNALIGNED]
    assert aligned.equal.tolist() == [False, True, True, False]


def test_unintelligible_words_and_words_in_their_place_are_excluded():
    aligned = align(["a", "xxx", "b"], ["a", "q", "r", "s", "b"], wildcard=[False, True, False])
    assert (aligned.errors.errors, aligned.errors.hits) == (0, 2)
    assert (aligned.errors.excluded_reference, aligned.errors.excluded_hypothesis) == (1, 3)
    taken = align(["a", "xxx", "b"], ["a", "b"], wildcard=[False, True, False])
    assert taken.errors.hits == 2 and taken.errors.excluded_hypothesis == 0, "xxx takes no word that is right elsewhere"
    elsewhere = align(["a", "xxx", "b"], ["a", "b", "c"], wildcard=[False, True, False])
    assert elsewhere.errors.insertions == 1, "an insertion that does not touch the xxx is still one"


def test_more_different_words_than_costs_are_kept_of_are_aligned_as_well():
    reference = [f"word{n}" for n in range(2500)]
    aligned = align(reference, [word for n, word in enumerate(reference) if n % 9])
    assert [r for r, h in aligned if h == UNALIGNED] == list(range(0, 2500, 9)) and aligned.errors.errors == 278
