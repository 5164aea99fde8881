"""The moving average of the weights: as computed by hand, evaluated and saved, and continued after a stop."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from lsa_whisper import checkpoint
from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.weight_average import AVERAGE_FILE, WeightAverage


def linear(value):
    layer = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(layer.weight, value)
    layer.bias.requires_grad_(False)
    return layer


def test_the_average_follows_the_weights(tmp_path):
    layer = linear(0.0)
    average = WeightAverage(layer, 0.5)
    wanted = 0.0
    for step, value in enumerate((1.0, 3.0, 5.0), 1):
        torch.nn.init.constant_(layer.weight, value)
        average.on_step_end(None, SimpleNamespace(global_step=step), None)
        decay = min(0.5, (1 + step) / (10 + step))
        wanted = decay * wanted + (1 - decay) * value
    torch.testing.assert_close(average.averages["weight"], torch.full((1, 2), wanted))
    assert set(average.averages) == {"weight"}
    with average.applied():
        torch.testing.assert_close(layer.weight.detach(), torch.full((1, 2), wanted))
    torch.testing.assert_close(layer.weight.detach(), torch.full((1, 2), 5.0))
    average.save(tmp_path)
    other = WeightAverage(linear(7.0), 0.5)
    other.load(tmp_path)
    torch.testing.assert_close(other.averages["weight"], average.averages["weight"])
    with pytest.raises(CheckpointError, match="other weights"):
        WeightAverage(torch.nn.Linear(3, 1), 0.5).load(tmp_path)
    (tmp_path / AVERAGE_FILE).unlink()
    with pytest.raises(CheckpointError, match="remove the checkpoint to begin again"):
        other.load(tmp_path)


def trained(windows, scratch_recipe, out, *, training="", extra="", stop_at=None):
    out.parent.mkdir(parents=True, exist_ok=True)
    path = out.parent / f"{out.name}.yaml"
    path.write_text(scratch_recipe(windows, out, extra=extra, training=training), "utf-8")

    def report(line):
        if stop_at and f"step {stop_at}/" in line:
            raise KeyboardInterrupt

    finetune(path, report=report)
    return {name: weight.detach() for name, weight in checkpoint.load(out).model.named_parameters()}


@pytest.mark.slow
def test_the_average_is_saved_and_survives_a_stop(windows, scratch_recipe, tmp_path):
    last = trained(windows, scratch_recipe, tmp_path / "last")
    averaged = trained(windows, scratch_recipe, tmp_path / "averaged", training="ema_decay: 0.9")
    name = "model.encoder.conv1.weight"
    assert not torch.allclose(last[name], averaged[name], atol=1e-4)
    settings = "ema_decay: 0.9, save_steps: 1"
    with pytest.raises(KeyboardInterrupt):
        trained(windows, scratch_recipe, tmp_path / "stopped", training=settings, stop_at=3)
    resumed = trained(windows, scratch_recipe, tmp_path / "stopped", training=settings)
    for each in averaged:
        torch.testing.assert_close(resumed[each], averaged[each])


def test_the_best_average_is_kept(windows, scratch_recipe, tmp_path):
    """With a decay near 1 each evaluation sees nearly the start; the best step's average is what is saved."""
    extra = f"evaluation: {{every_steps: 1, metric: loss, generate: false, dev_sets: {{same: {windows}}}}}"
    text = scratch_recipe(windows, tmp_path / "best", extra=extra, training="ema_decay: 0.9")
    path = tmp_path / "best.yaml"
    path.write_text(text.replace(f"data: {{train: {windows}}}", f"data: {{train: {windows}, dev: {windows}}}"), "utf-8")
    lines = []
    finetune(path, report=lines.append)
    saved = checkpoint.load(tmp_path / "best")
    assert saved.provenance["best"]["step"] in (1, 2, 3, 4)
    assert any(line.startswith("evaluation every 1 steps: dev 6 of 6 windows, same 6 of 6") for line in lines)
    assert any("same_loss" in line for line in lines)


def test_a_sharded_model_has_no_average():
    with pytest.raises(RecipeError, match="ema_decay: zero3 shards"):
        parse_recipe("{data: {train: t}, out: o, model: {base: b}, strategy: zero3, training: {ema_decay: 0.9}}")
