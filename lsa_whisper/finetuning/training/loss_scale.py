"""fp16's loss scaling: gradients that would be too small for fp16 are computed from a larger loss."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.system.deepspeed_internals import scale_deepspeed_loss


class LossScale(TrainerCallback):
    """Begins with the recipe's loss scale (Micikevicius et al. 2018, Mixed precision training).

    A step that overflows is skipped and halves the scale; 2,000 steps without one double it.
    """

    def __init__(self, recipe: Recipe, trainer: Any):
        """Scale the loss of ``trainer``, which runs ``recipe``."""
        self._recipe, self._trainer = recipe, trainer

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Set the scale; a resumed run has its own."""
        initial = self._recipe.training.loss_scale
        if strategy_of(self._recipe).uses_deepspeed:
            scale_deepspeed_loss(self._trainer.model_wrapped, initial)
        elif state.global_step == 0:
            begin_at(self._trainer.accelerator.scaler, initial)


def begin_at(scaler: Any, scale: float) -> None:
    """Set the scale of torch's ``GradScaler`` before its first step."""
    scaler.load_state_dict(scaler.state_dict() | {"scale": scale})
