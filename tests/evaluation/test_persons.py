"""Which recordings are of one person: names, folders, or each by itself."""

from __future__ import annotations

import pytest

from lsa_whisper import chat
from lsa_whisper.errors import CorpusError
from lsa_whisper.evaluation import evaluate
from lsa_whisper.evaluation.persons import people_in, persons_of


def transcript(*people):
    text = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\t"
    text += ", ".join(f"{code} {name} {role}" for code, name, role in people) + "\n"
    text += "".join(f"@ID:\teng|made|{code}|||||{role}|||\n*{code}:\tyes .\n" for code, _, role in people)
    return chat.parse(text + "@End\n")


def test_the_child_is_the_person_not_who_talks_with_it():
    found = people_in(
        transcript(("CHI", "Ann", "Target_Child"), ("INV", "Eve", "Investigator"), ("MOT", "Joan", "Mother"))
    )
    assert found == {("made", "ann")}
    assert people_in(transcript(("INV", "Eve", "Investigator"))) == frozenset()
    assert people_in(transcript(("SP1", "Al", "Speaker"), ("SP2", "Bo", "Speaker"))) == {("made", "al"), ("made", "bo")}


def test_recordings_that_share_a_person_are_one_unit():
    people = {"a": {1}, "b": {2}, "c": {1, 3}, "d": {3}, "e": set()}
    units, how = persons_of({key: frozenset(("x", str(n)) for n in own) for key, own in people.items()})
    assert how == "name" and units.tolist() == [0, 1, 0, 0, 2]


def test_folders_are_persons_where_nobody_has_a_name():
    keys = [f"{child}/{visit}" for child in ("ann", "ben", "cat", "dan") for visit in (1, 2)]
    assert persons_of(dict.fromkeys(keys, frozenset()))[1] == "folder"
    assert persons_of(dict.fromkeys(keys, frozenset()))[0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    flat = [f"all/{number}" for number in range(8)]
    assert persons_of(dict.fromkeys(flat, frozenset()))[1] == "file", "one folder is not one person"
    assert persons_of(dict.fromkeys(keys, frozenset()), "file")[0].tolist() == list(range(8))


def test_an_unknown_grouping_and_metric_are_named(tmp_path):
    with pytest.raises(CorpusError, match="`group=visit`: no such grouping"):
        evaluate(tmp_path, [tmp_path], group="visit")
    with pytest.raises(CorpusError, match="`decide=wer`: no such metric; choose auto or one of wer_verbatim"):
        evaluate(tmp_path, [tmp_path], decide="wer")
