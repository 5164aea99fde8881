"""Evaluation inside training: what is written and scored, which checkpoint is kept, when the run stops."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from training_run import StoppedError, logged, stopped_at

from lsa_whisper import checkpoint, manifest
from lsa_whisper.dataset import Collator, WindowDataset
from lsa_whisper.errors import ManifestError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.compare_runs.training_runs import read_run
from lsa_whisper.finetuning.training.dev_evaluation import manifest_labels
from lsa_whisper.finetuning.training.dev_transcripts import DevDecoder, DevWindows
from lsa_whisper.labels import Labels
from lsa_whisper.manifest import TIMESTAMP

SCORES = ("loss", "wer_verbatim", "wer_fluent", "disfluency_f1")


@pytest.fixture
def run(windows, scratch_recipe, tmp_path):
    """Train four steps on the six windows, evaluated on the same, and return the checkpoint's folder."""

    def trained(name, evaluation, *overrides, **options):
        path = tmp_path / f"{name}.yaml"
        path.write_text(scratch_recipe(windows, tmp_path / name, extra=f"evaluation: {{{evaluation}}}"))
        finetune(path, set=[f"data.dev={windows}", *overrides], report=options.pop("report", lambda _: None), **options)
        return tmp_path / name

    return trained


@pytest.mark.slow
def test_scores_curves_samples_and_picture(run, windows):
    lines = []
    out = run(
        "a", f"every_steps: 2, samples: 2, out_of_domain: {windows}, trackers: [tensorboard]", report=lines.append
    )
    for key in SCORES:
        assert len(logged(out, f"eval_{key}")) == 2, key
        assert logged(out, f"eval_out_of_domain_{key}") == pytest.approx(logged(out, f"eval_{key}"))
    samples = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
    assert [(row["step"], row["set"]) for row in samples] == [
        (step, set) for step in (2, 4) for set in ("dev", "out_of_domain") for _ in range(2)
    ]
    assert samples[0]["reference"] == "um I want want it." and isinstance(samples[0]["hypothesis"], str)
    assert (out / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert list((out / "tensorboard").iterdir())
    assert any("wer_verbatim" in line for line in lines)
    assert read_run(out).best("eval_wer_verbatim") is not None


@pytest.mark.slow
def test_dev_loss_does_not_depend_on_the_batch_size(run):
    """Labels are of very unequal lengths: a mean of the batches' means would be another number."""
    extra = ("loss.disfluency_weight=3",)  # may not show in it
    whole = run("whole", "every_steps: 4, batch_size: 6, generate: false, metric: loss")
    pieces = run("pieces", "every_steps: 4, batch_size: 1, generate: false, metric: loss")
    assert logged(pieces, "eval_loss") == pytest.approx(logged(whole, "eval_loss"), abs=1e-5)
    weighted = run("weighted", "every_steps: 4, generate: false, metric: loss", *extra, "training.learning_rate=0")
    plain = run("plain", "every_steps: 4, generate: false, metric: loss", "training.learning_rate=0")
    assert logged(weighted, "eval_loss") == pytest.approx(logged(plain, "eval_loss"), abs=1e-6)
    assert logged(weighted, "loss") != pytest.approx(logged(plain, "loss"), abs=1e-2)


@pytest.mark.slow
@pytest.mark.usefixtures("forked_ranks")
@pytest.mark.parametrize(
    ("strategy", "adapter"), [("ddp", ()), ("zero3", ()), ("fsdp2", ()), ("fsdp2", ("adapter.rank=10",))]
)
def test_two_processes_score_like_one(run, windows, strategy, adapter):
    """Five windows on two processes: the sixth that evens them out is counted nowhere, and none waits for ever."""
    five = windows.parent / "five.jsonl"
    five.write_text("".join(windows.read_text().splitlines(keepends=True)[:5]))
    evaluation, base = (
        "every_steps: 2, batch_size: 2, samples: 5",
        run("base", "every_steps: 4, generate: false, metric: loss"),
    )
    settings = (f"data.dev={five}", "model.scratch=null", f"model.base={base}", *adapter)
    one = run("one", evaluation, *settings)
    two = run(
        "two", evaluation, *settings, f"strategy={strategy}", "training.per_device_train_batch_size=1", processes=2
    )
    for key in SCORES:
        assert logged(two, f"eval_{key}") == pytest.approx(logged(one, f"eval_{key}"), abs=1e-3), key
    assert (two / "samples.jsonl").read_text() == (one / "samples.jsonl").read_text()


@pytest.mark.slow
def test_the_best_checkpoint_is_kept_and_the_run_stops_early(run):
    """At an absurd learning rate everything after the first look is worse."""
    settings = ("training.learning_rate=10", "training.max_steps=20", "training.max_grad_norm=0")
    out = run("best", "every_steps: 1, patience: 3, metric: loss, generate: false", *settings)
    curve = logged(out, "eval_loss")
    said = json.loads((out / "lsa_whisper.json").read_text())["provenance"]
    assert len(curve) < 20 and said["steps"] == len(curve)
    assert said["best"]["eval_loss"] == pytest.approx(min(curve))
    assert curve.index(min(curve)) + 1 == said["best"]["step"] == len(curve) - 3
    last = run("last", "every_steps: 1, keep_best: false, metric: loss, generate: false", *settings)
    kept, ended = (checkpoint.load(each).model.state_dict()["proj_out.weight"] for each in (out, last))
    assert not torch.allclose(kept, ended)


@pytest.mark.slow
def test_a_resumed_run_keeps_its_patience(run):
    settings = ("training.learning_rate=10", "training.max_steps=20", "training.max_grad_norm=0")
    evaluation = "every_steps: 1, patience: 3, metric: loss, generate: false"
    whole = run("whole", evaluation, *settings)
    with pytest.raises(StoppedError):
        run("cut", evaluation, *settings, report=stopped_at(3))
    cut = run("cut", evaluation, *settings)
    assert logged(cut, "eval_loss") == pytest.approx(logged(whole, "eval_loss"), rel=1e-4)


@pytest.mark.slow
def test_the_best_adapter_is_kept(run, windows):
    base = run("base", "every_steps: 4, generate: false, metric: loss")
    settings = ("model.scratch=null", f"model.base={base}", "adapter.rank=16", "training.learning_rate=1")
    out = run("lora", "every_steps: 1, metric: loss, batch_size: 6, samples: 0", *settings)
    said = json.loads((out / "lsa_whisper.json").read_text())["provenance"]["best"]
    assert said["eval_loss"] == pytest.approx(min(logged(out, "eval_loss")))
    loaded = checkpoint.load(out)
    assert loss_of(loaded, windows) == pytest.approx(said["eval_loss"], abs=1e-4)


def loss_of(loaded, windows):
    data = WindowDataset(windows, loaded)
    batch = Collator(loaded.model.config.pad_token_id)([data[n] for n in range(len(data))])
    labels = batch.pop("labels")
    with torch.no_grad():
        logits = loaded.model(**batch).logits
    return float(torch.nn.functional.cross_entropy(logits.mT, labels))


@pytest.mark.slow
def test_samples_are_the_texts_of_the_model(run, windows):
    """A model that knows its windows by heart writes them, and gets full marks.

    Those with time stamps, that is: a model is asked for stamps, as `transcribe` asks, and has its own way of writing
    for windows it was taught without.
    """
    timed = windows.parent / "timed.jsonl"
    timed.write_text("".join(row for row in windows.read_text().splitlines(keepends=True) if "<|" in row))
    learning = ("training.max_steps=150", "training.learning_rate=3e-3", "model.scratch.d_model=64")
    settings = (f"data.dev={timed}", *learning)
    out = run("heart", "every_steps: 150, batch_size: 3", *settings, "training.per_device_train_batch_size=6")
    assert logged(out, "eval_wer_verbatim") == [0.0] and logged(out, "eval_disfluency_f1") == [1.0]


def test_a_missing_metric_is_reported(run, windows):
    silent = windows.parent / "silent.jsonl"
    rows = [json.loads(line) for line in windows.read_text().splitlines()]
    silent.write_text("".join(json.dumps(row | {"text": ""}) + "\n" for row in rows))
    with pytest.raises(ManifestError, match="nothing to compute wer_verbatim from"):
        run("none", "every_steps: 2", f"data.dev={silent}")


def test_only_some_windows_spread_evenly(run, windows):
    loaded = checkpoint.load(run("few", "every_steps: 4, generate: false, metric: loss"))
    few = DevWindows("dev", WindowDataset(windows, loaded), Labels("chat"), max_windows=3)
    assert few.indices == [0, 2, 5] and few.segment(2).text == "<|0.10|>oh.<|0.30|>"


def test_a_prompt_is_not_mistaken_for_the_beginning(run, windows):
    """Rows with and without a prompt share a batch; each goes on behind its own beginning."""
    loaded = checkpoint.load(run("p", "every_steps: 4, generate: false, metric: loss"))
    loaded.model.generation_config.decoder_start_token_id = loaded.model.config.decoder_start_token_id
    decoder = DevDecoder(loaded, loaded.model.generation_config)
    data = WindowDataset(windows, loaded)
    plain = data[0] | {"duration_s": 1.0}
    tokens, given = data.labels.encode(data.segment(0).text, prompt="the dog")
    prompted = plain | {"tokens": tokens, "prompt_length": given}
    batch = Collator(loaded.model.config.pad_token_id)([plain, prompted])
    with torch.no_grad():
        tokens = decoder.decode(loaded.model, batch)
    assert torch.equal(tokens[0], tokens[1])
    assert isinstance(decoder.text(tokens[0].numpy(), 1.0), str)


def test_a_model_remembers_whether_its_windows_had_timestamps(windows, tmp_path):
    rows = [replace(row, text=TIMESTAMP.sub("", row.text)) for row in manifest.stream(windows)]
    manifest.write(rows, tmp_path / "train.jsonl")
    assert manifest_labels(windows).timestamps
    assert not manifest_labels(tmp_path / "train.jsonl").timestamps
