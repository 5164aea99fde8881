"""Retraces found from words alone, and set in the text of main tiers."""

import itertools
import json

import pycrfsuite
import pytest

from lsa_whisper import chat
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.retraces import add_retraces, mark_retraces
from lsa_whisper.retraces.corpus_tagger import CorpusTagger
from lsa_whisper.retraces.features import features
from lsa_whisper.retraces.linear_chain import LinearChain, read_model, weights_of
from lsa_whisper.retraces.retrace import find_retraces
from lsa_whisper.retraces.tagger import Tagger, tagger_for
from lsa_whisper.retraces.training import AnnotatedUtterance, corpus_weights, train
from lsa_whisper.retraces.words import SpokenWord, marked_words, spoken_words


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("the the dog .", "the [/] the dog ."),
        ("I want &-um I want it .", "<I want> [/] &-um I want it ."),
        ("in in in &-um in the house .", "in [/] in [/] in [/] &-um in the house ."),
        ("he he he he he he he he he ran .", f"{'he [/] ' * 8}he ran ."),
        ("no no no I I I I I I I I go .", f"no no no {'I [/] ' * 7}I go ."),
        ("it it's a dog .", "it [//] it's a dog ."),
        ("he went she went home .", "<he went> [//] she went home ."),
        ("the dog ran home .", "the dog ran home ."),
        ("I want the &+sto story .", "I want the &+sto story ."),
        ("it got better and better and better .", "it got better and better and better ."),
        ("it went on and on and on and on .", "it went on and on and on and on ."),
        ("I &-um like it .", "I &-um like it ."),
        ("she &-um wanted it .", "she &-um wanted it ."),
        ("I &-um I like it .", "I [/] &-um I like it ."),
        ("we &-um they saw it .", "we [//] &-um they saw it ."),
        ("he she wants a big boat .", "he [//] she wants a big boat ."),
        ("I I'm going home .", "I [//] I'm going home ."),
        ("well it it's good .", "well it [//] it's good ."),
        ("rabbit rabbit sat down .", "rabbit [/] rabbit sat down ."),
        ("the box that I that she gave me is red .", "the box <that I> [//] that she gave me is red ."),
        ("and then then the boy got a a hat .", "and then [/] then the boy got a [/] a hat ."),
        ("why does it why did it stop ?", "<why does it> [//] why did it stop ?"),
        ("the horse was go wanted a long swim .", "the horse <was go> [//] wanted a long swim ."),
        ("they bought they have bought a boat .", "<they bought> [//] they have bought a boat ."),
        ("I you know went home .", "I you know went home ."),
        ("he you know he went home .", "he [/] you know he went home ."),
        ("he I mean she went home .", "he [//] I mean she went home ."),
        ("I was I mean I am here .", "<I was> [//] I mean I am here ."),
        ("my from my role I see it .", "my [//] from my role I see it ."),
        ("it went in the on the table .", "it went <in the> [//] on the table ."),
        ("the dog , the cat and the hen ran .", "the dog , the cat and the hen ran ."),
        ("he was in the house in the garden .", "he was in the house in the garden ."),
        ("it is in my room in my bag .", "it is in my room in my bag ."),
        ("I &+wa I want it .", "I [/] &+wa I want it ."),
        ("we &+th they ran .", "we [//] &+th they ran ."),
        ("so you know you know I like it .", "so you know you know I like it ."),
        ("yeah yeah I know .", "yeah yeah I know ."),
        ("can I can I go ?", "<can I> [/] can I go ?"),
        ("can we &-um can we can we play ?", "<can we> [/] &-um <can we> [/] can we play ?"),
        ("can he go can she ?", "can he go can she ?"),
        ("it's fun to it's fun to to to play here .", "<it's fun to> [/] it's fun to [/] to [/] to play here ."),
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
    assert sure.confidence > 0.6 > doubtful.confidence > 0.3
    assert not mark_retraces("he went she went home .", threshold=0.7).marks


def test_another_language_has_no_model():
    assert tagger_for("deu") is None
    assert mark_retraces("ich ich will .", language="deu").text == "ich ich will ."


def test_times_reach_the_features():
    words = spoken_words("the the dog .")
    assert words is not None
    assert not any(name.startswith("gap") for name in features([words])[0][1])


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
    assert round(found[1].kinds["revision"]) == 1


def test_a_damaged_model_is_named(tmp_path):
    (tmp_path / "model.crf").write_bytes(b"not a model")
    with pytest.raises(LsaWhisperError, match=r"model\.crf: cannot load"):
        Tagger(tmp_path / "model.crf")


def test_many_utterances_at_once_are_read_as_each_alone():
    texts = ["I want &-um I want it .", "the &+sto story , the story ran .", "no .", "", "he went she went A A home ."]
    words = [spoken_words(text) for text in texts * 4]
    tagger = tagger_for("eng")
    for together, each in zip(tagger.all_probabilities(words), words, strict=True):
        alone = tagger.probabilities(each)
        assert [word.begins for word in together] == pytest.approx([word.begins for word in alone], abs=1e-9)
        assert [word.taken_back for word in together] == pytest.approx([word.taken_back for word in alone], abs=1e-9)


def test_without_words_there_is_nothing_to_mark():
    assert tagger_for("eng").all_probabilities([[], []]) == [[], []]
    assert [mark_retraces(text).text for text in ("", "no .", "xxx .", "&-um")] == ["", "no .", "xxx .", "&-um"]


def test_codes_that_a_model_left_out_are_added_and_its_own_stay():
    tagger = tagger_for("eng")
    assert add_retraces("so [//] and the the dog .", tagger) == "so [//] and the [/] the dog ."
    assert add_retraces("<the dog> [//] the cat ran .", tagger) == "<the dog> [//] the cat ran ."
    nested = "<I [/] I want> [//] I need I need a cat ."
    assert add_retraces(nested, tagger, 0.4) == "<I [/] I want> [//] <I need> [/] I need a cat ."


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a [//] a (.) a [//] a bear .", "a [/] a (.) a [/] a bear ."),
        ("<I want> [//] &-um I want it .", "<I want> [/] &-um I want it ."),
        ("<the dog> [//] the cat [//] cat ran .", "<the dog> [//] the cat [/] cat ran ."),
        ("≠loud [//] loud dog .", "≠loud [/] loud dog ."),
        ("dirty [//] the dirty frog .", "dirty [//] the dirty frog ."),
        ("well [//]", "well [//]"),
        ("the dirty [//] the dirty frog .", "<the dirty> [/] the dirty frog ."),
        ("there (.) is a [/-] is a frog .", "there (.) <is a> [/] is a frog ."),
        ("in <the dog> [///] in the dog .", "<in the dog> [/] in the dog ."),
        ("the frog [/] the frog .", "<the frog> [/] the frog ."),
        ("the <big dog> [//] big cat .", "the <big dog> [//] big cat ."),
        ("I [/] I [//] I see .", "I [/] I [/] I see ."),
        ("so [//] a dog [//] so a dog .", "so [//] a dog [//] so a dog ."),  # what is taken back stays so
        ("&+the [//] the dog .", "&+the [//] the dog ."),  # not the same: it was cut off
        ("<a [/] a dog> [//] a dog .", "<a [/] a dog> [//] a dog ."),
    ],
)
def test_a_code_between_the_same_words_is_a_repetition(written, read):
    assert add_retraces(written, tagger_for("eng"), threshold=1.1) == read


def learned_from(tiers):
    """Return the tagger of a corpus, by way of JSON as in a model's folder."""
    return CorpusTagger(json.loads(json.dumps(corpus_weights(tiers, "eng"))), "eng")


@pytest.fixture(scope="module")
def corpus_tagger():
    nouns = ["dog", "cat", "frog", "bird", "sheep", "boat", "cup", "book", "hat", "tree"]
    tiers = [f"the {one} [//] {two} ran home ." for one, two in itertools.pairwise(nouns)] * 3
    return learned_from([*tiers, *(f"a {noun} ran home ." for noun in nouns)])


def test_a_corpus_teaches_what_the_shipped_tagger_does_not_know(corpus_tagger):
    text = "the horse camel ran home ."
    assert add_retraces(text, tagger_for("eng")) == text
    assert add_retraces(text, corpus_tagger) == "the horse [//] camel ran home ."


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("my dog [//] my cat ran .", "<my dog> [//] my cat ran ."),
        ("so &-um my big (.) dog [//] my big cat ran .", "so &-um <my big (.) dog> [//] my big cat ran ."),
        ("my <big dog> [/-] my big cat ran .", "<my big dog> [/-] my big cat ran ."),
        ("<my dog> [//] my cat ran .", "<my dog> [//] my cat ran ."),
        ("my dog ran .", "my dog ran ."),
        ("so [/] so my dog [//] my cat ran .", "so [/] so <my dog> [//] my cat ran ."),
        ("my [/] my dog [//] my cat ran .", "my [/] <my dog> [//] my cat ran ."),
        ("I see my dog [//] cat .", "I see my dog [//] cat ."),  # no reason to take back more
    ],
)
def test_words_before_a_group_join_it_where_they_were_taken_back_too(written, read):
    nouns = "abcdefgh"
    tiers = [f"<my {one}> [//] my {two} ran ." for one, two in itertools.pairwise(nouns)]
    tiers += [f"so <my big {one}> [//] my big {two} ran ." for one, two in itertools.pairwise(nouns)]
    tiers += [f"I see my {one} [//] {two} ." for one, two in itertools.pairwise(nouns)]
    tagger = learned_from([*tiers * 3, *(f"my big {one} ran ." for one in nouns)])
    assert add_retraces(written, tagger) == read


def test_a_false_start_is_told_from_a_revision_where_the_corpus_does():
    nouns = "abcdefgh"
    tiers = [f"<my {one}> [//] my {two} ran ." for one, two in itertools.pairwise(nouns)]
    tiers += [f"<then the {one}> [/-] I want a {two} ." for one, two in itertools.pairwise(nouns)]
    tagger = learned_from([*tiers * 5, *(f"I want the {one} ." for one in nouns)])
    assert add_retraces("then the goat [//] I want a (.) feather .", tagger) == (
        "<then the goat> [/-] I want a (.) feather ."
    )
    assert add_retraces("then the goat I want a feather .", tagger) == "<then the goat> [/-] I want a feather ."
    assert add_retraces("my goat [/-] my dog ran .", tagger) == "<my goat> [//] my dog ran ."
    shipped = tagger_for("eng")  # knows no false starts: it leaves them as they are
    assert add_retraces("then the goat [/-] I want a feather .", shipped) == "then the goat [/-] I want a feather ."


def test_a_group_gets_all_its_words():
    weights = corpus_weights(
        [f"<my {one}> [//] my {two} ran ." for one, two in itertools.pairwise("abcdef")] * 9, "eng"
    )
    assert weights is not None
    text = "my goat [//] my dog ran ."
    assert add_retraces(text, CorpusTagger(weights, "eng")) == "<my goat> [//] my dog ran ."


def test_a_corpus_tagger_holds_no_words_of_the_corpus():
    weights = corpus_weights(["then Marlowe [//] Ysolde climbed home ."] * 30, "eng")
    assert weights is not None
    stored = json.dumps(weights).casefold()
    assert not any(word in stored for word in ("marlowe", "ysolde", "climbed", "home"))


def test_too_few_retraces_teach_nothing():
    assert corpus_weights(["the dog [//] cat ran ."] * 19, "eng") is None
    assert corpus_weights(["I [/] I ran ."] * 200, "eng") is None
    assert corpus_weights(["la vaca [//] oveja corre ."] * 99, "spa") is None
    assert corpus_weights(["la vaca [//] oveja corre ."] * 100, "spa") is not None


def test_plain_weights_give_the_probabilities_of_the_library(tmp_path):
    words = [marked_words(f"{start} the dog [//] cat ran .") for start in ("", "well", "&-um", "I see")] * 5
    train([AnnotatedUtterance(tuple(each), tuple(word.retrace for word in each)) for each in words], tmp_path / "crf")
    library = pycrfsuite.Tagger()
    library.open(str(tmp_path / "crf"))
    plain = LinearChain(weights_of(library))
    (probe,) = features([[SpokenWord(text) for text in ["the", "the", "dog", "cat", "ran"]]])
    library.set(probe)
    exact = read_model(tmp_path / "crf")
    for model, error in ((plain, 2e-3), (exact, 1e-12)):
        for row, at in zip(model.marginals(model.sums(probe), [len(probe)]), range(len(probe)), strict=True):
            assert row.tolist() == pytest.approx([library.marginal(label, at) for label in model.labels], abs=error)


@pytest.mark.parametrize(
    "weights",
    [
        {},
        [],
        {"labels": ["none"], "transitions": [[0]], "features": []},
        {"labels": ["none"], "transitions": [[0, 1]], "features": {}},
        {"labels": ["none"], "transitions": [[1e999]], "features": {}},
        {"labels": ["none"], "transitions": [[0]], "features": {"always": ["much"]}},
    ],
)
def test_weights_of_an_untrusted_file_are_checked(weights):
    with pytest.raises(ValueError, match=r"needed|convert"):
        CorpusTagger(weights, "eng")


def test_long_utterances_take_time_by_their_length():
    class Counted(list):
        looked_at = 0

        def __getitem__(self, at):
            Counted.looked_at += 1
            return super().__getitem__(at)

    find_retraces(Counted(spoken_words("b " * 800 + ".")), tagger_for("eng"))
    assert Counted.looked_at < 800 * 100  # by its square, it would be 320,000
