"""Windows of words that may be taken back, compared with what follows them, and the kinds of words in them."""

import pytest

from lsa_whisper.retraces.retrace import frames
from lsa_whisper.retraces.windows import all_features
from lsa_whisper.retraces.word_kinds import broad_kind, word_kind
from lsa_whisper.retraces.words import SpokenWord, spoken_words


def spoken(text):
    return spoken_words(f"{text} .")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the dog the dog ran", "window 0, 5, 2 of 2"),
        ("he has he really has it", "window 0, 5, 2 of 2"),
        ("he went she went home", "window 0, 3, 1 of 2"),
        ("a big a small boat", "window 0, 3, 1 of 2"),
    ],
)
def test_a_window_is_as_like_its_repair_as_its_best_alignment(text, expected):
    assert expected in all_features(spoken(text))[0]


def test_words_with_nothing_alike_behind_them_have_no_window():
    assert all("no window" in one for one in all_features(spoken("she ran home")))


def test_what_parts_two_words_is_seen():
    words = spoken("I &+wa &-um , I want it")
    assert "parted same 2: -~," in all_features(words)[0]


def test_every_word_has_features_of_both_files():
    words = spoken("I want I want it")
    found = all_features(words)
    assert len(found) == len(words)
    assert "always" in found[0] and "kind 0: subject" in found[0]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("run walk say", "verb"),
        ("ran walked carried stopped", "past"),
        ("running making stopping", "verb-ing"),
        ("runs carries goes", "verb-s"),
        ("nobody something people", "indefinite"),
        ("red lovely-ish helpful", "adjective"),
        ("tables houses", "plural"),
        ("dog glass bus", "noun"),
    ],
)
def test_kinds_of_words(words, kind):
    assert {word_kind(word) for word in words.split()} == {kind}


def test_finite_verbs_are_one_broad_kind():
    assert {broad_kind(word_kind(word)) for word in ("go", "went", "goes")} == {"verb"}
    assert broad_kind(word_kind("he's")) == broad_kind(word_kind("they're")) == "subject and verb"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("he went she went home", [(0, 1)]),
        ("so we will take I will take it", [(1, 3)]),
        ("he was go wanted a swim", [(1, 2)]),
        ("I like it like that", []),
        ("he went and she went home", []),
        ("I &+we she went home", []),
        ("he", []),
    ],
)
def test_what_the_grammar_shows(text, found):
    assert list(frames(spoken(text))) == found


def test_frames_need_three_words():
    assert not list(frames([SpokenWord("he"), SpokenWord("went")]))
