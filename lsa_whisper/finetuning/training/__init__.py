"""One training run: model, data, loss, optimizer, evaluation on the dev set, checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finetuned:
    """Result of a run.

    Attributes:
        out: The checkpoint's folder.
        steps: Optimizer steps taken.
        loss: The last logged training loss, ``None`` if no loss was logged.
        diverged: Whether the run has just ended with a worse model than it began with.
    """

    out: Path
    steps: int
    loss: float | None
    diverged: bool = False
