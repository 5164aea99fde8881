"""DeepSpeed's ZeRO-2 and ZeRO-3: configuration and its check, process group, CPU optimizer, weights."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from lsa_whisper.checkpoint import StoredWeights
from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning.distributed.launch import free_port
from lsa_whisper.finetuning.distributed.ranks import is_launched, rank
from lsa_whisper.finetuning.settings.run import OffloadSettings, RunSettings
from lsa_whisper.system import machine
from lsa_whisper.system.deepspeed_internals import init_deepspeed

AUTOCAST = {"bf16": "bfloat16", "fp16": "float16"}
"""The types that autocast computes in, by precision."""


def require_deepspeed(recipe: RunSettings) -> None:
    """Check that DeepSpeed can run the recipe on this machine.

    Raises:
        MissingExtraError: If DeepSpeed is not installed.
        RecipeError: If something is offloaded to NVMe and DeepSpeed's I/O extension cannot be compiled.
    """
    if importlib.util.find_spec("deepspeed") is None:
        raise MissingExtraError(f"finetune with {recipe.strategy}", "DeepSpeed", "deepspeed")
    if "nvme" in (recipe.offload.optimizer, recipe.offload.parameters) and not can_compile():
        raise RecipeError(
            "offload: DeepSpeed compiles its NVMe extension on first use; install g++, ninja and libaio-dev"
        )


def can_compile() -> bool:
    """Return whether DeepSpeed's extensions can be compiled on this machine."""
    return machine.compiler() is not None and machine.ninja() is not None


def init_process_group() -> None:
    """Initialize DeepSpeed's process group: with the launcher's ranks, or for this process alone."""
    if not is_launched():
        os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    if str(Path(sys.executable).parent) not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = machine.build_path()
    init_deepspeed("nccl" if torch.cuda.is_available() else "gloo")


def deepspeed_config(
    stage: int, offload: OffloadSettings, more: Mapping[str, Any] | None = None, precision: str = "fp32"
) -> dict[str, Any]:
    """Return DeepSpeed's configuration; transformers fills in ``"auto"`` from the training arguments.

    It has no optimizer: the trainer creates it as for every other strategy, so that weight decay and the recipe's
    ``optimizer`` have the same effect under all.

    The weights are in fp32, and autocast computes in 16 bits, as for every other strategy. DeepSpeed's own ``bf16`` and
    ``fp16`` round the weights when training starts, save the rounded ones, and add micro-batches up in 16 bits: for
    tiny.en the rounding moves weights by 2.8e-5, two steps at a learning rate of 1e-5 by 1.2e-5. The entries in
    ``more`` are merged into the configuration, section by section.

    >>> deepspeed_config(3, OffloadSettings("cpu", "cpu"))["zero_optimization"]["offload_param"]["device"]
    'cpu'
    """
    pin = torch.cuda.is_available()
    zero: dict[str, Any] = {"stage": stage, "overlap_comm": False, "contiguous_gradients": True}
    if offload.optimizer != "none":
        zero["offload_optimizer"] = _place(offload.optimizer, offload.nvme_path, pin) | {"buffer_count": 4}
    if stage == 3:
        zero["stage3_gather_16bit_weights_on_model_save"] = True
        if offload.parameters != "none":
            zero["offload_param"] = _place(offload.parameters, offload.nvme_path, pin)
    config: dict[str, Any] = {
        "zero_optimization": zero,
        "bf16": {"enabled": False},
        "fp16": {"enabled": False},
        "gradient_clipping": "auto",
        "gradient_accumulation_steps": "auto",
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
    }
    if precision in AUTOCAST:
        config["torch_autocast"] = {"enabled": True, "dtype": AUTOCAST[precision]}
    if "nvme" in (offload.optimizer, offload.parameters):
        zero |= _nvme_buckets(offload)
        config["aio"] = {
            "block_size": 1048576,
            "queue_depth": 8,
            "single_submit": False,
            "overlap_events": True,
            "intra_op_parallelism": 1,
        }
    return _merged(config, more or {})


def _merged(settings: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(settings)
    for name, value in more.items():
        nested = isinstance(value, Mapping) and isinstance(result.get(name), dict)
        result[name] = _merged(result[name], value) if nested else value
    return result


def _place(device: str, path: str | None, pin: bool) -> dict[str, Any]:
    place: dict[str, Any] = {"device": device, "pin_memory": pin}
    return place | {"nvme_path": path} if device == "nvme" else place


def _nvme_buckets(offload: OffloadSettings) -> dict[str, Any]:
    """Return bucket sizes for swapping; with prefetching, DeepSpeed runs out of swap buffers."""
    if offload.parameters != "nvme":
        return {"reduce_bucket_size": 5e7, "sub_group_size": 1e8}
    return {
        "reduce_bucket_size": 5e7,
        "sub_group_size": 5e7,
        "stage3_prefetch_bucket_size": 0,
        "stage3_max_live_parameters": 0,
        "stage3_max_reuse_distance": 0,
    }


def cpu_adam(recipe: RunSettings, arguments: Any) -> tuple[Any, dict[str, Any]] | None:
    """Return DeepSpeed's CPU Adam for an offloaded AdamW if it can be compiled, else ``None``.

    It uses several cores; without a compiler, torch's AdamW takes the same steps more slowly.
    """
    if recipe.offload.optimizer == "none" or "adamw_torch" not in str(arguments.optim.value) or not can_compile():
        return None
    from deepspeed.ops.adam import DeepSpeedCPUAdam

    betas = (arguments.adam_beta1, arguments.adam_beta2)
    return DeepSpeedCPUAdam, {
        "lr": arguments.learning_rate,
        "betas": betas,
        "eps": arguments.adam_epsilon,
        "adamw_mode": True,
    }


def gather_zero_weights(engine: Any, *, only_trained: bool) -> dict[str, Any]:
    """Return the gathered weights of an engine's model on rank 0; every rank must call this.

    Each weight is copied while it is gathered: parameters read from NVMe share one buffer.
    """
    import deepspeed

    weights = {}
    for name, weight in engine.module.named_parameters(remove_duplicate=False):
        if only_trained and not weight.requires_grad:
            continue
        with deepspeed.zero.GatheredParameters([weight]):
            if engine.global_rank == 0:
                weights[name] = weight.detach().to("cpu", copy=True)
    return weights


_AUTO = {"gradient_clipping": 1.0, "gradient_accumulation_steps": 1, "train_micro_batch_size_per_gpu": 1}
"""In place of what transformers fills in."""


def check_entries(entries: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Let DeepSpeed parse the configuration, and return if it can.

    ``entries`` are the recipe's ``deepspeed``, and a part of ``settings``, the whole configuration.

    Raises:
        RecipeError: With what DeepSpeed says of a wrong entry, or what the machine lacks.
    """
    from deepspeed.runtime.config import DeepSpeedConfig, DtypeEnum
    from deepspeed.runtime.zero.config import DeepSpeedZeroConfig
    from pydantic import ValidationError

    zero = settings["zero_optimization"]
    if not isinstance(zero, Mapping):
        raise RecipeError(f"deepspeed.zero_optimization: expected a mapping of keys, not {zero!r}")
    numbers = {name: value for name, value in settings.items() if value != "auto"} | _AUTO
    try:
        DeepSpeedZeroConfig(**zero)
        DeepSpeedConfig(numbers)
        DtypeEnum(settings.get("data_types", {}).get("grad_accum_dtype", "fp32"))
    except ValidationError as error:
        first = "zero_optimization" if error.title == DeepSpeedZeroConfig.__name__ else ""
        texts = (".".join(map(str, (first, *item["loc"]))).strip(".") + f": {item['msg']}" for item in error.errors())
        raise RecipeError(f"deepspeed.{', deepspeed.'.join(texts)}") from None
    except Exception as error:  # each section raises what its parser happens to raise
        reason = " ".join(str(error).split()).partition(". See http")[0] or type(error).__name__
        raise RecipeError(f"deepspeed: DeepSpeed refuses {', '.join(entries)} ({reason}); correct the entry") from None
    _check_machine(entries)


def _check_machine(entries: Mapping[str, Any]) -> None:
    """Raise if an entry needs a package or a GPU that is not here."""
    wandb = entries.get("wandb")
    if isinstance(wandb, Mapping) and wandb.get("enabled") and importlib.util.find_spec("wandb") is None:
        raise RecipeError("deepspeed.wandb: needs the package wandb, which is not installed; leave it out")
    quantized = [name for name, value in entries.get("zero_optimization", {}).items() if "quantized" in name and value]
    if quantized and not torch.cuda.is_available():
        raise RecipeError(f"deepspeed.zero_optimization.{quantized[0]}: needs a GPU, but this machine has none")


def partition_weights(model: Any, recipe: RunSettings, unread: StoredWeights | None) -> None:
    """Partition the weights of ``model`` over the ranks in place, one after the other, for ZeRO-3.

    DeepSpeed's engine would first copy the whole model to every GPU, and every rank would need the whole model on the
    host. The values that count are those of rank 0, which has not read the ``unread`` ones yet.

    Raises:
        CheckpointError: If one of them cannot be read.
    """
    import deepspeed

    settings = deepspeed_config(3, recipe.offload, recipe.deepspeed)
    settings = {name: settings[name] for name in ("zero_optimization", "aio") if name in settings}
    settings["train_micro_batch_size_per_gpu"] = recipe.training.per_device_train_batch_size
    device = deepspeed.get_accelerator().current_device_name()
    weights = _OneAtATime(model, unread, device)
    deepspeed.zero.Init(module=weights, config_dict_or_path=settings, dtype=torch.float32)
    for buffer in model.buffers():  # the engine moves no model that is partitioned
        buffer.data = buffer.data.to(device)


class _OneAtATime(torch.nn.Module):  # type: ignore[misc]
    """The weights of a model, each made when DeepSpeed, which partitions it at once, asks for it."""

    def __init__(self, model: torch.nn.Module, unread: StoredWeights | None, device: str):
        super().__init__()
        self._weights, self._unread = list(model.parameters()), unread
        self._device = device

    def parameters(self, recurse: bool = True) -> Iterator[torch.nn.Parameter]:
        """Yield the weights: of rank 0 with their values, of the other ranks to receive them."""
        for weight in self._weights:
            if rank() != 0:
                weight.data = torch.empty(weight.shape, dtype=torch.float32, device=self._device)
            elif self._unread is not None and weight in self._unread:
                weight.data = self._unread.read(weight).float()
            else:
                weight.data = weight.data.float()
            yield weight
