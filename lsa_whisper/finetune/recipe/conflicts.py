"""Settings of a recipe that are each right but do not go together; every message names the setting to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsa_whisper.finetune.recipe.schema import Recipe

PRECISIONS = ("fp32", "bf16", "fp16", "pure-bf16", "fp8")
OPTIMIZERS = ("adamw", "adafactor", "adamw-8bit", "adamw-cpu")
_TWO_RECIPES = "train with it but without an adapter, then an adapter on that checkpoint by a second recipe"
_SAID_ELSEWHERE = {
    "output_dir": "the recipe's out says where",
    "seed": "the recipe's seed says it",
    "data_seed": "the recipe's seed decides the order of the data, too",
}
_UNSHARDED = ("single", "ddp")
_REPLICATED = (*_UNSHARDED, "zero2")


def clashes(recipe: Recipe) -> Iterator[str]:
    """Yield every contradiction between layers, adapter, loss, evaluation, precision, optimizer and the rest."""
    yield from _layers(recipe)
    yield from _adapter(recipe)
    yield from _loss(recipe)
    yield from _precision(recipe)
    yield from _optimizer(recipe)
    yield from _training(recipe)
    if recipe.evaluation and not recipe.data.dev:
        yield "evaluation: needs data.dev, the manifest of the development windows"


def _layers(recipe: Recipe) -> Iterator[str]:
    if recipe.model.top_layers is not None and recipe.model.top_layers < 1:
        yield f"model.top_layers: 1 or more, not {recipe.model.top_layers}"
    if recipe.model.decoder_layers is None:
        return
    if recipe.model.scratch:
        yield "model.decoder_layers: new weights have the layers that model.scratch says"
    if recipe.strategy not in _UNSHARDED:
        yield f"model.decoder_layers: {recipe.strategy} cannot add layers; use {' or '.join(_UNSHARDED)}"


def _adapter(recipe: Recipe) -> Iterator[str]:
    if recipe.adapter is None:
        return
    if recipe.model.train != "all":
        yield "model.train: with an adapter all weights are frozen; say adapter.parts instead"
    if recipe.model.top_layers is not None:
        yield "model.top_layers: with an adapter all weights are frozen; leave one of the two out"
    for name in ("decoder_layers", "context_s"):
        if getattr(recipe.model, name) is not None:
            yield f"model.{name}: what is saved of an adapter does not hold it; {_TWO_RECIPES}"
    if recipe.model.ctc_weight:
        yield f"model.ctc_weight: its head is new, and with an adapter would stay random; {_TWO_RECIPES}"
    if recipe.adapter.quantize != "none" and recipe.strategy not in _UNSHARDED:
        yield f"adapter.quantize: {recipe.strategy} cannot shard quantised weights; use {' or '.join(_UNSHARDED)}"


def _loss(recipe: Recipe) -> Iterator[str]:
    if recipe.loss.smoothing and recipe.training.get("label_smoothing_factor"):
        yield "loss.smoothing: training.label_smoothing_factor says it too; keep one"
    if recipe.loss.stay_near_base and recipe.strategy not in _REPLICATED:
        yield f"loss.stay_near_base: the base cannot be asked under {recipe.strategy}; use {', '.join(_REPLICATED)}"
    if recipe.loss.stay_near_base and recipe.model.scratch:
        yield "loss.stay_near_base: new weights have no base to stay near"


def _precision(recipe: Recipe) -> Iterator[str]:
    word = recipe.precision
    if word not in PRECISIONS:
        yield f"precision: one of {', '.join(PRECISIONS)}, not {word!r}"
    if word != "fp32" and {"bf16", "fp16"} & recipe.training.keys():
        yield "precision: training.bf16 or training.fp16 says it too; keep one"
    if word in ("pure-bf16", "fp8") and recipe.strategy not in _UNSHARDED:
        yield f"precision: {word} is for {' and '.join(_UNSHARDED)}; use bf16 with {recipe.strategy}"
    if word == "fp8" and recipe.adapter:
        yield "precision: fp8 is for training the weights themselves; use bf16 with an adapter"
    if word == "pure-bf16" and recipe.model.scratch:
        yield "precision: new weights cannot be learned in pure-bf16; use bf16"


def _optimizer(recipe: Recipe) -> Iterator[str]:
    word = recipe.optimizer
    if word not in OPTIMIZERS:
        yield f"optimizer: one of {', '.join(OPTIMIZERS)}, not {word!r}"
    if word == "adamw":
        return
    if "optim" in recipe.training:
        yield "optimizer: training.optim says it too; keep one"
    if recipe.strategy not in _UNSHARDED:
        yield f"optimizer: {recipe.strategy} brings its own AdamW; leave optimizer out"
    if word == "adamw-cpu":
        yield from _adamw_cpu(recipe)


def _adamw_cpu(recipe: Recipe) -> Iterator[str]:
    """Gradients leave for the CPU during the backward pass: what is done to them afterwards comes too late."""
    if recipe.strategy != "single":
        yield "optimizer: adamw-cpu is for one process; use zero2 with offload.optimizer: cpu for several"
    if recipe.training.get("max_grad_norm"):
        yield "training.max_grad_norm: adamw-cpu cannot clip gradients; set it to 0"
    if recipe.precision == "fp16" or recipe.training.get("fp16"):
        yield "optimizer: adamw-cpu cannot undo fp16's loss scale; use bf16"


def _training(recipe: Recipe) -> Iterator[str]:
    for name, where in _SAID_ELSEWHERE.items():
        if name in recipe.training:
            yield f"training.{name}: {where}; leave this one out"
    for name in ("per_device_train_batch_size", "gradient_accumulation_steps"):
        number = recipe.training.get(name, 1)
        if type(number) is not int or number < 1:
            yield f"training.{name}: a whole number from 1 on, not {number!r}"
