import random
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner
from scored_transcripts import SENTENCES
from scored_transcripts import write_transcript as write

from lsa_whisper import chat, evaluation
from lsa_whisper.chat import Disfluency
from lsa_whisper.cli import main
from lsa_whisper.errors import CorpusError, FormatError, LsaWhisperError
from lsa_whisper.evaluation import evaluate
from lsa_whisper.evaluation.plots import evaluation_plots
from lsa_whisper.evaluation.tables import tables
from lsa_whisper.scoring.metrics import METRICS

PAIRED = Path(__file__).resolve().parents[3] / "shared" / "data" / "paired"


@pytest.fixture
def corpus(tmp_path):
    """A reference folder, a perfect system, and one that loses fillers everywhere."""
    for number in range(8):
        texts = [SENTENCES[(number + n) % len(SENTENCES)] for n in range(4)]
        write(tmp_path / "reference" / f"s{number}.cha", texts)
        write(tmp_path / "perfect" / f"s{number}.cha", texts)
        write(tmp_path / "silent" / f"s{number}.cha", [t.replace("&-um ", "").replace("the", "a") for t in texts])
    return tmp_path


def test_identical_transcripts_score_perfectly(corpus):
    system = evaluate(corpus / "reference", [corpus / "perfect"]).systems["perfect"]
    for metric in METRICS:
        best = 0 if metric.lower_is_better else 1
        if metric.key != "wer_fluent_raw":
            assert system.value(metric) == best, metric.key
            assert (system.interval(metric).low, system.interval(metric).high) == (best, best)
    assert system.disfluency[Disfluency.FRAGMENT].f1 == 1
    assert system.language_agreement("mlu_words", "everyone").bias == 0


def test_progress_is_shown_on_standard_error(corpus, monkeypatch, capsys):
    evaluate(corpus / "reference", [corpus / "perfect"], samples=40)
    assert capsys.readouterr().err == "", "short work needs none"
    monkeypatch.setattr(evaluation, "_EVERY_S", 0)
    monkeypatch.setattr(evaluation, "_LONG", 4)
    evaluate(corpus / "reference", [corpus / "perfect"], samples=40)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-2:] == ["s7: scoring 4 utterances, about 0 s", "scored 8 of 8 recordings"]


def test_progress_on_a_terminal_is_a_bar(corpus, monkeypatch, capsys):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    evaluate(corpus / "reference", [corpus / "perfect"], samples=40)
    printed = capsys.readouterr()
    assert "scoring" in printed.err and "scored" not in printed.err and printed.out == ""


def test_a_better_system_needs_an_interval_without_zero(corpus):
    evaluation = evaluate(corpus / "reference", [corpus / "silent", corpus / "perfect"])
    by_metric = {d.metric.key: d for d in evaluation.differences}
    assert by_metric["wer_verbatim"].better == "perfect"
    assert by_metric["boundary_f1"].better is None
    assert "perfect is better in “word errors, verbatim”" in evaluation.table()
    for d in evaluation.differences:
        assert d.better is None or d.interval.excludes_zero


def test_who_is_better_than_whom_is_a_table_with_a_line_for_each_system(corpus):
    names = ["silent", "perfect", "twin"]
    evaluation = evaluate(corpus / "reference", [corpus / n for n in ("silent", "perfect", "perfect")], names=names)
    (better,) = (table for table in tables(evaluation) if table.title == "Significant differences")
    lines = {(row[0].small, row[1].text): row[2:] for row in better.rows}
    assert {system for _, system in lines} == {"perfect", "twin"}
    than, by = lines["WER-V", "perfect"]
    (d,) = (d for d in evaluation.differences if (d.metric.key, d.second) == ("wer_verbatim", "perfect"))
    assert than.text == "silent" and by.text == d.points and d.points.startswith(f"{100 * d.difference:.1f} points (")
    assert "perfect is better in “word errors, verbatim” than silent\n" in evaluation.table()
    assert not any("better in" in remark for remark in evaluation.remarks())


def test_classes_that_both_systems_can_write_are_compared(corpus):
    evaluation = evaluate(corpus / "reference", [corpus / "silent", corpus / "perfect"])
    (better,) = (table for table in tables(evaluation) if table.title == "Significant differences")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in better.rows}
    assert rows["Filled pauses"][:2] == ["perfect", "silent"] and rows["Filled pauses"][2].startswith("30.0 points (")
    assert "Cut-off words" not in rows, "both found them"
    assert "Word errors, verbatim, fillers as spelled" not in rows, "that is for engineers"
    plain = evaluate(corpus / "reference", [corpus / "silent", without_marks(corpus)])
    assert "revision" not in {d.metric.key for d in plain.differences}, "one of them cannot write it"


def test_a_class_needs_enough_files_with_it(corpus):
    for side in ("reference", "perfect", "silent"):
        for number in range(5):
            path = corpus / side / f"s{number}.cha"
            write(path, [u.text.replace("&-um ", "").replace("&-uh ", "") for u in chat.read(path).utterances])
    by_metric = {
        d.metric.key: d for d in evaluate(corpus / "reference", [corpus / "silent", corpus / "perfect"]).differences
    }
    assert by_metric["filled_pause"].p is None and by_metric["filled_pause"].better is None
    assert by_metric["wer_verbatim"].p <= 0.05 and by_metric["wer_verbatim"].better == "perfect"


def test_shares_of_few_events_are_not_given(corpus):
    evaluation = evaluate(corpus / "reference", [corpus / "silent"])
    (found,) = (table for table in tables(evaluation) if table.title == "Disfluency detection by class")
    rows = {row[0].text: row for row in found.rows}
    assert rows["Cut-off words"][-1].text == "too few to judge" and rows["Cut-off words"][-1].small == "64.6 to 100.0"
    assert (rows["Filled pauses"][-1].text, rows["Filled pauses"][-1].small) == ("53.8 %", "29.1 to 76.8")


def test_folders_without_a_shared_name_are_refused(corpus):
    for path in list((corpus / "perfect").iterdir()):
        path.rename(path.with_name(f"other-{path.name}"))
    with pytest.raises(CorpusError, match=r"no file has the name of one in .*\(other-s0, other-s1 and 6 more;"):
        evaluate(corpus / "reference", [corpus / "perfect"])


def test_the_terminal_table_fits_80_columns(corpus):
    evaluation = evaluate(corpus / "reference", [corpus / name for name in ("silent", "perfect", "silent", "perfect")],
                          names=["one", "other", "a third", "a fourth"])  # fmt: skip
    lines = evaluation.table().splitlines()
    assert max(map(len, lines)) <= 80 and any("7 of 13  13 of 13" in line for line in lines)


def test_the_diagonal_of_the_confusions_is_marked_as_right(corpus):
    found = tables(evaluate(corpus / "reference", [corpus / "perfect"]))
    (matrix,) = (table for table in found if table.matrix)
    cells = [cell for row in matrix.rows for cell in row[1:] if cell.text]
    assert cells and all(cell.correct and not cell.hover for cell in cells)


def test_no_better_system_is_reported(corpus):
    evaluation = evaluate(corpus / "reference", [corpus / "silent", corpus / "silent"], names=["one", "other"])
    assert "no difference between the systems is statistically significant" in list(evaluation.remarks())
    assert not any(table.title == "Significant differences" for table in tables(evaluation))
    assert "statistically significant" not in evaluate(corpus / "reference", [corpus / "silent"]).table()


def test_few_files_never_make_a_system_better(corpus):
    for number in range(5, 8):
        (corpus / "reference" / f"s{number}.cha").unlink()
    evaluation = evaluate(corpus / "reference", [corpus / "silent", corpus / "perfect"])
    assert {d.better for d in evaluation.differences} == {None}
    assert "too few recordings" in evaluation.table()


def test_corpus_counts_are_the_sums_of_files_and_of_speakers(corpus):
    system = evaluate(corpus / "reference", [corpus / "silent"]).systems["silent"]
    whole = system.word_errors_verbatim
    single = [evaluate(p, [corpus / "silent" / p.name]) for p in sorted((corpus / "reference").iterdir())]
    assert whole == sum((next(iter(e.systems.values())).word_errors_verbatim for e in single[1:]),
                        next(iter(single[0].systems.values())).word_errors_verbatim)  # fmt: skip
    by_speaker = list(system.total.by_speaker.values())
    assert whole == sum(by_speaker[1:], by_speaker[0])


def test_a_missing_file_counts_as_deleted_and_is_named(corpus):
    (corpus / "perfect" / "s3.cha").unlink()
    write(corpus / "perfect" / "other.cha", ["hello ."])
    evaluation = evaluate(corpus / "reference", [corpus / "perfect"])
    system = evaluation.systems["perfect"]
    assert system.missing == ["s3"] and [p.name for p in system.unpaired] == ["other.cha"]
    assert system.word_errors_verbatim.deletions == system.files[3].verbatim.reference_words > 0
    assert "s3" in evaluation.table()
    assert "perfect: without a reference, and not scored: other" in evaluation.table()


def test_files_pair_by_stem_across_folders(corpus, tmp_path):
    (corpus / "perfect" / "deep").mkdir()
    for path in (corpus / "perfect").glob("*.cha"):
        path.rename(corpus / "perfect" / "deep" / path.name)
    assert evaluate(corpus / "reference", [corpus / "perfect"]).systems["perfect"].missing == []


def test_renaming_speakers_changes_no_word_or_disfluency_score(corpus):
    for path in (corpus / "silent").iterdir():
        write(corpus / "renamed" / path.name, [u.text for u in chat.read(path).utterances], speaker="PAR")
    first, second = evaluate(corpus / "reference", [corpus / "silent", corpus / "renamed"]).systems.values()
    for metric in METRICS:
        assert first.value(metric) == second.value(metric)
    assert first.disfluency.by_class == second.disfluency.by_class
    assert first.total.by_speaker == second.total.by_speaker


def test_unsupported_classes_are_not_scored(tmp_path):
    reference = write(tmp_path / "reference.cha", ["&-um <the dog> [//] the s:o big (.) cat ."])
    plain = write(tmp_path / "plain.cha", ["um the dog the so big cat ."])
    system = evaluate(reference, [plain], out=tmp_path / "out").systems["plain"]
    rows = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "| Revisions | plain | 1 | not scored | not scored | not scored | not scored |" in rows
    assert not system.has_marks
    assert system.disfluency[Disfluency.FILLED_PAUSE].f1 == 1
    for kind in (Disfluency.REVISION, Disfluency.PROLONGATION, Disfluency.PAUSE):
        assert system.disfluency[kind].f1 is None and system.disfluency[kind].not_scored == 1


def test_marks_of_a_family_make_its_other_classes_scored(tmp_path):
    reference = write(tmp_path / "reference.cha", ["<the dog> [//] the cat saw [/] saw it ."])
    other = write(tmp_path / "other.cha", ["the dog the cat saw [/] saw it ."])
    found = evaluate(reference, [other]).systems["other"].disfluency[Disfluency.REVISION]
    assert (found.false_negatives, found.not_scored) == (1, 0)


def without_marks(corpus):
    """A system that writes the words of every second retracing and no mark at all."""
    for path in (corpus / "perfect").iterdir():
        said = [u.fluent() if n % 2 else u.verbatim() for n, u in enumerate(chat.read(path).utterances)]
        write(corpus / "plain" / path.name, [" ".join([*words, "."]) for words in said])
    return corpus / "plain"


def test_systems_are_not_compared_over_classes_that_one_does_not_support(corpus):
    evaluation = evaluate(corpus / "reference", [corpus / "perfect", without_marks(corpus)])
    over_classes, compared = {"disfluency_f1", "timed_f1"}, {d.metric.key for d in evaluation.differences}
    for system in evaluation.systems.values():
        assert all(system.value(metric) for metric in METRICS if metric.key in over_classes)
    assert "wer_verbatim" in compared and not over_classes & compared


def test_the_figures_of_rates_have_the_reference_at_one_place_for_every_system(corpus):
    evaluation = evaluate(corpus / "reference", [corpus / "perfect", without_marks(corpus)])
    for figure in evaluation_plots(evaluation)[-2:]:
        said = [mark.text.partition(": ")[2].partition(" / ")[0] for mark in figure.marks]
        assert len(said) == 16 and said[:8] == said[8:] and "every class" in figure.hover
    # s0: two fillers, a repetition, a revision and a fragment, beside 13 meant words
    assert "perfect, s0: 38.5 / 38.5" in {mark.text for mark in evaluation_plots(evaluation)[-1].marks}


@pytest.mark.parametrize("samples", [-1, 0, 39])
def test_too_few_samples_for_an_interval_are_refused(corpus, samples):
    with pytest.raises(LsaWhisperError, match="give 40 or more"):
        evaluate(corpus / "reference", [corpus / "silent"], samples=samples)
    words = ["evaluate", str(corpus / "reference"), str(corpus / "silent"), "--samples", str(samples)]
    typed = CliRunner().invoke(main, words)
    assert typed.exit_code == 2 and "x>=40" in typed.stderr


def test_random_damage_costs_what_was_done(tmp_path):
    generator = random.Random(5)
    said = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200)]
    kept = [word for word in said if generator.random() > 0.2]
    reference = write(tmp_path / "reference.cha", [" ".join(said[n : n + 10]) + " ." for n in range(0, 200, 10)])
    hypothesis = write(tmp_path / "h.cha", [" ".join(kept[n : n + 7]) + " ." for n in range(0, len(kept), 7)])
    errors = evaluate(reference, [hypothesis]).systems["h"].word_errors_verbatim
    assert (errors.hits, errors.deletions, errors.substitutions, errors.insertions) == (
        len(kept),
        200 - len(kept),
        0,
        0,
    )


def test_names(corpus):
    same = corpus / "again" / "perfect"
    write(same / "s0.cha", SENTENCES)
    assert list(evaluate(corpus / "reference", [corpus / "perfect", same]).systems) == [
        f"{corpus.name}/perfect",
        "again/perfect",
    ]
    named = evaluate(corpus / "reference", [corpus / "perfect", same], names=["one", "two"])
    assert list(named.systems) == ["one", "two"]


@pytest.mark.parametrize(
    ("reference", "hypotheses", "names", "said"),
    [
        ("empty", ["perfect"], (), "no CHAT file"),
        ("notes.docx", ["perfect"], (), "is not a transcript"),
        ("reference", ["perfect"], ("a", "b"), "2 names for 1 system;"),
        ("damaged", ["perfect"], (), r"s1\.cha: has no utterance and no header"),
        ("reference", ["damaged"], (), r"s1\.cha: has no utterance and no header"),
        ("reference", ["perfect", "silent"], ("a", "a"), "the same name"),
    ],
)
def test_wrong_input_is_one_clear_sentence(corpus, reference, hypotheses, names, said):
    (corpus / "empty").mkdir()
    (corpus / "notes.docx").write_text("hello")
    (corpus / "damaged").mkdir()
    (corpus / "damaged" / "s1.cha").write_bytes(b"\x00\xff404")
    with pytest.raises((CorpusError, FormatError), match=said) as caught:
        evaluate(corpus / reference, [corpus / name for name in hypotheses], names=names)
    assert "\n" not in str(caught.value)


def test_evaluate_starts_without_torch():
    code = "import sys, lsa_whisper.evaluation.report; sys.exit('torch' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(not PAIRED.is_dir(), reason="the real recordings are not beside the project")
def test_real_transcripts_score_perfectly_against_themselves():
    system = evaluate(PAIRED, [PAIRED]).systems["paired"]
    errors = system.word_errors_verbatim
    assert errors.errors == 0 and errors.hits > 250 and errors.excluded_reference > 0
    for kind in Disfluency:
        found = system.disfluency[kind]
        if kind is not Disfluency.UNSPECIFIED_RETRACE:
            assert found.false_positives == found.false_negatives == 0, (kind, asdict(found))
