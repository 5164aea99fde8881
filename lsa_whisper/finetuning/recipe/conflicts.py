"""Settings of a recipe that are valid alone but not together; every message names the setting to change."""

from __future__ import annotations

from collections.abc import Iterator

from lsa_whisper.finetuning.recipe.schema import PipelineSettings, Recipe
from lsa_whisper.finetuning.recipe.sections import LAYERS
from lsa_whisper.finetuning.recipe.values import flat, similar_name

_TWO_RECIPES = "train without an adapter first, then train an adapter on that checkpoint with a second recipe"
_UNSHARDED = ("single", "ddp")
_REPLICATED = (*_UNSHARDED, "zero2")
_ZERO = ("zero2", "zero3")
_MODEL_PARALLEL = ("tensor_parallel", "pipeline")
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
    "zero_optimization.stage": "strategy",
    "zero_optimization.offload_optimizer.device": "offload.optimizer",
    "zero_optimization.offload_param.device": "offload.parameters",
    "zero_optimization.offload_optimizer.nvme_path": "offload.nvme_path",
    "zero_optimization.offload_param.nvme_path": "offload.nvme_path",
}
"""Entries of DeepSpeed's configuration that a setting of the recipe takes the place of."""
_DEEPSPEED_KEYS = (
    "activation_checkpointing",
    "aio",
    "amp",
    "autotuning",
    "checkpoint",
    "comms_logger",
    "communication_data_type",
    "compile",
    "compression_training",
    "csv_monitor",
    "data_efficiency",
    "data_types",
    "disable_allgather",
    "dump_state",
    "flops_profiler",
    "load_universal_checkpoint",
    "memory_breakdown",
    "pipeline",
    "prescale_gradients",
    "sparse_gradients",
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


def layers(recipe: Recipe) -> Iterator[str]:
    """Yield problems of ``model.decoder_layers``."""
    if recipe.model.decoder_layers is None:
        return
    if recipe.model.scratch:
        yield "model.decoder_layers: a new model has the layers that model.scratch sets; leave this one out"
    if recipe.strategy not in _UNSHARDED:
        yield f"model.decoder_layers: {recipe.strategy} cannot add layers; use {' or '.join(_UNSHARDED)}"


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
    if recipe.adapter.quantize != "none" and recipe.strategy not in _UNSHARDED:
        yield f"adapter.quantize: {recipe.strategy} cannot shard quantized weights; use {' or '.join(_UNSHARDED)}"


def model_parallel(recipe: Recipe) -> Iterator[str]:
    """Yield what layers divided among ranks exclude."""
    if recipe.tensor_parallel is not None and recipe.strategy != "tensor_parallel":
        yield "tensor_parallel: needs strategy tensor_parallel"
    if recipe.strategy not in _MODEL_PARALLEL:
        return
    if recipe.precision == "fp16":
        yield f"precision: fp16 cannot scale the gradients of {recipe.strategy}; use bf16"
    if recipe.adapter is None:
        return
    if recipe.adapter.token_embeddings:
        yield f"adapter.token_embeddings: {recipe.strategy} cannot train single embeddings; leave it out"
    if recipe.strategy == "tensor_parallel" and recipe.adapter.dora:
        yield "adapter.dora: needs the norms of whole matrices, which tensor_parallel divides; leave it out"
    if recipe.strategy == "tensor_parallel" and set(recipe.adapter.modules_to_save) & set(LAYERS):
        yield "adapter.modules_to_save: tensor_parallel cannot copy a divided layer; use adapter.target_modules"


def pipeline(recipe: Recipe) -> Iterator[str]:
    """Yield what stages on different ranks exclude."""
    if recipe.strategy != "pipeline":
        if recipe.pipeline != PipelineSettings():
            yield "pipeline: needs strategy pipeline"
        return
    windows, parts = recipe.training.per_device_train_batch_size, recipe.pipeline.micro_batches
    if parts is not None and parts > windows:
        yield (
            f"pipeline.micro_batches: {parts} need as many windows at least in a batch, but "
            f"training.per_device_train_batch_size is {windows}"
        )
    if recipe.model.ctc_weight:
        yield "model.ctc_weight: pipeline does not train the CTC head; leave it out"
    if recipe.evaluation and recipe.evaluation.generate:
        yield (
            "evaluation.generate: under pipeline no rank has all layers to decode with; set evaluation.generate: false "
            "and evaluation.metric: loss"
        )


def averaging(recipe: Recipe) -> Iterator[str]:
    """Yield what a moving average of the weights excludes."""
    if recipe.training.ema_decay is not None and recipe.strategy not in _UNSHARDED:
        yield f"training.ema_decay: {recipe.strategy} shards what is averaged; use {' or '.join(_UNSHARDED)}"


def attention(recipe: Recipe) -> Iterator[str]:
    """Yield what FlashAttention needs."""
    if recipe.model.attention == "flash_attention_2" and recipe.precision not in ("bf16", "fp16", "pure-bf16"):
        yield f"model.attention: flash_attention_2 computes in 16 bits; use precision bf16, not {recipe.precision}"
    if recipe.model.attention == "flash_attention_2" and recipe.training.use_cpu:
        yield "model.attention: flash_attention_2 needs a GPU; use sdpa with training.use_cpu"


def loss(recipe: Recipe) -> Iterator[str]:
    """Yield what the divergence to the base and the alignment loss exclude."""
    if recipe.loss.kl_to_base and recipe.strategy not in _REPLICATED:
        yield f"loss.kl_to_base: the base cannot be evaluated under {recipe.strategy}; use {', '.join(_REPLICATED)}"
    if recipe.loss.kl_to_base and recipe.model.scratch:
        yield "loss.kl_to_base: a new model has no base"
    if recipe.loss.alignment_weight and recipe.strategy in _MODEL_PARALLEL:
        yield f"loss.alignment_weight: {recipe.strategy} divides the heads among ranks; use ddp, zero3 or fsdp2"


def precision(recipe: Recipe) -> Iterator[str]:
    """Yield what a precision excludes."""
    name = recipe.precision
    if name in ("pure-bf16", "fp8") and recipe.strategy not in _UNSHARDED:
        yield f"precision: {name} needs strategy {' or '.join(_UNSHARDED)}; use bf16 with {recipe.strategy}"
    if name == "fp8" and recipe.adapter:
        # Of the three fp8 products of a layer, one is the gradient of a weight that an adapter freezes; PEFT's factors
        # are too narrow to gain, and scaling a frozen base again in each step costs what the others save.
        yield "precision: fp8 needs full fine-tuning; use bf16 with an adapter"
    if name == "pure-bf16" and recipe.model.scratch:
        yield "precision: a new model cannot be trained in pure-bf16; use bf16"


def optimizer(recipe: Recipe) -> Iterator[str]:
    """Yield what an optimizer excludes.

    With ``adamw-cpu`` gradients are moved to the CPU during the backward pass, too early for clipping and for unscaling
    fp16.
    """
    if recipe.optimizer != "adamw" and recipe.strategy not in _UNSHARDED:
        yield f"optimizer: {recipe.strategy} has its own AdamW; leave optimizer out"
    if recipe.optimizer != "adamw-cpu":
        return
    if recipe.strategy != "single":
        yield "optimizer: adamw-cpu needs strategy single; with several processes use zero2 and offload.optimizer: cpu"
    if recipe.training.max_grad_norm:
        yield "training.max_grad_norm: adamw-cpu cannot clip gradients; set it to 0"
    if recipe.precision == "fp16":
        yield "optimizer: adamw-cpu cannot unscale fp16 gradients; use bf16"


def deepspeed(recipe: Recipe) -> Iterator[str]:
    """Yield entries of ``deepspeed`` that other settings take the place of, and unknown ones."""
    if recipe.deepspeed and recipe.strategy not in _ZERO:
        yield "deepspeed: needs strategy zero2 or zero3"
    for key, _ in flat(recipe.deepspeed):
        owner = next((name for name in _DEEPSPEED_OWNERS if key == name or key.startswith(f"{name}.")), None)
        section = key.partition(".")[0]
        if owner:
            yield f"deepspeed.{key}: set {_DEEPSPEED_OWNERS[owner]} instead"
        elif section not in _DEEPSPEED_KEYS:
            similar = similar_name(section, _DEEPSPEED_KEYS)
            yield f"deepspeed.{section}: unknown key" + (f" (did you mean {similar!r}?)" if similar else "")
