import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Participant
from lsa_whisper.scoring.confusion import NO_WORDS, PLAIN_WORDS
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import score_file

PEOPLE = {
    "CHI": Participant("CHI", "Target_Child", age="4;06.12"),
    "MOT": Participant("MOT", "Mother", age="34;"),
}


def side(*utterances, participants=PEOPLE):
    return ParsedTranscript([chat.utterance(*each.split(": ", 1)) for each in utterances], participants)


def matrix(reference, hypothesis):
    return dict(score_file("file", side(f"CHI: {reference} ."), side(f"CHI: {hypothesis} .")).confusion)


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        ("&-um no", "&-uh no", {("filled_pause", "filled_pause"): 1}),
        ("&-um no", "um no", {("filled_pause", PLAIN_WORDS): 1}),
        ("&-um no", "no", {("filled_pause", NO_WORDS): 1}),
        ("no", "&-um no", {(NO_WORDS, "filled_pause"): 1}),
        ("hum no", "&-um no", {(PLAIN_WORDS, "filled_pause"): 1}),
        ("&+b ball", "&-uh ball", {("fragment", "filled_pause"): 1}),
        ("<the dog> [//] the cat", "the dog [/] the cat", {("revision", "repetition"): 1}),
        ("I [/] I [/] I go", "I [/] I go", {("repetition", "repetition"): 1, ("repetition", NO_WORDS): 1}),
        ("yes (.) no", "yes no", {("pause", NO_WORDS): 1}),
        ("yes no", "yes (.) no", {(NO_WORDS, "pause"): 1}),
        ("yes no", "yes no", {}),
        ("xxx no", "&-um no", {}),
    ],
)
def test_confusion(reference, hypothesis, expected):
    assert matrix(reference, hypothesis) == expected


@pytest.mark.parametrize(
    ("kind", "reference", "hypothesis", "expected"),
    [
        ("repetition", "<I want> [/]", "<I want> [/]", (1, 0, 0)),
        ("repetition", "<I want> [/]", "I want [/]", (1, 0, 0)),
        ("fragment", "&+fr no", "&+f no", (1, 0, 0)),
        ("fragment", "&+fr no", "&+g no", (0, 1, 1)),
        ("revision", "<a big dog> [//] no", "<a big dog here> [//] no", (1, 0, 0)),
        ("revision", "<a big dog> [//] no", "a big dog [//] no", (0, 1, 1)),
    ],
)
def test_detections(kind, reference, hypothesis, expected):
    found = score_file("file", side(f"CHI: {reference} ."), side(f"CHI: {hypothesis} .")).disfluency[Disfluency(kind)]
    assert (found.true_positives, found.false_positives, found.false_negatives) == expected


def test_rows_of_the_matrix_count_every_event_of_the_reference():
    text = "&-um <the &+d dog> [//] the (.) s:o ↫b-b↫big cat [/] cat"
    for heard in (text, "the so big cat cat", "nothing of it at all"):
        counted = matrix(text, heard)
        events = [event.kind.value for event in chat.utterance("CHI", f"{text} .").events()]
        for kind in set(events):
            assert sum(n for (said, _), n in counted.items() if said == kind) == events.count(kind), (heard, kind)


def test_errors_by_role_age_and_length_add_up_to_all_errors():
    reference = side("CHI: I want it .", "MOT: do you really want that ?", "CHI: yes .", "XYZ: hello .")
    found = score_file(
        "file", reference, side("CHI: I want .", "MOT: do you want that ?", "CHI: yes yes .", "XYZ: hi .")
    )
    assert {name: e.errors for name, e in found.groups["role"].items()} == {
        "Target Child": 2,
        "Mother": 1,
        "no role given": 1,
    }
    assert {name: e.errors for name, e in found.groups["age"].items()} == {"4 years": 2, "30 to 39 years": 1}
    assert {name: e.errors for name, e in found.groups["length"].items()} == {
        "2 to 3 words": 1,
        "4 to 6 words": 1,
        "1 word": 2,
    }
    for group in ("role", "length"):
        assert sum(e.errors for e in found.groups[group].values()) == found.verbatim.errors


def test_words_of_the_wrong_role_are_counted():
    reference = side("CHI: I want it .", "MOT: no you may not .")
    heard_by = {"PAR0": Participant("PAR0", "Target_Child"), "PAR1": Participant("PAR1", "Mother")}
    right = side("PAR0: I want it .", "PAR1: no you may not .", participants=heard_by)
    assert score_file("file", reference, right).same_role == (7, 7)
    half = side("PAR0: I want it no .", "PAR1: you may not .", participants=heard_by)
    assert score_file("file", reference, half).same_role == (6, 7)
    one = side("PAR0: I want it .", "PAR0: no you may not .", participants=heard_by)
    assert score_file("file", reference, one).same_role == (0, 0), "one speaker only: nothing is claimed"
