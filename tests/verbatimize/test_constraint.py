"""Whatever a model prefers, what remains without the insertions is the clean text; what it hears can be inserted."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import torch
from scripted_model import ScriptedModel
from transformers import AutoTokenizer

from lsa_whisper import chat
from lsa_whisper.chat import utterance
from lsa_whisper.labels import Labels, encode
from lsa_whisper.verbatimize.clean_text import insert, join_retraces, read_clean_text
from lsa_whisper.verbatimize.constraint import Constraint
from lsa_whisper.verbatimize.search import BeamSearch
from lsa_whisper.verbatimize.slots import window_slots
from lsa_whisper.verbatimize.vocabulary import Vocabulary

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = AutoTokenizer.from_pretrained(ROOT / "models" / "nano")
SIZE = len(TOKENIZER)
END = TOKENIZER.convert_tokens_to_ids("<|endoftext|>")
CLEAN = (
    "the dog is under the table .",
    "I goed [: went] home (be)cause of that that xxx thing , you know [+ gram] .",
    "<the cat> [/] the cat &=laughs &*INV:mhm sat (.) down +...",
    "ice+cream and Mom's twenty-one café ?",
    "oh",
)
LABELS = (Labels("chat"), Labels("chat", version=2), Labels("chat", version=1), Labels("verbatim"))


@functools.cache
def vocabulary(labels):
    return Vocabulary(TOKENIZER, labels)


def found(utterances, labels, *, script=(), seed=0, beam=3, limit=200, language="eng"):
    """Return the utterances of a window with what the search inserts for a scripted model."""
    known = vocabulary(labels)
    texts = [read_clean_text(each, labels) for each in utterances]
    slots = window_slots(texts, [each.speaker for each in utterances], known, language=language, stamps=False)
    constraint = Constraint(slots, known, limit)
    assert constraint.fits
    search = BeamSearch(ScriptedModel(SIZE, script, seed=seed), known, end=END, stamps=[], beam=beam)
    inserted = search.search(torch.zeros(1, 2, 2), [0], constraint, 0).inserted
    return [
        insert(each, join_retraces([one for at, one in inserted if at == number]))
        for number, each in enumerate(utterances)
    ]


def is_within(short, long):
    """Return whether ``long`` without some characters is ``short``."""
    rest = iter(long)
    return all(character in rest for character in short)


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels.name)
@pytest.mark.parametrize("seed", range(2))
def test_random_probabilities_never_change_a_word(labels, seed):
    before = [utterance("CHI", text) for text in CLEAN]
    after = found(before, labels, seed=seed)
    assert sum(len(each.events()) for each in after) > sum(len(each.events()) for each in before)
    for one, other in zip(before, after, strict=True):
        assert other.fluent() == one.fluent(), other.text
        assert is_within(one.main, other.main)
        assert len(other.tree.faults) <= len(one.tree.faults), other.text


def test_roles_are_given_not_chosen():
    before = [utterance("CHI", "the dog ."), utterance("MOT", "yes .")]
    after = found(before, Labels("chat", roles=True), seed=1)
    assert [(each.speaker, each.fluent()) for each in after] == [("CHI", ["the", "dog"]), ("MOT", ["yes"])]


@pytest.mark.parametrize(
    "spoken",
    [
        "&-um I want [/] want the &+sto story .",
        "<I want> [/] I want (.) to ≠go .",
        "the ↫d-d↫dog s:aw me .",
        "the dog sto:re .",
        "<the big cat> [//] the dog is [//] was here .",
        "<where is the> [/-] (..) look here &-uh .",
        "I [/] I [/] I [/] I want &-uh &-um it ?",
        "I [/] &-um I saw &+k a dog (...) .",
    ],
)
@pytest.mark.parametrize("version", [2, 4])
def test_every_class_that_the_model_hears_is_inserted(spoken, version):
    reference = utterance("CHI", spoken)
    before = utterance("CHI", f"{' '.join(reference.fluent())} {reference.terminator}")
    labels = Labels("chat", version=version)
    script = [*vocabulary(labels).encode(encode(reference, labels)), END]
    (after,) = found([before], labels, script=script)
    assert after.text == spoken


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ddd dog", "d:og"),
        ("ddd- dog", "d:og"),
        ("dddog", "d:og"),
        ("= ddd dog", "≠d:og"),
        ("d-d- ddd dog", "↫d-d↫d:og"),
    ],
)
def test_a_sound_spelled_as_in_captions_is_prolonged(written, read):
    labels = Labels("chat", version=4)
    script = [*vocabulary(labels).encode(f"the {written} sat."), END]
    (after,) = found([utterance("CHI", "the dog sat .")], labels, script=script)
    assert after.text == f"the {read} sat ."


def test_the_code_of_untranscribed_speech_is_no_prolonged_sound():
    labels = Labels("chat", version=4)
    script = [*vocabulary(labels).encode("the www wet dog sat."), END]
    (after,) = found([utterance("CHI", "the wet dog sat .")], labels, script=script)
    assert "w:et" not in after.text


def test_nearly_all_of_storybook_can_be_inserted():
    """Some words of a revision begin like their repair, which reads as a repetition: no word is lost by that."""
    labels, same, count = Labels("chat"), 0, 0
    for path in sorted((ROOT / "corpora" / "storybook" / "test").glob("*.cha"))[:2]:
        for each in chat.read(path).utterances:
            reference = utterance(each.speaker, each.text)
            if not reference.events() or reference.terminator not in ".?":
                continue
            script = [*vocabulary(labels).encode(encode(reference, labels)), END]
            (after,) = found([utterance("CHI", f"{' '.join(each.fluent())} {each.terminator}")], labels, script=script)
            count += 1
            same += after.text == reference.text
    assert count > 20 and same / count > 0.9


def test_a_text_that_barely_fits_is_written_without_insertions():
    before = utterance("CHI", "the dog is under the table .")
    (after,) = found([before], Labels("chat"), limit=8)
    assert after == before


@pytest.mark.parametrize("labels", [Labels("chat"), Labels("verbatim")], ids=lambda labels: labels.name)
@pytest.mark.parametrize(
    ("written", "cut"),
    [
        ("I k- want it.", "k"),
        ("I li- want the library.", "li"),
        ("I libr- want the library.", "libr"),
        ("I sor- want it.", ""),
        ("I and- want it.", ""),
        ("I um- want it.", ""),
    ],
)
def test_a_cut_off_word_is_consonants_or_begins_a_word_that_follows(labels, written, cut):
    known, clean = vocabulary(labels), f"I want {'the library' if 'library' in written else 'it'} ."
    (after,) = found([utterance("CHI", clean)], labels, script=[*known.encode(written), END])
    assert (f"&+{cut} want" in after.text) if cut else (f"&+{written.split()[1][:-1]}" not in after.text), after.text


@pytest.mark.parametrize("labels", [Labels("chat"), Labels("verbatim")], ids=lambda labels: labels.name)
def test_at_most_two_fillers_stand_in_one_place(labels):
    script = [*vocabulary(labels).encode("I um uh er um want it."), END]
    (after,) = found([utterance("CHI", "I want it .")], labels, script=script)
    assert sum(word.startswith("&-") for word in after.text.partition("want")[0].split()) <= 2
