"""Long texts are aligned piece by piece, with the counts that the whole table has."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lsa_whisper.scoring import anchors
from lsa_whisper.scoring.align import align
from lsa_whisper.scoring.wer import plain_character_errors, plain_errors

WORDS = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "en", "oll")]


def misheard(said, rate, generator):
    heard = []
    for word in said:
        if generator.random() >= rate:
            heard.append(word)
        elif generator.random() < 0.7:
            heard += [generator.choice(WORDS)] * generator.choice((1, 1, 2))
    return heard


@pytest.fixture
def small_tables(monkeypatch):
    monkeypatch.setattr(anchors, "LARGEST", 2_000)
    monkeypatch.setattr(anchors, "_APART", 20)


@settings(max_examples=60, deadline=None)
@example(seed=986, rate=0.3, size=378)  # of eight words, in which runs agree by chance
@example(seed=986, rate=0.3, size=122)
@given(seed=st.integers(0, 10_000), rate=st.sampled_from((0.0, 0.1, 0.3, 0.6)), size=st.integers(1, 400))
def test_pieces_cost_what_the_whole_costs(seed, rate, size):
    generator = random.Random(seed)
    said = generator.choices(WORDS[: generator.choice((8, 96))], k=size)
    heard = misheard(said, rate, generator)
    flags = {"disfluent_reference": [generator.random() < 0.1 for _ in said]}
    whole = align(said, heard, **flags)
    characters = plain_character_errors(said, heard)
    kept = anchors.LARGEST, anchors._APART
    anchors.LARGEST, anchors._APART = 2_000, 20
    try:
        cut = align(said, heard, **flags)
        assert cut.errors.errors == whole.errors.errors == plain_errors(said, heard).errors
        assert plain_character_errors(said, heard).errors == characters.errors
    finally:
        anchors.LARGEST, anchors._APART = kept
    assert [r for r, _ in cut if r >= 0] == list(range(len(said)))
    assert [h for _, h in cut if h >= 0] == list(range(len(heard)))


def test_a_text_is_cut_and_its_pieces_are_the_text(small_tables):
    generator = random.Random(3)
    said = np.array([generator.randrange(500) for _ in range(3_000)])
    heard = np.delete(said, np.arange(0, 3_000, 37))
    found = anchors.pieces(said, heard)
    assert len(found) > 20
    for side, size in ((0, len(said)), (1, len(heard))):
        ends = [(piece[side].start, piece[side].stop) for piece in found]
        assert ends[0][0] == 0 and ends[-1][1] == size
        assert all(before[1] == after[0] for before, after in itertools.pairwise(ends))


def test_texts_of_ordinary_length_are_one_piece():
    words = np.arange(4_000)
    assert anchors.pieces(words, words) == [(slice(0, 4_000), slice(0, 4_000))]


def test_unrelated_texts_stay_whole(small_tables):
    assert anchors.pieces(np.arange(100), np.arange(100, 200)) == [(slice(0, 100), slice(0, 100))]


def test_fifty_thousand_words_with_one_in_ten_misheard():
    generator = random.Random(0)
    said = generator.choices(WORDS, k=50_000)
    aligned = align(said, misheard(said, 0.1, generator))
    assert 0.05 < aligned.errors.rate < 0.15
