"""Tensor parallelism: the matrices of each layer are divided among ranks that train on the same windows."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from lsa_whisper.checkpoint.hub import model_folder
from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import DividedLayers, GpuLoad
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.shape import shape_of

if TYPE_CHECKING:
    from lsa_whisper.finetuning.distributed.division import Division


class TensorParallel(DividedLayers):
    """Each rank has a part of the heads and of the feed-forward blocks; FSDP2 shards it over further ranks."""

    name = "tensor_parallel"
    own_settings = ("tensor_parallel",)
    shards_weights = shards_optimizer = True

    def adapter_problems(self, recipe: RunSettings) -> Iterator[str]:
        """Yield what needs whole matrices, too."""
        yield from super().adapter_problems(recipe)
        if recipe.adapter is not None and recipe.adapter.dora:
            yield "adapter.dora: needs the norms of whole matrices, which tensor_parallel divides; leave it out"
        if recipe.adapter is None or not recipe.adapter.modules_to_save:
            return
        from lsa_whisper.finetuning.distributed.model_parallel import COLUMNS, ROWS

        if set(recipe.adapter.modules_to_save) & {*COLUMNS, *ROWS}:
            yield "adapter.modules_to_save: tensor_parallel cannot copy a divided layer; use adapter.target_modules"

    def check_ranks(self, recipe: RunSettings, ranks: int) -> None:
        """Check that the ranks can be divided into groups that share each layer, and the layers of a known base."""
        from lsa_whisper.finetuning.distributed.model_parallel import check_shape, ranks_of

        super().check_ranks(recipe, ranks)
        sharers = ranks_of(recipe, ranks)[1]
        with contextlib.suppress(AttributeError, TypeError, CheckpointError):  # loading the model tells
            check_shape(_known_config(str(recipe.model.base)), sharers)

    def check_model(self, recipe: RunSettings, config: Any, ranks: int) -> None:
        """Check that heads and feed-forward blocks can be divided."""
        from lsa_whisper.finetuning.distributed.model_parallel import check_shape, ranks_of

        check_shape(config, ranks_of(recipe, ranks)[1])

    def window_ranks(self, recipe: RunSettings, ranks: int) -> int:
        """Return the number of groups."""
        return ranks // (recipe.tensor_parallel or ranks)

    def divide_layers(self, model: Any, recipe: RunSettings) -> Division:
        """Divide each layer by torch's DTensor."""
        from lsa_whisper.finetuning.distributed import division, model_parallel

        return division.Division(model_parallel.parallelize(model, recipe))

    def on_ranks(self, configuration: TrainingConfiguration, ranks: int) -> TrainingConfiguration:
        """Return the configuration with all ranks in one group, unless it names their number."""
        is_open = configuration.layer_ranks == 1
        return dataclasses.replace(configuration, layer_ranks=ranks) if is_open else configuration

    def buffers(self, load: GpuLoad) -> tuple[int, int, int]:
        """Return what FSDP2 gathers over several groups, and autocast's copies of a rank's own parts."""
        counts, configuration, micro_batch, ranks = load
        if configuration.layer_ranks == 1:
            return super().buffers(load)
        trained, total = counts.on_one_rank(configuration.layer_ranks)
        own = total / counts.total * counts.shape.largest_layer
        whole = counts.shape.outside_layers + 3 * own if ranks > configuration.layer_ranks else 0
        casts = trained + (2 * own if micro_batch.checkpointing else total - trained)
        always = round(2 * configuration.computed_bytes * whole)
        return always, round(2 * casts) if configuration.autocasts else 0, 0


def _known_config(base: str) -> SimpleNamespace:
    """Return the heads and feed-forward units of a base that is on this machine, or of a published size."""
    if (folder := model_folder(base)) is not None:
        return SimpleNamespace(**read_json(folder / "config.json"))
    heads, units = (shape := shape_of(base)).attention_heads, shape.inner
    sizes = {"encoder_attention_heads": heads, "decoder_attention_heads": heads}
    return SimpleNamespace(**sizes, encoder_ffn_dim=units, decoder_ffn_dim=units)
