"""Typed F1 as in the Nyra Verbatim Speech Benchmark, and character errors by class."""

from __future__ import annotations

import pytest
from scored_transcripts import write_transcript

from lsa_whisper import chat
from lsa_whisper.evaluation import evaluate
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import ScoringOptions, score_file
from lsa_whisper.scoring.verbatim_benchmark import TYPES, pooled


def scored(reference, hypothesis):
    sides = (ParsedTranscript([chat.utterance("CHI", text)], {}) for text in (reference, hypothesis))
    return score_file("a", *sides, ScoringOptions(typed=True))


@pytest.mark.parametrize(
    ("reference", "hypothesis", "kind", "counts"),
    [
        ("&-um yes &-uh no .", "&-uh yes no .", "fillers", (1, 0, 1)),
        ("yes no .", "&-um yes no .", "fillers", (0, 1, 0)),
        ("<I want> [/] I want it .", "<I want> [/] I want it .", "repetitions", (2, 0, 0)),
        ("<I want> [/] I want it .", "I want it .", "repetitions", (0, 0, 2)),
        ("&+fr frog .", "&+f frog .", "cut-offs", (1, 0, 0)),
        ("&+fr frog .", "&+g frog .", "cut-offs", (0, 1, 1)),
        ("yes &=laughs no .", "yes &=laughs no .", "vocal sounds", (1, 0, 0)),
        ("yes &=laughs no .", "yes &=coughs no .", "vocal sounds", (0, 1, 1)),
        ("yes &=laughs no .", "yes no &=laughs .", "vocal sounds", (0, 1, 1)),
    ],
)
def test_each_type(reference, hypothesis, kind, counts):
    found = scored(reference, hypothesis).typed[kind]
    assert (found.true_positives, found.false_positives, found.false_negatives) == counts


def test_a_perfect_transcript_has_every_type():
    text = "&-um <I want> [/] I want &+fr frogs &=laughs ."
    typed = scored(text, text).typed
    assert tuple(typed) == TYPES and pooled(typed).f1 == 1


def test_characters_in_the_words_of_a_class():
    found = scored("&-um I [/] I want &+fr frogs .", "&-uh I want &+f frogs .").class_characters
    assert found["filled_pause"].rate == 0.5, "u of um"
    assert found["repetition"].rate == 1 and found["repetition"].deletions == 1
    assert found["fragment"].rate == pytest.approx(1 / 3)
    assert "revision" not in found


def test_the_table_and_the_report_have_it_on_request(tmp_path):
    write_transcript(tmp_path / "r.cha", ["&-um yes ."], language="eng", name="Ann", corpus="x")
    write_transcript(tmp_path / "h.cha", ["&-um yes ."], language="eng", name="Ann", corpus="x")
    evaluation = evaluate(tmp_path / "r.cha", [tmp_path / "h.cha"], as_=("nyra",), out=tmp_path / "out", samples=40)
    assert "F1 as in Nyra's benchmark" in evaluation.table() and "--as nyra" in evaluation.material.command
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "could not be verified" in text and "| fillers | h | 1 | 1 | 0 | 0 | 100.0 % |" in text
    plain = evaluate(tmp_path / "r.cha", [tmp_path / "h.cha"], samples=40)
    assert "Nyra" not in plain.table()
