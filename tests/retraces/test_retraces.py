"""Retraces found from words alone, and set in the text of main tiers."""

import pytest

from lsa_whisper import chat
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.retraces import mark_retraces
from lsa_whisper.retraces.features import features
from lsa_whisper.retraces.tagger import Tagger, tagger_for
from lsa_whisper.retraces.training import AnnotatedUtterance, train
from lsa_whisper.retraces.words import SpokenWord, spoken_words


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("the the dog .", "the [/] the dog ."),
        ("I want &-um I want it .", "<I want> [/] &-um I want it ."),
        ("in in in &-um in the house .", "in [/] in [/] in [/] &-um in the house ."),
        ("it it's a dog .", "it [//] it's a dog ."),
        ("he went she went home .", "<he went> [//] she went home ."),
        ("the dog ran home .", "the dog ran home ."),
        ("I want the &+sto story .", "I want the &+sto story ."),
    ],
)
def test_marks_of_typical_utterances(plain, marked):
    assert mark_retraces(plain).text == marked


def test_marks_of_a_transcriber_are_left_alone():
    for text in ("I [/] I want it it .", "<the dog> [= brown] the dog ran .", "well [//] no the the dog ."):
        assert mark_retraces(text).text == text


def test_only_retrace_codes_are_added():
    text = "and what [= whisper] what (.) did you , you know , did you do &=laughs \x1512_900\x15"
    marked = mark_retraces(text, threshold=0.05)
    assert marked.marks
    bare = marked.text
    for code in ("[/]", "[//]", "[///]"):
        bare = bare.replace(f" {code}", "")
    assert bare.replace("<", "").replace(">", "") == text


def test_words_at_the_end_are_not_retraced():
    assert mark_retraces("I want the the", threshold=0.01).text.endswith("the")


def test_confidence_falls_with_the_likeness():
    [sure] = mark_retraces("I want I want the ball .").marks
    [doubtful] = mark_retraces("he went she went home .").marks
    assert sure.confidence > 0.7 > doubtful.confidence > 0.42
    assert not mark_retraces("he went she went home .", threshold=0.7).marks


def test_another_language_has_no_model():
    assert tagger_for("deu") is None
    assert mark_retraces("ich ich will .", language="deu").text == "ich ich will ."


def test_times_reach_the_features():
    words = spoken_words("the the dog .")
    assert words is not None
    assert not any(name.startswith("gap") for name in features(words)[1])


def test_marked_tiers_are_read_as_retraces():
    tier = chat.utterance("PAR", mark_retraces("I want &-um I want the dog .").text)
    assert tier.fluent() == ["I", "want", "the", "dog"]


def test_training_learns_what_it_is_shown(tmp_path):
    again, dog, ran = SpokenWord("again"), SpokenWord("dog"), SpokenWord("ran")
    shown = [
        AnnotatedUtterance((again, dog, ran), ("begin revision", "none", "none")),
        AnnotatedUtterance((dog, again, ran), ("none", "begin revision", "none")),
    ] * 10
    train(shown, tmp_path / "model.crf")
    found = Tagger(tmp_path / "model.crf").probabilities([dog, again, ran])
    assert [round(word.taken_back) for word in found] == [0, 1, 0]
    assert found[1].kinds["revision"] > found[1].kinds["repeat"]


def test_a_damaged_model_is_named(tmp_path):
    (tmp_path / "model.crf").write_bytes(b"not a model")
    with pytest.raises(LsaWhisperError, match=r"model\.crf: cannot load"):
        Tagger(tmp_path / "model.crf")
