import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsa_whisper.scoring.normalize import normalize


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("Don’t", ["don't"]),
        ("'cause", ["cause"]),
        ("dogs'", ["dogs"]),
        ("fr-", ["fr-"]),
        ("fr", ["fr"]),
        ("want—", ["want"]),
        ("merry-go-round", ["merry", "go", "round"]),
        ("b-b-ball", ["b-", "b-", "ball"]),
        ("no-no", ["no", "no"]),
        ("b-b-", ["b-", "b-"]),
        ("and/or", ["and", "or"]),
        ("...", []),
        ("-", []),
        ("", []),
        ("हिन्दी", ["हिन्दी"]),
        ("café", ["café"]),
    ],
)
def test_words(written, compared):
    assert normalize([written]) == compared


@pytest.mark.parametrize(
    ("folded", "spellings"),
    {
        "um": "um Um, umm uhm erm ehm",
        "uh": "uh uhh er err",
        "mm": "mm mmm hm hmm",
        "mhm": "mhm mm-hm mm-hmm",
        "uhhuh": "uh-huh uhhuh",
    }.items(),
)
def test_fillers_fold_and_answers_are_no_fillers(folded, spellings):
    assert {*normalize(spellings.split())} == {folded}


def test_no_word_of_the_language_is_taken_for_a_filler():
    ordinary = ["her", "hum", "ham", "eh", "em", "a", "I", "me", "am", "hem", "mom", "error", "m", "h", "r"]
    assert not {"um", "uh", "mm"} & set(normalize(ordinary))


def test_raw_keeps_the_spelling_and_the_number_of_words():
    said = ["Uhm", "er", "hmm", "um-", "mm-hm"]
    assert normalize(said, fillers="raw") == ["uhm", "er", "hmm", "um-", "mhm"]
    assert len(normalize(said)) == len(normalize(said, fillers="raw"))


@given(st.lists(st.text()))
@example(["0´𠀀", "狗mmhm"])
def test_normalizing_twice_changes_nothing(written):
    once = normalize(written)
    assert normalize(once) == once
    assert len(normalize(written, fillers="raw")) == len(once)
