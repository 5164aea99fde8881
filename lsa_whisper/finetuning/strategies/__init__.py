"""The strategies: how training is laid out over processes, one file each.

>>> names_of(lambda strategy: strategy.uses_deepspeed)
['zero2', 'zero3']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lsa_whisper.finetuning.strategies.base import Strategy
from lsa_whisper.finetuning.strategies.ddp import Ddp
from lsa_whisper.finetuning.strategies.fsdp2 import Fsdp2
from lsa_whisper.finetuning.strategies.pipeline import PipelineParallel
from lsa_whisper.finetuning.strategies.single import Single
from lsa_whisper.finetuning.strategies.tensor_parallel import TensorParallel
from lsa_whisper.finetuning.strategies.zero2 import Zero2
from lsa_whisper.finetuning.strategies.zero3 import Zero3

_ROWS = (
    Single(),
    Ddp(),
    Zero2(),
    Zero3(),
    Fsdp2(),
    TensorParallel(),
    PipelineParallel(),
)
STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in _ROWS}
"""Every strategy by its name; messages list them in this order."""


class HasStrategy(Protocol):
    """A recipe, or a training configuration."""

    @property
    def strategy(self) -> str:
        """The name of a strategy."""


def strategy_of(run: HasStrategy) -> Strategy:
    """Return the strategy that a recipe or a training configuration names."""
    return STRATEGIES[run.strategy]


def names_of(suits: Callable[[Strategy], bool]) -> list[str]:
    """Return the names of the strategies that suit."""
    return [name for name, strategy in STRATEGIES.items() if suits(strategy)]
