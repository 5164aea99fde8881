"""PyTorch's FSDP2: weights, gradients and optimizer are sharded, and gathered layer by layer."""

from __future__ import annotations

import os
from typing import Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import is_launched, ranks_of_run
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import GpuLoad, Strategy
from lsa_whisper.finetuning.strategies.single import REPLICATED_STATE


class Fsdp2(Strategy):
    """FSDP2 through accelerate; with ``no_shard`` everything is replicated, as under DDP."""

    name = "fsdp2"
    own_settings = ("fsdp",)
    offloads = (("parameters", "cpu"),)
    needs_several = shards_weights = shards_optimizer = offloads_together = True

    def shards(self, recipe: RunSettings) -> bool:
        """Return whether anything is sharded."""
        return recipe.fsdp.sharding_strategy != "no_shard"

    def state_kind(self, recipe: RunSettings) -> str:
        """Return the kind of replicated processes if nothing is sharded."""
        return self.name if self.shards(recipe) else REPLICATED_STATE

    def start(self, recipe: RunSettings) -> None:
        """Check that this process is one of several; accelerate initializes the group."""
        if self.shards(recipe) and not is_launched():
            raise RecipeError(f"strategy: {self.name} needs several processes; set --processes, or use single")

    def trainer_arguments(self, recipe: RunSettings) -> dict[str, Any]:
        """Return accelerate's settings of FSDP2."""
        return fsdp_arguments(recipe) if self.shards(recipe) else {}

    def buffers(self, load: GpuLoad) -> tuple[int, int, int]:
        """Return what is gathered at once: the weights outside of layers, and three layers with their gradients."""
        numbers = load.counts.shape.outside_layers + 3 * load.counts.shape.largest_layer
        return 2 * load.configuration.computed_bytes * numbers, 0, 0


def fsdp_arguments(recipe: RunSettings) -> dict[str, Any]:
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
    arguments: dict[str, Any] = {"fsdp": True, "fsdp_config": settings}
    if recipe.fsdp.sharding_strategy == "hybrid_shard":
        from accelerate.parallelism_config import ParallelismConfig

        nodes, ranks = _nodes()
        arguments["parallelism_config"] = ParallelismConfig(dp_replicate_size=nodes, dp_shard_size=ranks)
    return arguments


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
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", processes))
    if ranks < 2 or processes // ranks < 2 or processes % ranks:
        raise RecipeError(
            f"fsdp.sharding_strategy: hybrid_shard needs two or more nodes with two or more processes each, "
            f"not {processes} processes with {ranks} on this node; use full_shard"
        )
    return processes // ranks, ranks
