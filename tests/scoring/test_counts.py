from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsa_whisper.scoring.counts import Detections, WordErrors

number = st.integers(0, 1000)
errors = st.builds(WordErrors, number, number, number, number, number, number)
found = st.builds(Detections, number, number, number, number)


@given(errors, errors, errors)
def test_word_errors_add_in_any_order(a, b, c):
    assert a + b == b + a and (a + b) + c == a + (b + c) and a + WordErrors() == a
    assert (a + b).errors == a.errors + b.errors


@given(found, found)
def test_detections_add_in_any_order(a, b):
    assert a + b == b + a and a + Detections() == a
    for rate in ((a + b).precision, (a + b).recall, (a + b).f1):
        assert rate is None or 0 <= rate <= 1


def test_only_counts_of_one_kind_add():
    for other in (0.5, 1, Detections()):
        with pytest.raises(TypeError):
            WordErrors(1) + other
    with pytest.raises(TypeError):
        sum([WordErrors(1).rate or 0.0], WordErrors())
    with pytest.raises(FrozenInstanceError):
        WordErrors().hits = 3


def test_undefined_is_none_and_not_zero():
    assert WordErrors(insertions=4).rate is None
    assert Detections().f1 is None and Detections(not_scored=3).recall is None
    assert Detections(false_positives=2).recall is None and Detections(false_positives=2).precision == 0
    assert Detections(false_negatives=2).precision is None and Detections(false_negatives=2).f1 == 0
