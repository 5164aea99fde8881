"""Tensor and pipeline parallelism: ranks with the same windows, each with a part of the model."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import join_ranks
from lsa_whisper.finetuning.strategies.base import GpuLoad, RecipeRule, StageLayers, Strategy, Unread

if TYPE_CHECKING:
    from lsa_whisper.finetuning.distributed.division import Division
    from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration
    from lsa_whisper.finetuning.recipe import Recipe


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

    def adapter_problems(self, recipe: Recipe) -> Iterator[str]:
        """Yield what cannot be adapted."""
        if recipe.adapter is not None and recipe.adapter.token_embeddings:
            yield f"adapter.token_embeddings: {self.name} cannot train single embeddings; leave it out"

    def divide(self, model: Any, recipe: Recipe, unread: Unread = None, layers: StageLayers = None) -> Division:
        """Divide the model and let it load whole weights, of which each rank keeps its part."""
        from lsa_whisper.finetuning.distributed.whole_states import load_whole_weights

        division = self.divide_layers(model, recipe, layers)
        load_whole_weights(model)
        return division

    def divide_layers(self, model: Any, recipe: Recipe, layers: StageLayers) -> Division:
        """Divide the model in place."""
        raise NotImplementedError

    def start(self, recipe: Recipe) -> None:
        """Initialize the process group, by whose ranks the model is divided."""
        join_ranks(self.name)


class TensorParallel(DividedLayers):
    """Each rank has a part of the heads and of the feed-forward blocks; FSDP2 shards it over further ranks."""

    name = "tensor_parallel"
    own_settings = ("tensor_parallel",)
    shards_weights = shards_optimizer = True

    def adapter_problems(self, recipe: Recipe) -> Iterator[str]:
        """Yield what needs whole matrices, too."""
        yield from super().adapter_problems(recipe)
        if recipe.adapter is not None and recipe.adapter.dora:
            yield "adapter.dora: needs the norms of whole matrices, which tensor_parallel divides; leave it out"
        if recipe.adapter is None or not recipe.adapter.modules_to_save:
            return
        from lsa_whisper.finetuning.distributed.tensor import COLUMNS, ROWS

        if set(recipe.adapter.modules_to_save) & {*COLUMNS, *ROWS}:
            yield "adapter.modules_to_save: tensor_parallel cannot copy a divided layer; use adapter.target_modules"

    def check_ranks(self, recipe: Recipe, ranks: int) -> None:
        """Check that the ranks can be divided into groups that share each layer."""
        from lsa_whisper.finetuning.distributed.tensor import ranks_of

        super().check_ranks(recipe, ranks)
        ranks_of(recipe, ranks)

    def check_model(self, recipe: Recipe, config: Any, ranks: int, layers: Callable[[int], Sequence[int]]) -> None:
        """Check that heads and feed-forward blocks can be divided."""
        from lsa_whisper.finetuning.distributed.tensor import check_shape, ranks_of

        check_shape(config, ranks_of(recipe, ranks)[1])

    def window_ranks(self, recipe: Recipe, ranks: int) -> int:
        """Return the number of groups."""
        return ranks // (recipe.tensor_parallel or ranks)

    def divide_layers(self, model: Any, recipe: Recipe, layers: StageLayers) -> Division:
        """Divide each layer by torch's DTensor."""
        from lsa_whisper.finetuning.distributed import division, tensor

        return division.Division(tensor.parallelize(model, recipe))

    def on_ranks(self, configuration: TrainingConfiguration, ranks: int) -> TrainingConfiguration:
        """Return the configuration with all ranks in one group, unless it names their number."""
        return (
            dataclasses.replace(configuration, layer_ranks=ranks) if configuration.layer_ranks == 1 else configuration
        )

    def buffers(self, load: GpuLoad) -> tuple[int, int, int]:
        """Return what FSDP2 gathers over several groups, and autocast's copies of a rank's own parts."""
        counts, configuration, micro_batch, ranks = load
        if configuration.layer_ranks == 1:
            return super().buffers(load)
        trained, total = counts.on_one_rank(configuration.layer_ranks)
        own = total / counts.total * counts.shape.largest_layer
        gathered = counts.shape.outside_layers + 3 * own if ranks > configuration.layer_ranks else 0
        copied = trained + (2 * own if micro_batch.checkpointing else total - trained)
        always = round(2 * configuration.computed_bytes * gathered)
        return always, round(2 * copied) if configuration.autocast else 0, 0


class PipelineParallel(DividedLayers):
    """Stages on different ranks, by ``torch.distributed.pipelining``."""

    name = "pipeline"
    own_settings = ("pipeline",)

    @property
    def rules(self) -> Sequence[RecipeRule]:
        """Rules of adapters and of stages."""
        return (*super().rules, (("pipeline", "training", "model", "evaluation"), self._stage_problems))

    def _stage_problems(self, recipe: Recipe) -> Iterator[str]:
        """Yield what stages on different ranks exclude."""
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
                "evaluation.generate: under pipeline no rank has all layers to decode with; set evaluation.generate: "
                "false and evaluation.metric: loss"
            )

    def check_ranks(self, recipe: Recipe, ranks: int) -> None:
        """Check that there are as many micro-batches as the schedule needs."""
        from lsa_whisper.finetuning.distributed.stage import check_stages

        super().check_ranks(recipe, ranks)
        check_stages(recipe, ranks)

    def check_model(self, recipe: Recipe, config: Any, ranks: int, layers: Callable[[int], Sequence[int]]) -> None:
        """Check that there are as many layers as stages."""
        layers(ranks)

    def window_ranks(self, recipe: Recipe, ranks: int) -> int:
        """Return that all ranks have the same windows."""
        return 1

    def check_requirements(self, recipe: Recipe) -> None:
        """Raise if this torch has no schedules that can leave the logits of a batch out of what they keep."""
        import torch
        from torch.distributed.pipelining import ScheduleGPipe

        if "return_outputs" not in inspect.signature(ScheduleGPipe.step).parameters:
            raise RecipeError(
                f"strategy: pipeline needs a newer torch than {torch.__version__}; it was tested with 2.13"
            )

    def divide_layers(self, model: Any, recipe: Recipe, layers: StageLayers) -> Division:
        """Keep the layers of this rank's stage."""
        from torch import distributed

        from lsa_whisper.finetuning.distributed import division, pipeline, tensor

        assert layers is not None
        sizes = layers(distributed.get_world_size())
        mesh = tensor.rank_mesh(recipe, 1, len(sizes))
        return division.Division(mesh, pipeline.Pipeline(model, recipe, sizes))

    def on_ranks(self, configuration: TrainingConfiguration, ranks: int) -> TrainingConfiguration:
        """Return the configuration with a stage for each rank."""
        return dataclasses.replace(configuration, stages=ranks)
