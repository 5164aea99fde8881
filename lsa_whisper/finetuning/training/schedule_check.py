"""Whether transformers can make the learning-rate schedule of a recipe, seen before any weights are loaded."""

from __future__ import annotations

import math
from typing import Any

import torch
from transformers import get_scheduler

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.recipe import Recipe

_NEEDS = {
    "cosine_with_min_lr": "min_lr or min_lr_rate",
    "warmup_stable_decay": "num_decay_steps",
}
HIGH_RATE, LOW_RATE = 0.01, 1e-8
"""Learning rates above and below which a warning comes: ten times that of a LoRA, and what changes no weight."""
_PARTS, _ROUNDING = 16, 1e-6
_MANY_STEPS = 1_000_000
"""In place of the number of steps where only the data tell it."""


def check_schedule(recipe: Recipe) -> None:
    """Make the schedule for a single number, and return if that works.

    Raises:
        RecipeError: If it lacks a setting of ``training.lr_scheduler_kwargs``, or has a wrong one.
    """
    if problem := schedule_problem(recipe, recipe.training.max_steps or _MANY_STEPS):
        raise RecipeError(problem)


def schedule_problem(recipe: Recipe, steps: int) -> str | None:
    """Return what is wrong with the schedule of a run of so many steps, ``None`` if nothing is."""
    training = recipe.training
    name, kwargs = training.lr_scheduler_type, dict(training.lr_scheduler_kwargs)
    peak = training.learning_rate or 1.0
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=peak)
    warmup = math.ceil(training.warmup_steps if training.warmup_steps >= 1 else training.warmup_steps * steps)
    try:
        schedule: Any = get_scheduler(
            name,
            optimizer,
            num_warmup_steps=warmup,
            num_training_steps=steps,
            scheduler_specific_kwargs=kwargs or None,
        )
        shares = [float(schedule.lr_lambdas[0](step)) for step in _steps_to_see(steps, warmup)]
    except Exception as error:  # each schedule raises what its function happens to raise
        reason = " ".join(str(error).split()) or type(error).__name__
        needs = f", such as {_NEEDS[name]}," if name in _NEEDS and not kwargs else ""
        return f"training.lr_scheduler_kwargs: {name} needs other settings{needs} than {kwargs} ({reason})"
    if not kwargs:
        return None
    if wrong := [share for share in shares if not 0 <= share <= 1 + _ROUNDING]:
        reason = f"the learning rate would be {wrong[0] * peak:g} in a run of {steps} steps"
    elif max(shares) < 1 / 2:
        reason = f"the learning rate would never be above {max(shares) * peak:g} in a run of {steps} steps"
    else:
        return None
    return f"training.lr_scheduler_kwargs: {name} needs other settings than {kwargs} ({reason})"


def _steps_to_see(steps: int, warmup: int) -> list[int]:
    """Return the steps at which a schedule is looked at: the ends of the run and of its warm-up, and some between."""
    between = (steps * part // _PARTS for part in range(_PARTS))
    return sorted({step for step in (*between, warmup, warmup + 1, steps - 1) if 0 <= step < steps})


def unusual_rate(recipe: Recipe) -> str | None:
    """Return a warning about a learning rate beyond reason, ``None`` if it is not."""
    rate = recipe.training.learning_rate
    if LOW_RATE <= rate <= HIGH_RATE:
        return None
    above, expect = ("above", "the loss to rise") if rate > HIGH_RATE else ("below", "the model to stay as it is")
    return (
        f"training.learning_rate: {rate:g} is far {above} what trains Whisper (about 1e-5 for all weights, 1e-3 for a "
        f"LoRA); expect {expect}"
    )
