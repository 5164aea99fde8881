"""Precision and optimisers: what is trained in what, and what cannot run here is said in one sentence."""

from __future__ import annotations

import importlib.util
import json

import pytest
import torch
from tiny_whisper import build_checkpoint

from lsa_whisper import checkpoint
from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training.arguments import training_arguments
from lsa_whisper.finetuning.training.model import starting_checkpoint
from lsa_whisper.finetuning.training.precision import compute_dtype, convert_to_fp8
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


@pytest.mark.parametrize("precision", ["bf16", "pure-bf16"])
def test_saved_weights_have_the_trained_dtype(base, windows, tmp_path, precision):
    path = tmp_path / "r.yaml"
    path.write_text(RECIPE.format(windows, tmp_path / "out", base))
    out = finetune(path, set=[f"precision={precision}"], report=lambda _: None).out
    from safetensors import safe_open

    with safe_open(str(out / "model.safetensors"), framework="pt") as tensors:
        kinds = {tensors.get_slice(name).get_dtype() for name in tensors.keys()}  # noqa: SIM118
    assert kinds == ({"F32"} if precision == "bf16" else {"BF16"})
    losses = [json.loads(line).get("loss") for line in (out / "curve.jsonl").read_text().splitlines()]
    assert losses[2] < losses[0]


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
    path = tmp_path / "r.yaml"
    path.write_text(RECIPE.format(windows, tmp_path / "out", base))
    settings = [f"optimizer={optimizer}"]
    if optimizer == "adamw-8bit" and importlib.util.find_spec("bitsandbytes") is None:
        with pytest.raises(MissingExtraError, match=r"lsa-whisper\[quantize\]"):
            finetune(path, set=settings, report=lambda _: None)
        return
    out = finetune(path, set=settings, report=lambda _: None).out
    losses = [json.loads(line).get("loss") for line in (out / "curve.jsonl").read_text().splitlines()]
    assert losses[2] < losses[0]


@pytest.mark.parametrize(
    ("precision", "dtype"), [("fp32", "float32"), ("bf16", "bfloat16"), ("fp16", "float16"), ("pure-bf16", "bfloat16")]
)
def test_a_quantized_base_computes_in_the_type_of_autocast(base, precision, dtype):
    assert compute_dtype(recipe(base, "adapter.quantize=4bit", f"precision={precision}")) == dtype
