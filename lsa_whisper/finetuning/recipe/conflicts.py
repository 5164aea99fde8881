"""Settings of a recipe that are valid alone but not together; every message names the setting to change."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from lsa_whisper.finetuning.recipe.schema import Recipe
from lsa_whisper.finetuning.settings.values import did_you_mean, flat
from lsa_whisper.finetuning.strategies import names_of, strategy_of

_TWO_RECIPES = "train without an adapter first, then train an adapter on that checkpoint with a second recipe"
_DEEPSPEED_OWNERS = {
    "train_batch_size": "training.per_device_train_batch_size and training.gradient_accumulation_steps",
    "train_micro_batch_size_per_gpu": "training.per_device_train_batch_size",
    "gradient_accumulation_steps": "training.gradient_accumulation_steps",
    "gradient_clipping": "training.max_grad_norm",
    "optimizer": "training.learning_rate, training.weight_decay and optimizer",
    "scheduler": "training.lr_scheduler_type and training.warmup_steps",
    "bf16": "precision: bf16",
    "fp16": "precision: fp16",
    "fp32": "precision: fp32",
    "torch_autocast.enabled": "precision",
    "torch_autocast.dtype": "precision",
    "zero_optimization.stage": "strategy",
    "zero_optimization.offload_optimizer.device": "offload.optimizer",
    "zero_optimization.offload_param.device": "offload.parameters",
    "zero_optimization.offload_optimizer.nvme_path": "offload.nvme_path",
    "zero_optimization.offload_param.nvme_path": "offload.nvme_path",
}
"""Entries of DeepSpeed's configuration that a setting of the recipe takes the place of."""
_DEEPSPEED_REFUSED = {
    "amp": "DeepSpeed no longer has it; set precision instead",
    "autotuning": "it needs DeepSpeed's own launcher; leave it out",
    "compression_training": "DeepSpeed no longer has it; leave it out",
    "data_efficiency": "this trainer draws the windows; leave it out",
    "load_universal_checkpoint": "a run resumes by itself; leave it out",
    "pipeline": "set strategy: pipeline instead",
    "prescale_gradients": "ZeRO does not have it; leave it out",
    "sparse_gradients": "DeepSpeed no longer has it; leave it out",
}
"""Entries that do nothing here, or end a run after its model is loaded."""
_DEEPSPEED_KEYS = (
    "activation_checkpointing",
    "aio",
    "checkpoint",
    "comms_logger",
    "communication_data_type",
    "compile",
    "csv_monitor",
    "data_types",
    "disable_allgather",
    "dump_state",
    "flops_profiler",
    "memory_breakdown",
    "steps_per_print",
    "tensorboard",
    "torch_autocast",
    "wall_clock_breakdown",
    "wandb",
    "zero_allow_untested_optimizer",
    "zero_force_ds_cpu_optimizer",
    "zero_optimization",
)
"""The other sections of DeepSpeed's configuration; it ignores unknown ones without a word."""
_DEEPSPEED_SECTIONS = {
    "aio": ("block_size", "queue_depth", "single_submit", "overlap_events", "intra_op_parallelism", "use_gds"),
    "data_types": ("grad_accum_dtype",),
    "torch_autocast": ("lower_precision_safe_modules",),
}
"""The keys of sections in which it ignores unknown ones, too."""


def _with_whole_state() -> str:
    return " or ".join(names_of(lambda strategy: strategy.has_whole_state))


def layers(recipe: Recipe) -> Iterator[str]:
    """Yield problems of ``model.decoder_layers``."""
    if recipe.model.decoder_layers is None:
        return
    if recipe.model.scratch:
        yield "model.decoder_layers: a new model has the layers that model.scratch sets; leave this one out"
    if not strategy_of(recipe).has_whole_state:
        yield f"model.decoder_layers: {recipe.strategy} cannot add layers; use {_with_whole_state()}"


def adapter(recipe: Recipe) -> Iterator[str]:
    """Yield what an adapter excludes."""
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
    if recipe.adapter.quantize != "none" and not strategy_of(recipe).has_whole_state:
        yield f"adapter.quantize: {recipe.strategy} cannot shard quantized weights; use {_with_whole_state()}"


def foreign(recipe: Recipe, setting: str) -> Iterator[str]:
    """Yield the problem of a setting that the recipe changes and that its strategy does not have."""
    is_changed = getattr(recipe, setting) != getattr(Recipe(recipe.data, recipe.out, recipe.model), setting)
    if is_changed and setting not in strategy_of(recipe).own_settings:
        yield f"{setting}: needs strategy {' or '.join(names_of(lambda strategy: setting in strategy.own_settings))}"


def training(recipe: Recipe) -> Iterator[str]:
    """Yield settings of ``training`` that would do nothing, or undo what is learned."""
    settings = recipe.training
    if settings.save_steps is not None and settings.save_strategy not in ("auto", "steps"):
        yield f"training.save_steps: not used with save_strategy: {settings.save_strategy}; leave one of the two out"
    if settings.lr_scheduler_type == "constant" and settings.warmup_steps:
        yield "training.warmup_steps: the schedule constant has no warm-up; use constant_with_warmup"
    if settings.lr_scheduler_type in ("constant", "constant_with_warmup") and settings.lr_scheduler_kwargs:
        yield f"training.lr_scheduler_kwargs: {settings.lr_scheduler_type} has no settings; leave it out"
    for key, value in settings.lr_scheduler_kwargs.items():
        if isinstance(value, int | float) and not (math.isfinite(value) and value >= 0):
            yield f"training.lr_scheduler_kwargs.{key}: must be 0 or more, not {value:g}"


def prompt(recipe: Recipe) -> Iterator[str]:
    """Yield a special token in the text that the decoder reads before each window."""
    if token := re.search(r"<\|[^<>|]*\|>", recipe.data.prompt or ""):
        yield f"data.prompt: the special token {token.group()} in it; remove it"


def averaging(recipe: Recipe) -> Iterator[str]:
    """Yield what a moving average of the weights, and a share of the base's, exclude."""
    if recipe.training.ema_decay is not None and not strategy_of(recipe).has_whole_state:
        yield f"training.ema_decay: {recipe.strategy} shards what is averaged; use {_with_whole_state()}"
    if recipe.training.base_share:
        yield from (f"training.base_share: {reason}" for reason in _not_of_base(recipe))


def _not_of_base(recipe: Recipe) -> Iterator[str]:
    """Yield why the trained weights cannot be interpolated with the base's."""
    if recipe.model.scratch is not None:
        yield "a new model has no base"
    if recipe.model.decoder_layers is not None:
        yield "the base lacks the new decoder layers; leave out model.decoder_layers"
    for name in ("dora", "token_embeddings"):
        if getattr(recipe.adapter, name, False):
            yield f"an adapter with {name} cannot be scaled; leave one of the two out"
    if recipe.adapter is not None and recipe.adapter.second_stage == "continue":
        yield "a continued adapter would lose of its first stage, too; leave it out, or use second_stage: stack"


def attention(recipe: Recipe) -> Iterator[str]:
    """Yield what FlashAttention needs."""
    if recipe.model.attention == "flash_attention_2" and recipe.precision not in ("auto", "bf16", "fp16", "pure-bf16"):
        yield f"model.attention: flash_attention_2 computes in 16 bits; use precision bf16, not {recipe.precision}"
    if recipe.model.attention == "flash_attention_2" and recipe.training.use_cpu:
        yield "model.attention: flash_attention_2 needs a GPU; use sdpa with training.use_cpu"


def loss(recipe: Recipe) -> Iterator[str]:
    """Yield what the divergence to the base and the alignment loss exclude."""
    if recipe.loss.kl_to_base and not strategy_of(recipe).computes_base:
        able = ", ".join(names_of(lambda strategy: strategy.computes_base))
        yield f"loss.kl_to_base: the base cannot be evaluated under {recipe.strategy}; use {able}"
    if recipe.loss.kl_to_base and recipe.model.scratch:
        yield "loss.kl_to_base: a new model has no base"
    if recipe.loss.alignment_weight and strategy_of(recipe).divides_layers:
        yield f"loss.alignment_weight: {recipe.strategy} divides the heads among ranks; use ddp, zero3 or fsdp2"


def strategy_precision(recipe: Recipe) -> Iterator[str]:
    """Yield the problem of a precision that the strategy does not train in."""
    strategy, name = strategy_of(recipe), recipe.precision
    if name not in (*strategy.precisions, "auto"):
        yield strategy.precision_problem(name, " or ".join(names_of(lambda other: name in other.precisions)))


def precision(recipe: Recipe) -> Iterator[str]:
    """Yield what a precision excludes."""
    name = recipe.precision
    if name == "fp8" and recipe.adapter:
        # Of the three fp8 products of a layer, one is the gradient of a weight that an adapter freezes; PEFT's factors
        # are too narrow to gain, and scaling a frozen base again in each step costs what the others save.
        yield "precision: fp8 needs full fine-tuning; use bf16 with an adapter"
    if name == "pure-bf16" and recipe.model.scratch:
        yield "precision: a new model cannot be trained in pure-bf16; use bf16"
    if recipe.steps_in_backward:
        yield from _in_backward(recipe)


def _in_backward(recipe: Recipe) -> Iterator[str]:
    """Yield what excludes steps that are taken as soon as a gradient is known."""
    if not strategy_of(recipe).is_single:
        yield f"precision: pure-bf16 without an adapter needs strategy single; use bf16 with {recipe.strategy}"
    if recipe.training.gradient_accumulation_steps > 1:
        yield "training.gradient_accumulation_steps: pure-bf16 keeps no gradients to accumulate; set it to 1"
    if recipe.auto_micro_batch:
        yield "auto_micro_batch: pure-bf16 keeps no gradients to accumulate; leave it out"
    if recipe.training.max_grad_norm:
        yield "training.max_grad_norm: pure-bf16 keeps no gradients to clip; leave it out or set it to 0"
    if recipe.optimizer not in ("adamw", "adafactor"):
        yield f"optimizer: pure-bf16 steps with adafactor or adamw, not {recipe.optimizer}"


def optimizer(recipe: Recipe) -> Iterator[str]:
    """Yield what an optimizer excludes.

    With ``adamw-cpu`` gradients are moved to the CPU during the backward pass, too early for clipping and for unscaling
    fp16.
    """
    if recipe.optimizer != "adamw" and not strategy_of(recipe).has_whole_state:
        yield f"optimizer: {recipe.strategy} has its own AdamW; leave optimizer out"
    if recipe.optimizer != "adamw-cpu":
        return
    if not strategy_of(recipe).is_single:
        yield "optimizer: adamw-cpu needs strategy single; with several processes use zero2 and offload.optimizer: cpu"
    if recipe.training.max_grad_norm:
        yield "training.max_grad_norm: adamw-cpu cannot clip gradients; set it to 0"
    if recipe.precision == "fp16":
        yield "optimizer: adamw-cpu cannot unscale fp16 gradients; use bf16"


def deepspeed(recipe: Recipe) -> Iterator[str]:
    """Yield entries of ``deepspeed`` that other settings take the place of, and unknown ones."""
    yield from foreign(recipe, "deepspeed")
    for key, _ in flat(recipe.deepspeed):
        owner = next((name for name in _DEEPSPEED_OWNERS if key == name or key.startswith(f"{name}.")), None)
        section = key.partition(".")[0]
        if owner:
            yield f"deepspeed.{key}: set {_DEEPSPEED_OWNERS[owner]} instead"
        elif section in _DEEPSPEED_REFUSED:
            yield f"deepspeed.{section}: {_DEEPSPEED_REFUSED[section]}"
        elif section not in _DEEPSPEED_KEYS:
            yield f"deepspeed.{section}: unknown key{did_you_mean(section, _DEEPSPEED_KEYS)}"
        elif section in _DEEPSPEED_SECTIONS and key.partition(".")[2] not in (keys := _DEEPSPEED_SECTIONS[section]):
            yield f"deepspeed.{key}: unknown key; {section} is a mapping with {', '.join(keys)}"
