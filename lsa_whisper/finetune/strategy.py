"""How a run is spread over processes and memory, as settings for one trainer."""

from __future__ import annotations

import importlib.util
import os
import socket
from typing import Any

from lsa_whisper.errors import MissingExtraError
from lsa_whisper.finetune.launch import is_launched
from lsa_whisper.finetune.recipe import Offload, Recipe


def arguments_for(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's strategy adds to ``Seq2SeqTrainingArguments``.

    Raises:
        MissingExtraError: If the strategy needs DeepSpeed and it is not installed.
    """
    if recipe.strategy in ("zero2", "zero3"):
        _require_deepspeed(recipe.strategy)
        return {"deepspeed": deepspeed_settings(recipe.strategy, recipe.offload)}
    return {}


def join_processes(recipe: Recipe) -> None:
    """Make this process one of the run's, where the strategy needs that before the model is loaded.

    DeepSpeed looks for MPI when a process was started alone, and on a CPU speaks through gloo; a free port on this
    machine will do for one process.
    """
    if recipe.strategy not in ("zero2", "zero3"):
        return
    _require_deepspeed(recipe.strategy)
    import deepspeed
    import torch

    if not is_launched():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    deepspeed.init_distributed(dist_backend=backend, auto_mpi_discovery=False)


def gathered(trainer: Any) -> dict[str, Any] | None:
    """Return the whole weights of a sharded model (every process must ask), ``None`` when they are whole already."""
    if not trainer.is_deepspeed_enabled:
        return None
    return dict(trainer.accelerator.get_state_dict(trainer.model_wrapped))


def leave_processes(accelerator: Any) -> None:
    """Take this process out of the run, when all have come to its end.

    The others wait for the one that saves, and not only out of courtesy: gloo's threads still hold the tensors of the
    last exchange and need Python's lock to let go of them. A process that tears its group down at once holds that lock
    while it waits for the threads, now and then forever.
    """
    accelerator.wait_for_everyone()
    accelerator.end_training()


def _require_deepspeed(strategy: str) -> None:
    if importlib.util.find_spec("deepspeed") is None:
        raise MissingExtraError(f"finetune with {strategy}", "DeepSpeed", "deepspeed")


def deepspeed_settings(strategy: str, offload: Offload) -> dict[str, Any]:
    """Return DeepSpeed's configuration; ``"auto"`` is filled in from the training arguments.

    >>> deepspeed_settings("zero3", Offload("cpu", "cpu"))["zero_optimization"]["offload_param"]["device"]
    'cpu'
    """
    import torch

    pin = torch.cuda.is_available()
    zero: dict[str, Any] = {
        "stage": 3 if strategy == "zero3" else 2,
        "overlap_comm": False,
        "contiguous_gradients": True,
    }
    if offload.optimizer != "none":
        zero["offload_optimizer"] = _place(offload.optimizer, offload.path, pin) | {"buffer_count": 4}
    if strategy == "zero3":
        zero["stage3_gather_16bit_weights_on_model_save"] = True
        if offload.parameters != "none":
            zero["offload_param"] = _place(offload.parameters, offload.path, pin)
    settings: dict[str, Any] = {
        "zero_optimization": zero,
        "bf16": {"enabled": "auto"},
        "fp16": {"enabled": "auto"},
        "gradient_clipping": "auto",
        "gradient_accumulation_steps": "auto",
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "optimizer": {"type": "AdamW", "params": dict.fromkeys(("lr", "betas", "eps", "weight_decay"), "auto")},
    }
    if "nvme" in (offload.optimizer, offload.parameters):
        zero |= _nvme_buckets(offload)
        settings["aio"] = {
            "block_size": 1048576,
            "queue_depth": 8,
            "single_submit": False,
            "overlap_events": True,
            "intra_op_parallelism": 1,
        }
    return settings


def _place(device: str, path: str | None, pin: bool) -> dict[str, Any]:
    place: dict[str, Any] = {"device": device, "pin_memory": pin}
    return place | {"nvme_path": path} if device == "nvme" else place


def _nvme_buckets(offload: Offload) -> dict[str, Any]:
    """Return bucket sizes for swapping; with prefetching left on, DeepSpeed runs out of swap buffers."""
    if offload.parameters != "nvme":
        return {"reduce_bucket_size": 5e7, "sub_group_size": 1e8}
    return {
        "reduce_bucket_size": 5e7,
        "sub_group_size": 5e7,
        "stage3_prefetch_bucket_size": 0,
        "stage3_max_live_parameters": 0,
        "stage3_max_reuse_distance": 0,
    }
