"""Settings of a recipe that are valid alone but not together; every message names the setting to change."""

from __future__ import annotations

from collections.abc import Iterator

from lsa_whisper.finetune.recipe.schema import Recipe

PRECISIONS = ("fp32", "bf16", "fp16", "pure-bf16", "fp8")
OPTIMIZERS = ("adamw", "adafactor", "adamw-8bit", "adamw-cpu")
_TWO_RECIPES = "train without an adapter first, then train an adapter on that checkpoint with a second recipe"
_SET_BY_RECIPE = {
    "output_dir": "the recipe's out sets it",
    "seed": "the recipe's seed sets it",
    "data_seed": "the recipe's seed sets it",
}
_UNSHARDED = ("single", "ddp")
_REPLICATED = (*_UNSHARDED, "zero2")


def conflicts(recipe: Recipe) -> Iterator[str]:
    """Yield every conflict between sections and between the recipe and its ``training`` arguments, key first."""
    yield from _layers(recipe)
    yield from _adapter(recipe)
    yield from _loss(recipe)
    yield from _precision(recipe)
    yield from _optimizer(recipe)
    yield from _training(recipe)
    if recipe.evaluation and not recipe.data.dev:
        yield "evaluation: needs data.dev, the manifest of the dev set"


def _layers(recipe: Recipe) -> Iterator[str]:
    if recipe.model.decoder_layers is None:
        return
    if recipe.model.scratch:
        yield "model.decoder_layers: a new model has the layers that model.scratch sets; leave this one out"
    if recipe.strategy not in _UNSHARDED:
        yield f"model.decoder_layers: {recipe.strategy} cannot add layers; use {' or '.join(_UNSHARDED)}"


def _adapter(recipe: Recipe) -> Iterator[str]:
    if recipe.adapter is None:
        return
    if recipe.model.scratch:
        yield "adapter: a new model must be trained in full; leave the adapter out"
    if recipe.model.freeze_encoder:
        yield "model.freeze_encoder: with an adapter all weights are frozen; use adapter.stacks instead"
    if recipe.model.top_layers is not None:
        yield "model.top_layers: with an adapter all weights are frozen; leave one of the two out"
    for name in ("decoder_layers", "context_s"):
        if getattr(recipe.model, name) is not None:
            yield f"model.{name}: a saved adapter does not contain it; {_TWO_RECIPES}"
    if recipe.model.ctc_weight:
        yield f"model.ctc_weight: with an adapter the new CTC head would stay random; {_TWO_RECIPES}"
    if recipe.adapter.quantize != "none" and recipe.strategy not in _UNSHARDED:
        yield f"adapter.quantize: {recipe.strategy} cannot shard quantized weights; use {' or '.join(_UNSHARDED)}"


def _loss(recipe: Recipe) -> Iterator[str]:
    if recipe.loss.label_smoothing and recipe.training.get("label_smoothing_factor"):
        yield "loss.label_smoothing: training.label_smoothing_factor sets it too; keep one"
    if recipe.loss.kl_to_base and recipe.strategy not in _REPLICATED:
        yield f"loss.kl_to_base: the base cannot be evaluated under {recipe.strategy}; use {', '.join(_REPLICATED)}"
    if recipe.loss.kl_to_base and recipe.model.scratch:
        yield "loss.kl_to_base: a new model has no base"


def _precision(recipe: Recipe) -> Iterator[str]:
    name = recipe.precision
    if name not in PRECISIONS:
        yield f"precision: must be one of {', '.join(PRECISIONS)}, not {name!r}"
    if name != "fp32" and {"bf16", "fp16"} & recipe.training.keys():
        yield "precision: training.bf16 or training.fp16 sets it too; keep one"
    if name in ("pure-bf16", "fp8") and recipe.strategy not in _UNSHARDED:
        yield f"precision: {name} needs strategy {' or '.join(_UNSHARDED)}; use bf16 with {recipe.strategy}"
    if name == "fp8" and recipe.adapter:
        yield "precision: fp8 needs full fine-tuning; use bf16 with an adapter"
    if name == "pure-bf16" and recipe.model.scratch:
        yield "precision: a new model cannot be trained in pure-bf16; use bf16"


def _optimizer(recipe: Recipe) -> Iterator[str]:
    name = recipe.optimizer
    if name not in OPTIMIZERS:
        yield f"optimizer: must be one of {', '.join(OPTIMIZERS)}, not {name!r}"
    if name == "adamw":
        return
    if "optim" in recipe.training:
        yield "optimizer: training.optim sets it too; keep one"
    if recipe.strategy not in _UNSHARDED:
        yield f"optimizer: {recipe.strategy} has its own AdamW; leave optimizer out"
    if name == "adamw-cpu":
        yield from _adamw_cpu(recipe)


def _adamw_cpu(recipe: Recipe) -> Iterator[str]:
    """Gradients are moved to the CPU during the backward pass, too early for clipping and for unscaling fp16."""
    if recipe.strategy != "single":
        yield "optimizer: adamw-cpu needs strategy single; with several processes use zero2 and offload.optimizer: cpu"
    if recipe.training.get("max_grad_norm"):
        yield "training.max_grad_norm: adamw-cpu cannot clip gradients; set it to 0"
    if recipe.precision == "fp16" or recipe.training.get("fp16"):
        yield "optimizer: adamw-cpu cannot unscale fp16 gradients; use bf16"


def _training(recipe: Recipe) -> Iterator[str]:
    for name, owner in _SET_BY_RECIPE.items():
        if name in recipe.training:
            yield f"training.{name}: {owner}; leave this one out"
    for name in ("per_device_train_batch_size", "gradient_accumulation_steps"):
        number = recipe.training.get(name, 1)
        if type(number) is not int or number < 1:
            yield f"training.{name}: must be a whole number, 1 or more, not {number!r}"
