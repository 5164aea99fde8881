import json

import pytest
from click.testing import CliRunner

from lsa_whisper.cli import main
from lsa_whisper.errors import CorpusError
from lsa_whisper.finetuning.compare_runs import compare_runs

EVIL = "<script>alert(1)</script>"


def run(folder, losses, recipe=None, **evaluated):
    folder.mkdir(parents=True)
    logged = [{"step": 10 * n, "loss": loss, "grad_norm": 1.0, "epoch": n / 2} for n, loss in enumerate(losses, 1)]
    logged += [{"step": 10 * n, **{key: values[n - 1] for key, values in evaluated.items()}, "eval_runtime": 1.5}
               for n in range(1, len(losses) + 1) if evaluated]  # fmt: skip
    logged.append({"step": 10 * len(losses), "train_runtime": 9.0, "train_loss": 1.0})
    (folder / "curve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in logged))
    if recipe is not None:
        (folder / "lsa_whisper.json").write_text(json.dumps({"provenance": {"recipe": recipe}}))
    return folder


@pytest.fixture
def two(tmp_path):
    first = run(
        tmp_path / "first",
        [3.0, 2.0, 1.0],
        {"seed": 1, "training": {"learning_rate": 1e-4, "warmup": 5}},
        eval_wer_verbatim=[0.9, 0.4, 0.5],
        eval_disfluency_f1=[0.1, 0.3, 0.2],
    )
    second = run(tmp_path / "second", [3.0, 2.5], {"seed": 1, "training": {"learning_rate": 1e-5, "warmup": 5}})
    return first, second


def test_the_best_of_each_curve_and_what_differs(two):
    runs = compare_runs(two)
    first, second = runs.runs
    assert (first.steps, second.steps) == (30, 20)
    assert first.best("eval_wer_verbatim") == (20, 0.4), "the lowest"
    assert first.best("eval_disfluency_f1") == (20, 0.3), "the highest"
    assert first.best("loss") == (30, 1.0) and second.best("eval_wer_verbatim") is None
    assert first.best("grad_norm") is None, "no size of a gradient is better than another"
    assert runs.keys == ["loss", "eval_wer_verbatim", "eval_disfluency_f1", "grad_norm"]
    assert runs.recipe_differences == ["training.learning_rate"]
    assert "second: was not evaluated" in runs.table() and "0.4 (step 20)" in runs.table()


def test_the_report_draws_a_line_per_run_and_curve(two, tmp_path):
    runs = compare_runs(two, names=["one", EVIL], out=tmp_path / "report")
    page = runs.report.read_text("utf-8")
    assert page.count("<polyline") == 6, "loss and gradient of both, two evaluations of the first"
    assert page.count("<script") == 1 and "&lt;script&gt;alert(1)" in page
    assert "training.learning_rate" in page and "training.warmup" not in page
    assert "All other settings are the same in all finished runs." in page
    assert "http" not in page
    record = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    assert record["runs"][0]["curves"]["loss"] == [[10, 3.0], [20, 2.0], [30, 1.0]]


def test_an_unfinished_run_is_read_as_far_as_it_is(two, tmp_path):
    going = run(tmp_path / "third.unfinished", [3.0, 2.0])
    with (going / "curve.jsonl").open("a") as file:
        file.write('{"step": 10, "loss": 2.9}\n{"step": 30, "lo')
    runs = compare_runs([tmp_path / "third"])
    assert runs.runs[0].curves["loss"] == [(10, 2.9), (20, 2.0)], "after a resume the later value counts"
    assert "third: not finished" in runs.table()


def test_what_is_no_number_is_no_point_of_a_curve(tmp_path):
    folder = run(tmp_path / "run", [3.0])
    with (folder / "curve.jsonl").open("a") as file:
        file.write('{"step": 20, "loss": NaN, "note": "warm"}\n{"step": 30, "loss": 1.0}\n')
    curves = compare_runs([folder]).runs[0].curves
    assert curves["loss"] == [(10, 3.0), (30, 1.0)] and "note" not in curves


def test_wrong_folders_are_one_clear_sentence(two, tmp_path):
    (tmp_path / "empty").mkdir()
    broken = run(tmp_path / "broken", [1.0])
    (broken / "curve.jsonl").write_text("nonsense\n" * 2)
    for folder, said in (
        ("nowhere", "no such training run"),
        ("empty", "no curve.jsonl"),
        ("broken", "1: is not a logged step"),
    ):
        with pytest.raises(CorpusError, match=said):
            compare_runs([tmp_path / folder])


@pytest.mark.parametrize(
    ("names", "said"), [(["x"], "1 name for 2 runs;"), (["x", "x"], "two runs have the same name")]
)
def test_names_are_of_runs(two, names, said):
    with pytest.raises(CorpusError, match=said):
        compare_runs(two, names=names)


def test_no_run_is_one_clear_sentence():
    with pytest.raises(CorpusError, match=r"^missing: there is no such training run"):
        compare_runs("missing")
    with pytest.raises(CorpusError, match="needs at least one training run"):
        compare_runs([])


def test_the_command(two, tmp_path):
    words = ["compare-runs", *(str(folder) for folder in two), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == 0 and "first" in result.output and (tmp_path / "out" / "report.html").is_file()
