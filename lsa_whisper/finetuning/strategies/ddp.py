"""Each process has the whole model and trains on windows of its own; gradients are averaged."""

from __future__ import annotations

from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import GpuLoad, Strategy
from lsa_whisper.finetuning.strategies.single import ALL_PRECISIONS, REPLICATED_STATE


class Ddp(Strategy):
    """torch's ``DistributedDataParallel``, which transformers wraps the model in."""

    name = "ddp"
    precisions = ALL_PRECISIONS
    needs_several = has_whole_state = computes_base = True

    def state_kind(self, recipe: RunSettings) -> str:
        """Return the kind that a single process has, too."""
        return REPLICATED_STATE

    def buffers(self, load: GpuLoad) -> tuple[int, int, int]:
        """Return a plain process's buffers and the buckets in which gradients are averaged."""
        _, forward, step = super().buffers(load)
        return 4 * load.counts.trained if load.ranks > 1 else 0, forward, step
