"""Precision and optimizers: what is trained in what, what cannot run here, and runs whose numbers stop being numbers.

Such a run ends with a sentence, and its last good state stays.
"""

from __future__ import annotations

import importlib.util
import types
from contextlib import nullcontext

import pytest
import torch
from tiny_whisper import build_checkpoint
from training_run import logged

from benchmarks import parity
from lsa_whisper import checkpoint
from lsa_whisper.checkpoint.saving import verify_tensors
from lsa_whisper.errors import CheckpointError, MissingExtraError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.arguments import training_arguments
from lsa_whisper.finetuning.training.model import starting_checkpoint
from lsa_whisper.finetuning.training.precision import MAX_SKIPPED, FiniteSteps, compute_dtype, convert_to_fp8
from lsa_whisper.labels import Labels

RECIPE = """
data: {{train: {}}}
out: {}
model: {{base: {}}}
training: {{use_cpu: true, max_steps: 3, learning_rate: 1e-3, logging_steps: 1}}
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A base saved in fp16, as large-v3 is."""
    folder = tmp_path_factory.mktemp("base")
    whole = build_checkpoint(folder, multilingual=True)
    return checkpoint.export(whole, folder / "half", dtype="float16")


def recipe(base, *overrides, windows="t.jsonl", out="o"):
    return parse_recipe(RECIPE.format(windows, out, base), set=overrides)


@pytest.mark.parametrize(
    ("precision", "dtype"), [("fp32", torch.float32), ("bf16", torch.float32), ("pure-bf16", torch.bfloat16)]
)
def test_weights_are_fp32_by_default(base, precision, dtype):
    begun = starting_checkpoint(recipe(base, f"precision={precision}", "model.context_s=4"), Labels("chat"))
    assert {weight.dtype for weight in begun.model.state_dict().values()} == {dtype}


def learn(base, windows, folder, setting):
    """Return the folder of a model whose loss became less."""
    (folder / "r.yaml").write_text(RECIPE.format(windows, folder / "out", base))
    out = finetune(folder / "r.yaml", set=[setting], report=lambda _: None).out
    assert logged(out)[2] < logged(out)[0]
    return out


@pytest.mark.parametrize("precision", ["bf16", "pure-bf16"])
def test_saved_weights_have_the_trained_dtype(base, windows, tmp_path, precision):
    out = learn(base, windows, tmp_path, f"precision={precision}")
    from safetensors import safe_open

    with safe_open(str(out / "model.safetensors"), framework="pt") as tensors:
        kinds = {tensors.get_slice(name).get_dtype() for name in tensors.keys()}  # noqa: SIM118
    assert kinds == ({"F32"} if precision == "bf16" else {"BF16"})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("precision=fp16", "fp16 needs a GPU"),
        ("precision=fp8", r"compute capability 8\.9"),
        ("optimizer=adamw-cpu", "moves AdamW off a GPU|needs torchao"),
    ],
)
def test_settings_that_need_a_gpu_are_reported(base, tmp_path, override, problem):
    with pytest.raises((RecipeError, MissingExtraError), match=problem):
        training_arguments(recipe(base, override), tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("torchao") is None, reason="torchao is not installed")
def test_fp8_keeps_weights_and_names(base):
    """The numbers that such a GPU computes, emulated: near the whole ones, and not the same."""
    model = checkpoint.load(base).model.eval()
    given = {"input_features": torch.randn(1, 40, 800), "decoder_input_ids": torch.tensor([[300, 301, 40]])}
    before, names = model(**given).logits, set(model.state_dict())
    converted = convert_to_fp8(model, emulate=True)
    after = converted(**given).logits
    after.sum().backward()
    assert set(converted.state_dict()) == names and type(converted.proj_out) is torch.nn.Linear
    assert 0 < (after - before).abs().max() < 0.5 * before.abs().max()
    assert converted.get_encoder().layers[0].fc1.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("optimizer", ["adafactor", "adamw-8bit"])
def test_small_optimizers_learn(base, windows, tmp_path, optimizer):
    is_missing = optimizer == "adamw-8bit" and importlib.util.find_spec("bitsandbytes") is None
    with pytest.raises(MissingExtraError, match=r"lsa-whisper\[quantize\]") if is_missing else nullcontext():
        learn(base, windows, tmp_path, f"optimizer={optimizer}")


@pytest.mark.parametrize(
    ("precision", "dtype"), [("fp32", "float32"), ("bf16", "bfloat16"), ("fp16", "float16"), ("pure-bf16", "bfloat16")]
)
def test_a_quantized_base_computes_in_the_type_of_autocast(base, precision, dtype):
    assert compute_dtype(recipe(base, "adapter.quantize=4bit", f"precision={precision}")) == dtype


ANY_RECIPE = "{data: {train: t}, out: o, model: {base: m}}"
STATE = types.SimpleNamespace(global_step=6)


def take(watch, loss, norm=1.0):
    watch.add_loss(torch.tensor(loss))
    watch.recorded_norm(lambda: torch.tensor(norm))()
    watch.on_pre_optimizer_step(None, STATE, None)


def test_a_run_that_diverges_stops_and_keeps_its_last_good_state(windows, scratch_recipe, tmp_path):
    path, out, lines = tmp_path / "r.yaml", tmp_path / "out", []
    path.write_text(scratch_recipe(windows, out))
    with pytest.raises(RecipeError, match=r"step [234]: the (loss|gradient) is .*learning_rate.*1e\+30.*checkpoint-1 "):
        finetune(path, set=["training.learning_rate=1e30"], report=lines.append)
    assert not out.exists() and not any("loss 0.0000" in line for line in lines)
    (kept,) = out.with_name("out.unfinished").glob("checkpoint-*")
    verify_tensors(kept)


@pytest.mark.parametrize(("loss", "norm"), [(float("nan"), 1.0), (float("inf"), 1.0), (2.0, float("inf")), (2.0, -1.0)])
def test_the_first_step_that_is_not_finite_is_named(tmp_path, loss, norm):
    watch = FiniteSteps(parse_recipe(ANY_RECIPE, set=["precision=bf16"]), tmp_path, print)
    take(watch, 2.0)
    with pytest.raises(RecipeError, match="step 7: the"):
        take(watch, loss, norm)


def test_a_step_that_deepspeed_discards_is_no_better(tmp_path):
    """Its norm is the last one that was finite."""
    watch = FiniteSteps(parse_recipe(ANY_RECIPE, set=["precision=bf16"]), tmp_path, print)
    watch.add_loss(torch.tensor(2.0))
    with pytest.raises(RecipeError, match="step 7: the gradient is not finite"):
        watch.on_pre_optimizer_step(None, STATE, None, optimizer=types.SimpleNamespace(step_was_overflow=True))


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed")
def test_a_run_under_zero_that_diverges_stops_too(tmp_path, monkeypatch):
    parity.build_here(monkeypatch.setenv)
    settings = [*parity.ZERO3, "precision=bf16", "training.learning_rate=1e30"]
    with pytest.raises(
        RecipeError, match=r"step [234]: the (loss|gradient) is .*checkpoint-1 holds the last good state"
    ):
        finetune(parity.prepare(tmp_path), set=settings, out=tmp_path / "out", force=True, report=lambda _: None)


def test_steps_that_fp16_skips_are_not_an_error_unless_it_never_recovers(tmp_path):
    lines = []
    watch = FiniteSteps(parse_recipe(ANY_RECIPE, set=["precision=fp16"]), tmp_path, lines.append)
    for _ in range(MAX_SKIPPED):
        take(watch, 2.0, float("inf"))
    take(watch, 2.0)
    assert watch.skipped == 0
    watch.on_log(None, STATE, None)
    watch.on_log(None, STATE, None)
    assert lines == [f"fp16: {MAX_SKIPPED} steps overflowed and were skipped; each halves the loss scale"]
    for _ in range(MAX_SKIPPED):
        take(watch, float("nan"), float("nan"))
    with pytest.raises(RecipeError, match="at every loss scale, so training has stopped; use precision: bf16"):
        take(watch, float("nan"), float("nan"))


def test_weights_that_are_not_numbers_are_not_saved(windows, scratch_recipe, tmp_path):
    (tmp_path / "r.yaml").write_text(scratch_recipe(windows, tmp_path / "out"))
    start = checkpoint.load(finetune(tmp_path / "r.yaml", report=lambda _: None).out)
    with torch.no_grad():
        start.model.model.decoder.layers[0].fc1.weight[0, 0] = float("nan")
    parts = {"feature_extractor": start.feature_extractor, "tokenizer": start.tokenizer, "labels": start.labels}
    with pytest.raises(CheckpointError, match=r"not numbers \(model\.decoder\.layers\.0\.fc1\.weight\)"):
        checkpoint.save(tmp_path / "broken", model=start.model, **parts)
    assert not (tmp_path / "broken").exists()
