"""What is kept of files, their sums, and the worst of the utterances."""

import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Participant
from lsa_whisper.evaluation import evaluate
from lsa_whisper.evaluation.report_rows import ReportRows
from lsa_whisper.scoring.bootstrap import Resamples
from lsa_whisper.scoring.counts import ByLabel, WordErrors
from lsa_whisper.scoring.file_scores import FileCounts, Totals
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import score_file
from lsa_whisper.scoring.system import System
from lsa_whisper.timespan import TimeSpan

PEOPLE = {"CHI": Participant("CHI", "Target_Child"), "MOT": Participant("MOT", "Mother")}
SAID = ["&-um I [/] I want (.) it .", "<the dog> [//] the cat ran &+aw away .", "yes ."]
HEARD = ["um I want it .", "<the dog> [//] the cat ran a way .", "&-uh yes ."]


def side(texts, speakers=("CHI", "MOT")):
    spans = [TimeSpan(2000 * n, 2000 * n + 1500) for n in range(len(texts))]
    spoken = [chat.utterance(speakers[n % len(speakers)], text, spans[n]) for n, text in enumerate(texts)]
    return ParsedTranscript(spoken, PEOPLE)


@pytest.fixture(scope="module")
def scores():
    """Four files: perfect, wrong, by one speaker only, and without a hypothesis."""
    return [
        score_file("perfect", side(SAID), side(SAID)),
        score_file("wrong", side(SAID), side(HEARD)),
        score_file("one", side(SAID), side(HEARD, speakers=("CHI",))),
        score_file("missing", side(SAID), None),
    ]


def test_measures_are_given_where_both_sides_have_the_speaker(scores):
    system = System("s", [FileCounts.of(each) for each in scores], Totals(), Resamples(4))
    assert system.sample_keys == ["everyone", "CHI", "MOT"] and system.missing == ["missing"]
    assert system.language_agreement("total_words", "MOT").samples == 2, "one has no such speaker, one was not written"
    assert system.language_agreement("utterances", "everyone").samples == 3


def test_totals_are_sums_whatever_the_order(scores):
    one_way = sum(map(Totals.of, scores), Totals())
    assert one_way == sum(map(Totals.of, reversed(scores)), Totals())
    assert one_way.verbatim.reference_words == 4 * scores[0].verbatim.reference_words
    assert one_way.by_speaker["CHI"] + one_way.by_speaker["MOT"] == one_way.verbatim
    assert one_way.written[Disfluency.REVISION] == 3


def test_labels_add_and_only_labels():
    first, second = ByLabel(a=WordErrors(1), b=WordErrors(2)), ByLabel(b=WordErrors(3), c=WordErrors(4))
    assert first + second == {"a": WordErrors(1), "b": WordErrors(5), "c": WordErrors(4)}
    assert first == {"a": WordErrors(1), "b": WordErrors(2)}, "nothing is changed in place"


def test_of_many_utterances_those_with_most_errors_are_shown_in_order():
    shown = ReportRows(most=3)
    heard = ["um I want it .", "the cat .", "no .", "yes .", "yes ."]
    said = ["I want it .", "the dog ran away .", "yes .", "yes .", "no way ."]
    for number, (reference, hypothesis) in enumerate(zip(said, heard, strict=True)):
        shown.add(number, [score_file("f", side([reference]), side([hypothesis])).aligned])
    assert [row[0] for row in shown.rows] == [0, 1, 4] and shown.left_out == 2
    assert [row[5][0][:2] for row in shown.rows] == [[1, 3], [3, 4], [2, 2]]


def test_utterances_without_a_word_are_not_shown_and_systems_may_lack_one():
    shown = ReportRows()
    shown.add(0, [score_file("f", side(["&=laughs .", "yes ."]), side(["yes ."])).aligned])
    assert [row[4] for row in shown.rows] == ["yes ."]
    shown = ReportRows()
    silent = ParsedTranscript((), {})
    shown.add(0, [score_file("f", silent, side(["hello you ."])).aligned, score_file("f", silent, silent).aligned])
    assert shown.rows[0][5] == [[2, 0, [["", "hello", "i", -1, -1], ["", "you", "i", -1, -1]]], [0, 0, []]]


def test_speakers_and_other_rules_are_in_table_and_report(tmp_path):
    for folder, texts in (("reference", SAID), ("heard", HEARD)):
        (tmp_path / folder).mkdir()
        participants = list(PEOPLE.values())
        made = chat.compose(languages=["eng"], participants=participants, utterances=side(texts).utterances)
        chat.write(made, tmp_path / folder / "a.cha")
    pytest.importorskip("meeteval")
    found = evaluate(
        tmp_path / "reference",
        [tmp_path / "heard"],
        names=["heard"],
        out=tmp_path / "report",
        speaker_errors=True,
        as_=["batchalign2"],
    )
    text = (tmp_path / "report" / "report.md").read_text("utf-8")
    assert "Speaker-attributed word errors" in text and "rules of Batchalign 2" in text
    lines = {line.split("  ")[0]: line.split()[-2:] for line in found.table().splitlines()}
    errors = found.systems["heard"].total.speakers
    assert lines["cpWER"] == [f"{100 * errors.cp_errors / errors.cp_words:.1f}", "%"]
    again = evaluate(tmp_path / "reference", [tmp_path / "heard", tmp_path / "heard"], names=["a", "b"])
    assert str(again.differences[0]) == "a - b: +0.0 points", "one file has no interval"
