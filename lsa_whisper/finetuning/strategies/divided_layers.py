"""What tensor and pipeline parallelism have in common: ranks with the same windows and parts of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsa_whisper.finetuning.distributed.ranks import join_ranks
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import RecipeRule, Strategy, Unread

if TYPE_CHECKING:
    from lsa_whisper.finetuning.distributed.division import Division


class DividedLayers(Strategy):
    """A strategy under which no rank has all heads and layers."""

    precisions = ("fp32", "bf16")
    needs_several = divides_layers = True

    @property
    def rules(self) -> Sequence[RecipeRule]:
        """Rules of adapters."""
        return ((("precision", "adapter"), self.adapter_problems),)

    def precision_problem(self, precision: str, others: str) -> str:
        """Return what to use in place of fp16, whose gradients every rank would scale by its own part."""
        if precision == "fp16":
            return f"precision: fp16 cannot scale the gradients of {self.name}; use bf16"
        return super().precision_problem(precision, others)

    def adapter_problems(self, recipe: RunSettings) -> Iterator[str]:
        """Yield what cannot be adapted."""
        if recipe.adapter is not None and recipe.adapter.token_embeddings:
            yield f"adapter.token_embeddings: {self.name} cannot train single embeddings; leave it out"

    def divide(self, model: Any, recipe: RunSettings, unread: Unread = None) -> Division:
        """Divide the model and let it load whole weights, of which each rank keeps its part."""
        from lsa_whisper.finetuning.distributed.division import load_whole_weights

        division = self.divide_layers(model, recipe)
        load_whole_weights(model)
        return division

    def divide_layers(self, model: Any, recipe: RunSettings) -> Division:
        """Divide the model in place."""
        raise NotImplementedError

    def start(self, recipe: RunSettings) -> None:
        """Initialize the process group, by whose ranks the model is divided."""
        join_ranks(self.name)
