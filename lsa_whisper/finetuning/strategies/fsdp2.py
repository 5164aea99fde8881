"""PyTorch's FSDP2: weights, gradients and optimizer are sharded, and gathered layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import is_launched
from lsa_whisper.finetuning.strategies.base import GpuLoad, Strategy
from lsa_whisper.finetuning.strategies.single import REPLICATED_STATE

if TYPE_CHECKING:
    from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration
    from lsa_whisper.finetuning.memory.parameter_counts import ParameterCounts
    from lsa_whisper.finetuning.recipe import Recipe


class Fsdp2(Strategy):
    """FSDP2 through accelerate; with ``no_shard`` everything is replicated, as under DDP."""

    name = "fsdp2"
    own_settings = ("fsdp",)
    offloads = (("parameters", "cpu"),)
    needs_several = shards_weights = shards_optimizer = offloads_together = True

    def shards(self, recipe: Recipe) -> bool:
        """Return whether anything is sharded."""
        return recipe.fsdp.sharding_strategy != "no_shard"

    def state_kind(self, recipe: Recipe) -> str:
        """Return the kind of replicated processes if nothing is sharded."""
        return self.name if self.shards(recipe) else REPLICATED_STATE

    def start(self, recipe: Recipe) -> None:
        """Check that this process is one of several; accelerate initializes the group."""
        if self.shards(recipe) and not is_launched():
            raise RecipeError(f"strategy: {self.name} needs several processes; set --processes, or use single")

    def trainer_arguments(self, recipe: Recipe) -> dict[str, Any]:
        """Return accelerate's settings of FSDP2."""
        from lsa_whisper.finetuning.distributed.fsdp import fsdp_arguments

        return fsdp_arguments(recipe) if self.shards(recipe) else {}

    def host_parameter_bytes(self, counts: ParameterCounts, configuration: TrainingConfiguration) -> int:
        """Return the bytes of frozen weights: the optimizer has no copy of the trained ones."""
        return 4 * counts.frozen

    def buffers(self, load: GpuLoad) -> tuple[int, int, int]:
        """Return what is gathered at once: the weights outside of layers, and three layers with their gradients."""
        gathered = load.counts.shape.outside_layers + 3 * load.counts.shape.largest_layer
        return 2 * load.configuration.computed_bytes * gathered, 0, 0
