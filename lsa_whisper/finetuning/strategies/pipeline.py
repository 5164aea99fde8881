"""Pipeline parallelism: each rank has successive layers, through which the micro-batches of a batch pass."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsa_whisper.errors import CheckpointError, RecipeError
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import DividedLayers, RecipeRule
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.shape import recipe_shape
from lsa_whisper.finetuning.workload.stages import stage_layers, stage_sizes

if TYPE_CHECKING:
    from lsa_whisper.finetuning.distributed.division import Division


class PipelineParallel(DividedLayers):
    """Stages on different ranks, by ``torch.distributed.pipelining``."""

    name = "pipeline"
    own_settings = ("pipeline",)

    @property
    def rules(self) -> Sequence[RecipeRule]:
        """Rules of adapters and of stages."""
        return (*super().rules, (("pipeline", "training", "model", "evaluation"), self._stage_problems))

    def _stage_problems(self, recipe: RunSettings) -> Iterator[str]:
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

    def check_ranks(self, recipe: RunSettings, ranks: int) -> None:
        """Check that there are as many micro-batches as the schedule needs, and layers of a known base."""
        from lsa_whisper.finetuning.distributed.model_parallel import check_stages

        super().check_ranks(recipe, ranks)
        check_stages(recipe, ranks)
        with contextlib.suppress(TypeError, CheckpointError):  # loading the model tells
            stage_layers(recipe_shape(recipe), ranks)

    def check_model(self, recipe: RunSettings, config: Any, ranks: int) -> None:
        """Check that there are as many layers as stages."""
        stage_sizes(config, ranks)

    def window_ranks(self, recipe: RunSettings, ranks: int) -> int:
        """Return that all ranks have the same windows."""
        return 1

    def check_requirements(self, recipe: RunSettings) -> None:
        """Raise if this torch has no schedules that can leave the logits of a batch out of what they keep."""
        import torch
        from torch.distributed.pipelining import ScheduleGPipe

        if "return_outputs" not in inspect.signature(ScheduleGPipe.step).parameters:
            raise RecipeError(
                f"strategy: pipeline needs a newer torch than {torch.__version__}; it was tested with 2.13"
            )

    def divide_layers(self, model: Any, recipe: RunSettings) -> Division:
        """Keep the layers of this rank's stage."""
        from torch import distributed

        from lsa_whisper.finetuning.distributed import division, model_parallel, pipeline

        sizes = stage_sizes(model.config, distributed.get_world_size())
        mesh = model_parallel.rank_mesh(recipe, 1, len(sizes))
        return division.Division(mesh, pipeline.Pipeline(model, recipe, sizes))

    def on_ranks(self, configuration: TrainingConfiguration, ranks: int) -> TrainingConfiguration:
        """Return the configuration with a stage for each rank."""
        return dataclasses.replace(configuration, stages=ranks)
