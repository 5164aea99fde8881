"""Arguments for PyTorch's FSDP2 through accelerate."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import ranks_of_run

if TYPE_CHECKING:
    from lsa_whisper.finetuning.recipe import Recipe


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


def reduce_in_fp32(plugin_arguments: dict[str, Any], precision: str) -> None:
    """Let FSDP2 compute in 16 bits and add gradients up in fp32, by its plugin's arguments.

    accelerate's own policy adds them up in 16 bits, which rounds away what one of many ranks contributes. The
    loss converts the logits to fp32 itself.
    """
    if precision in ("bf16", "fp16"):
        import torch
        from torch.distributed.fsdp import MixedPrecisionPolicy

        policy = MixedPrecisionPolicy(
            param_dtype=torch.bfloat16 if precision == "bf16" else torch.float16, reduce_dtype=torch.float32
        )
        plugin_arguments["mixed_precision_policy"] = policy


def _nodes() -> tuple[int, int]:
    """Return the number of nodes and of processes per node."""
    processes = ranks_of_run()
    each = int(os.environ.get("LOCAL_WORLD_SIZE", processes))
    if each < 2 or processes // each < 2 or processes % each:
        raise RecipeError(
            f"fsdp.sharding_strategy: hybrid_shard needs two or more nodes with two or more processes each, "
            f"not {processes} processes with {each} on this node; use full_shard"
        )
    return processes // each, each
