"""On a card without bfloat16 every part of the project computes in fp16, and a loss that overflows recovers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch
import yaml
from old_card import mock_card
from torch import nn
from training_run import logged

from benchmarks import parity
from lsa_whisper import doctor
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import estimate_memory, finetune
from lsa_whisper.finetuning.catalog import list_recipes
from lsa_whisper.finetuning.from_corpus import plan
from lsa_whisper.finetuning.recipe import parse_recipe, read_recipe
from lsa_whisper.finetuning.strategies.fsdp2 import reduce_in_fp32
from lsa_whisper.finetuning.training.precision import begin_at, precision_arguments, with_precision
from lsa_whisper.system.shipped import recipes as shipped_recipes

LARGE = "{data: {train: t}, out: o, model: {base: openai/whisper-large-v3}, adapter: {rank: 32}, precision: auto}"


@pytest.fixture
def v100(monkeypatch):
    mock_card(monkeypatch)


def device_row():
    (row,) = [row for row in doctor._devices() if row.name == "device 0"]
    return row


def test_everything_agrees_on_fp16_for_a_v100(v100, windows, tmp_path, monkeypatch):
    """doctor, transcribe, a run without a recipe, the shipped recipes and the plans."""
    assert "fp16 (no bf16 of its own)" in device_row().fact
    assert resolve_device("auto", "auto") == ("cuda", "float16")
    for name, path in shipped_recipes().items():
        if name.startswith("whisper-") and read_recipe(path).precision == "pure-bf16":
            with pytest.raises(RecipeError, match=r"has no bf16 of its own; use auto or fp16"):
                precision_arguments(read_recipe(path))
        elif name.startswith("whisper-"):
            recipe = with_precision(read_recipe(path))
            assert recipe.precision == "fp16", name
            precision_arguments(recipe)
    monkeypatch.setattr(plan, "run_minutes", lambda *_: None)  # it multiplies matrices on the card
    written = yaml.safe_load(plan.plan_recipe(windows.parent, "openai/whisper-small", tmp_path / "run", lambda _: None))
    assert written["precision"] == "fp16"
    plans = [entry.plan for entry in list_recipes().entries if entry.name.startswith("whisper-")]
    assert all(plan.endswith("fp16") for plan in plans if not plan.endswith("pure-bf16"))
    names = [plan.name for plan in estimate_memory("large-v3", gpu_memory=32, host_memory=64).plans]
    assert any(name.endswith("fp16") for name in names) and not any("bf16" in name for name in names)
    assert "fp16" in estimate_memory("large-v3", gpu_memory=32, host_memory=64).table()


def test_a_card_with_bf16_and_a_machine_without_one_have_other_types(monkeypatch):
    assert with_precision(parse_recipe(LARGE)).precision == "fp32" or torch.cuda.is_available()
    mock_card(monkeypatch, capability=(8, 0), name="A100", built_for=["sm_80"])
    assert with_precision(parse_recipe(LARGE)).precision == "bf16"
    assert resolve_device("auto", "auto") == ("cuda", "bfloat16")
    assert device_row().state == "ok" and "bf16" in device_row().fact
    with_cpu = parse_recipe(LARGE, set=["training.use_cpu=true"])
    assert with_precision(with_cpu).precision == "fp32"


@pytest.mark.parametrize(
    ("capability", "built_for", "remedy"),
    [
        ((7, 0), ["sm_75", "sm_80", "compute_120"], "pip install 'torch<2.11'"),
        ((6, 0), ["sm_75", "sm_80"], "download.pytorch.org/whl/cu126"),
        ((7, 0), ["sm_50", "sm_70", "sm_80"], None),
        ((8, 6), ["sm_80", "sm_90"], None),
        ((12, 0), ["sm_90"], "pip install --upgrade torch"),
    ],
)
def test_doctor_names_the_last_torch_that_serves_the_card(monkeypatch, capability, built_for, remedy):
    mock_card(monkeypatch, capability=capability, built_for=built_for)
    row = device_row()
    assert row.state == ("problem" if remedy else "ok")
    assert remedy is None or (remedy in row.remedy and f"sm_{capability[0]}{capability[1]}" in row.fact)


def test_what_cannot_be_trained_in_fp16_is_one_sentence(v100):
    recipe = parse_recipe(LARGE, set=["adapter=null", "strategy=pipeline", "precision=auto"])
    with pytest.raises(RecipeError, match="precision: auto, here fp16: precision: fp16 cannot scale"):
        with_precision(recipe)
    with pytest.raises(RecipeError, match="has no bf16 of its own; use auto or fp16"):
        precision_arguments(parse_recipe(LARGE, set=["precision=bf16"]))


def test_fsdp2_adds_fp16_gradients_up_in_fp32():
    settings = {}
    reduce_in_fp32(settings, "fp16")
    policy = settings["mixed_precision_policy"]
    assert (policy.param_dtype, policy.reduce_dtype) == (torch.float16, torch.float32)


def test_torchs_scaler_begins_at_the_recipes_scale_and_recovers_from_an_overflow():
    """As it runs under single, ddp and fsdp2, here on the CPU."""
    weight, scaler = nn.Parameter(torch.ones(1)), torch.amp.GradScaler("cpu")
    begin_at(scaler, 2.0**40)
    optimizer, skipped = torch.optim.SGD([weight], lr=0.1), 0
    for _ in range(40):
        optimizer.zero_grad()
        scaler.scale((weight * 3).half().sum() * 1.0).backward()
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        skipped += scaler.get_scale() < before
    assert 0 < skipped < 40 and weight.item() < 1 and scaler.get_scale() < 2.0**40


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")
@pytest.mark.parametrize("stage", [parity.ZERO3, ("strategy=zero2",)], ids=["zero3", "zero2"])
def test_zero_in_fp16_recovers_from_an_overflow_and_learns_as_in_fp32(tmp_path, stage, monkeypatch):
    """Too large a scale is halved, a step each, until nothing overflows; then the steps are those of fp32."""
    parity.build_here(monkeypatch.setenv)
    recipe = parity.prepare(tmp_path)

    def curve(steps, *settings):
        out = tmp_path / f"{steps}-{len(settings)}"
        settings = [*stage, f"training.max_steps={steps}", *settings]
        finetune(recipe, set=settings, out=out, force=True, report=lambda _: None)
        return list(zip(logged(out), logged(out, "grad_norm"), strict=True))

    for one, other in zip(curve(3), curve(3, "precision=fp16"), strict=True):
        assert other == pytest.approx(one, rel=1e-3)
    rows = curve(14, "precision=fp16", "training.loss_scale=1e8")
    skipped = [norm is None for _, norm in rows]
    assert skipped[0] and not any(skipped[12:]) and rows[13][0] < rows[0][0] - 0.2


def test_the_page_about_cards_states_the_plans_figures():
    page = Path("docs/cards.md").read_text("utf-8")
    for model in ("small", "turbo", "medium", "large-v3"):
        plans = {plan.name: plan for plan in estimate_memory(model, gpu_memory=80, host_memory=500, batch_size=1).plans}
        chosen = [plans[f"{name}, bf16"] for name in ("single, LoRA r32", "single", "zero3, all on cpu")]
        figures = [f"{plan.gpu_gib:.1f}" for plan in chosen] + [f"{chosen[-1].host_gib:.1f}"]
        assert f"| {model} | {' | '.join(figures)} |" in page
