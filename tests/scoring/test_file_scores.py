"""What is kept of files: the same counts as were made, little memory, and the worst of the utterances."""

import tracemalloc

import numpy as np
import pytest

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Participant
from lsa_whisper.evaluation import evaluate
from lsa_whisper.evaluation.report_rows import ReportRows
from lsa_whisper.scoring.counts import ByLabel, WordErrors
from lsa_whisper.scoring.file_scores import FileCounts, FileTable, Totals
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.score_file import score_file
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


@pytest.fixture(scope="module")
def table(scores):
    kept = FileTable()
    for each in scores:
        kept.append(each)
    return kept


def test_the_counts_of_a_file_come_back(scores, table):
    assert len(table) == 4 and [each.key for each in table] == ["perfect", "wrong", "one", "missing"]
    names = [name for name in FileCounts.__dataclass_fields__ if name != "timed"]
    for was, now in zip(scores, table, strict=True):
        assert {name: getattr(now, name) for name in names} == {name: getattr(was, name) for name in names}
        assert all(now.timed[kind] == was.timed[kind] for kind in Disfluency)
    assert table.missing == [False, False, False, True]
    assert table[3].samples["everyone"][1] is None, "what was never written is no sample of 0 words"
    assert table[2].samples["MOT"][1] is None and table[1].samples["everyone"][1].total_words > 0
    assert isinstance(table[0].samples["everyone"][0].utterances, int)


def test_a_rate_of_all_files_at_once_is_that_of_each(scores, table):
    every = frozenset(Disfluency)
    for metric in METRICS:
        above, below = metric.fraction(table.columns, every)
        alone = [metric.fraction(each, every) for each in scores]
        assert list(zip(np.ravel(above).tolist(), np.ravel(below).tolist(), strict=True)) == alone, metric.key


def test_measures_are_given_where_the_reference_has_the_speaker(table):
    assert table.speakers == ["everyone", "CHI", "MOT"]
    pairs = list(table.measured("total_words", "MOT"))
    assert [said for said, _ in pairs] == [4, 4, 4, 4]
    assert pairs[0] == (4, 4) and np.isnan(pairs[2][1]) and np.isnan(pairs[3][1])
    assert np.isnan([heard for _, heard in table.measured("utterances", "everyone")]).tolist() == table.missing


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


def test_a_file_takes_less_than_two_kilobytes(scores):
    kept = FileTable()
    for each in scores:
        kept.append(each)
    tracemalloc.start()
    for _ in range(500):
        kept.append(scores[1])
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / 500 < 2000


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
    errors = found.systems["heard"].speakers
    assert lines["cpWER"] == [f"{100 * errors.cp_errors / errors.cp_words:.1f}", "%"]
    again = evaluate(tmp_path / "reference", [tmp_path / "heard", tmp_path / "heard"], names=["a", "b"])
    assert str(again.differences[0]) == "a - b: +0.0 points", "one file has no interval"
