"""One process that has the whole model."""

from __future__ import annotations

import dataclasses

from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import Strategy
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration

ALL_PRECISIONS = ("fp32", "bf16", "fp16", "pure-bf16", "fp8")
"""What torch trains in where weights, gradients and moments are whole."""
REPLICATED_STATE = "single or ddp"
"""The kind of state of processes that are alone or replicated: the same whole one."""


class Single(Strategy):
    """Plain PyTorch in one process, on one GPU or the CPU."""

    name = "single"
    own_settings = ("auto_micro_batch",)  # one of several ranks cannot restart alone
    precisions = ALL_PRECISIONS
    is_single = has_whole_state = computes_base = True

    def state_kind(self, recipe: RunSettings) -> str:
        """Return the kind that a replicated run has, too."""
        return REPLICATED_STATE

    def on_ranks(self, configuration: TrainingConfiguration, ranks: int) -> TrainingConfiguration:
        """Return ``ddp`` for several processes, as transformers makes of them."""
        return dataclasses.replace(configuration, strategy="ddp") if ranks > 1 else configuration
