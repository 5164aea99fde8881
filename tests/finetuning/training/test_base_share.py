"""The base's share of the finished model: each weight, or the adapter's update, lies between the base and the run."""

from __future__ import annotations

import importlib.util

import pytest
import torch

from benchmarks import parity
from lsa_whisper import checkpoint
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe

ADAPTER = "adapter={rank: 4, stacks: decoder}"


@pytest.fixture(scope="module")
def base(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    (folder / "base.yaml").write_text(scratch_recipe(windows, folder / "base"), "utf-8")
    finetune(folder / "base.yaml", report=lambda line: None)
    (folder / "next.yaml").write_text(
        f"{{data: {{train: {windows}}}, out: {folder / 'next'}, model: {{base: {folder / 'base'}}}, training: "
        "{use_cpu: true, max_steps: 2, per_device_train_batch_size: 2, learning_rate: 1e-2, logging_steps: 1}}",
        "utf-8",
    )
    return folder


def weights(path):
    return {name: weight.detach() for name, weight in checkpoint.load(path).model.named_parameters()}


def trained(base, name, share, *settings, processes=1):
    out = base / f"{name}-{share}"
    values = [f"training.base_share={share}", *settings]
    finetune(base / "next.yaml", set=values, out=out, processes=processes, report=lambda line: None)
    return weights(out)


def require_between(base, name, *settings, processes=1):
    start = weights(base / "base")
    alone, mixed = (trained(base, name, share, *settings, processes=processes) for share in (0, 0.25))
    for key, value in mixed.items():
        torch.testing.assert_close(value, alone[key].lerp(start[key], 0.25), atol=2e-5, rtol=1e-4, msg=key)
    assert any(not torch.equal(alone[key], start[key]) for key in start)


@pytest.mark.parametrize("settings", [(), (ADAPTER,), ("training.ema_decay=0.5",)], ids=["full", "adapter", "average"])
def test_weights_lie_between_the_base_and_the_run(base, settings):
    require_between(base, settings[0].partition("=")[0] if settings else "full", *settings)


@pytest.mark.slow
@pytest.mark.parametrize("strategy, adapter", [("zero3", ()), ("pipeline", ()), ("fsdp2", (ADAPTER,))])
def test_so_do_those_of_a_model_divided_over_ranks(base, strategy, adapter, monkeypatch):
    if strategy == "zero3" and importlib.util.find_spec("deepspeed") is None:
        pytest.skip("DeepSpeed is not installed")
    parity.build_here(monkeypatch.setenv)
    require_between(base, strategy, f"strategy={strategy}", *adapter, processes=2)


@pytest.mark.parametrize(
    "recipe, reason",
    [
        ("model: {scratch: {d_model: 16, encoder_layers: 1, decoder_layers: 1, attention_heads: 2}}", "has no base"),
        ("model: {base: b, decoder_layers: 8}", "lacks the new decoder layers"),
        ("model: {base: b}, adapter: {dora: true}", "dora cannot be scaled"),
        ("model: {base: b}, adapter: {token_embeddings: true}", "token_embeddings cannot be scaled"),
        ("model: {base: b}, adapter: {second_stage: continue}", "a continued adapter would lose"),
    ],
)
def test_what_has_no_weight_between_is_refused(recipe, reason):
    with pytest.raises(RecipeError, match=f"training.base_share: .*{reason}"):
        parse_recipe(f"{{data: {{train: t}}, out: o, {recipe}, training: {{base_share: 0.5}}}}")
