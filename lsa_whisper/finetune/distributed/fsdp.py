"""PyTorch's fully sharded data parallel, second version, through accelerate."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetune.recipe import Recipe


def fsdp_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what ``fsdp2`` adds to the training arguments.

    Raises:
        RecipeError: If ``hybrid_shard`` is asked for and the nodes do not have as many processes each.
    """
    layers = ["WhisperEncoderLayer", "WhisperDecoderLayer"]
    settings: dict[str, Any] = {
        "version": 2,
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "transformer_layer_cls_to_wrap": layers,
        "reshard_after_forward": recipe.fsdp.sharding_strategy != "shard_grad_op",
        "state_dict_type": "FULL_STATE_DICT",
        "cpu_offload": recipe.offload.parameters == "cpu",
        "cpu_ram_efficient_loading": recipe.fsdp.cpu_ram_efficient_loading,
    }
    found: dict[str, Any] = {"fsdp": True, "fsdp_config": settings}
    if recipe.fsdp.sharding_strategy == "hybrid_shard":
        from accelerate.parallelism_config import ParallelismConfig

        nodes, each = _nodes()
        found["parallelism_config"] = ParallelismConfig(dp_replicate_size=nodes, dp_shard_size=each)
    return found


def _nodes() -> tuple[int, int]:
    """Return how many nodes there are and how many processes on each."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    each = int(os.environ.get("LOCAL_WORLD_SIZE", processes))
    if each < 2 or processes // each < 2 or processes % each:
        raise RecipeError(
            f"fsdp.sharding_strategy: hybrid_shard needs two or more nodes with two or more processes each, "
            f"not {processes} processes with {each} on this node; use full_shard"
        )
    return processes // each, each


@contextmanager
def fsdp_on_cpu(trainer: Any) -> Iterator[None]:
    """Let accelerate, which is set up in this block, shard on a CPU too: it would silently train whole copies (DDP).

    What it does with a GPU when it sees the plugin, it leaves out on a CPU; nothing else in it asks for the device.
    """
    if trainer.args.fsdp_plugin_args is None or trainer.args.device.type != "cpu":
        yield
        return
    # How nodes and pieces lie is refused as long as the plugin is not there.
    layout, trainer.args.parallelism_config = trainer.args.parallelism_config, None
    yield
    from accelerate.state import PartialState
    from accelerate.utils import DistributedType, FullyShardedDataParallelPlugin
    from torch.distributed.fsdp import CPUOffloadPolicy

    accelerator = trainer.accelerator
    plugin = FullyShardedDataParallelPlugin(**trainer.args.fsdp_plugin_args)
    if isinstance(plugin.cpu_offload, CPUOffloadPolicy):
        plugin.cpu_offload = CPUOffloadPolicy(pin_memory=False)
    if accelerator.mixed_precision != "no":
        plugin.set_mixed_precision(accelerator.mixed_precision)
    accelerator.state.fsdp_plugin = plugin
    accelerator.state.distributed_type = DistributedType.FSDP
    PartialState._shared_state["distributed_type"] = DistributedType.FSDP
    trainer.is_fsdp_enabled = True
    if layout is not None:
        trainer.args.parallelism_config = accelerator.state.parallelism_config = layout
        accelerator.state.device_mesh = layout.get_device_mesh("cpu")
