"""DeepSpeed's ZeRO-2 and ZeRO-3: configuration, process group, CPU optimizer, and gathered weights."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsa_whisper.errors import MissingExtraError, RecipeError
from lsa_whisper.finetuning.distributed.launch import free_port
from lsa_whisper.finetuning.distributed.ranks import is_launched
from lsa_whisper.system import machine
from lsa_whisper.system.deepspeed_internals import init_deepspeed

if TYPE_CHECKING:
    from lsa_whisper.finetuning.recipe import OffloadSettings, Recipe


AUTOCAST = {"bf16": "bfloat16", "fp16": "float16"}
"""The types that autocast computes in, by precision."""


def require_deepspeed(recipe: Recipe) -> None:
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
    import torch

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
    tiny.en the rounding moves weights by 2.8e-5, two steps at a learning rate of 1e-5 by 1.2e-5.

    Args:
        stage: Of ZeRO, 2 or 3.
        offload: Where the optimizer and the weights are kept.
        more: Entries that are merged into the configuration, section by section.
        precision: The recipe's.

    >>> from lsa_whisper.finetuning.recipe import OffloadSettings
    >>> deepspeed_config(3, OffloadSettings("cpu", "cpu"))["zero_optimization"]["offload_param"]["device"]
    'cpu'
    """
    import torch

    pin = torch.cuda.is_available()
    zero: dict[str, Any] = {
        "stage": stage,
        "overlap_comm": False,
        "contiguous_gradients": True,
    }
    if offload.optimizer != "none":
        zero["offload_optimizer"] = _place(offload.optimizer, offload.nvme_path, pin) | {"buffer_count": 4}
    if stage == 3:
        zero["stage3_gather_16bit_weights_on_model_save"] = True
        if offload.parameters != "none":
            zero["offload_param"] = _place(offload.parameters, offload.nvme_path, pin)
    found: dict[str, Any] = {
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
        found["torch_autocast"] = {"enabled": True, "dtype": AUTOCAST[precision]}
    if "nvme" in (offload.optimizer, offload.parameters):
        zero |= _nvme_buckets(offload)
        found["aio"] = {
            "block_size": 1048576,
            "queue_depth": 8,
            "single_submit": False,
            "overlap_events": True,
            "intra_op_parallelism": 1,
        }
    return _merged(found, more or {})


def _merged(settings: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(settings)
    for name, value in more.items():
        both = isinstance(value, Mapping) and isinstance(found.get(name), dict)
        found[name] = _merged(found[name], value) if both else value
    return found


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


def cpu_adam(recipe: Recipe, arguments: Any) -> tuple[Any, dict[str, Any]] | None:
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

    found = {}
    for name, weight in engine.module.named_parameters(remove_duplicate=False):
        if only_trained and not weight.requires_grad:
            continue
        with deepspeed.zero.GatheredParameters([weight]):
            if engine.global_rank == 0:
                found[name] = weight.detach().to("cpu", copy=True)
    return found
