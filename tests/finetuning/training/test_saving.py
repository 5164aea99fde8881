"""A tagger of retraces is learned from the labels of the training data."""

from __future__ import annotations

import itertools

from lsa_whisper import labels
from lsa_whisper.finetuning.training.saving import learn_retraces
from lsa_whisper.labels import Labels
from lsa_whisper.manifest import Segment
from lsa_whisper.retraces.corpus_tagger import CorpusTagger

NOUNS = ("dog", "cat", "frog", "bird", "sheep", "boat", "cup", "book", "hat", "tree", "cow", "duck")
ROWS = [
    Segment("a.wav", 0, 5, f"<|0.00|>the {one} // {two} ran home.<|2.00|><|2.10|>a {one} ran home.<|4.00|>", lang="en")
    for one, two in itertools.pairwise(NOUNS * 3)
]


def test_marks_that_the_model_leaves_out_are_set_by_what_its_corpus_shows():
    found = learn_retraces(ROWS, Labels("chat"))
    assert list(found) == ["eng"]
    said = "the horse camel ran home. a horse ran home."
    tagger = CorpusTagger(found["eng"], "eng")
    made = labels.decode(said, Labels("chat"), tagger=tagger).utterances
    assert [each.text for each in made] == ["the horse [//] camel ran home .", "a horse ran home ."]
    assert "[//]" not in labels.decode(said, Labels("chat")).utterances[0].text


def test_few_retraces_other_styles_and_other_languages_have_none_of_their_own():
    assert learn_retraces(ROWS[:19], Labels("chat")) == {}
    assert learn_retraces(ROWS, Labels("verbatim")) == {}
    assert learn_retraces(ROWS, Labels("chat"), language="es") == {}
