"""Whether transformers can make the learning-rate schedule of a recipe, seen before any weights are loaded."""

from __future__ import annotations

import torch
from transformers import get_scheduler

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.recipe import Recipe

_NEEDS = {
    "cosine_with_min_lr": "min_lr or min_lr_rate",
    "warmup_stable_decay": "num_decay_steps",
}
HIGH_RATE = 0.01
"""Learning rate above which a warning comes: ten times that of a LoRA."""
_MANY_STEPS = 1_000_000
"""In place of the number of steps where only the data tell it."""


def check_schedule(recipe: Recipe) -> None:
    """Make the schedule for a single number, and return if that works.

    Raises:
        RecipeError: If it lacks a setting of ``training.lr_scheduler_kwargs``, or has a wrong one.
    """
    training = recipe.training
    name, kwargs = training.lr_scheduler_type, dict(training.lr_scheduler_kwargs)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=training.learning_rate or 1.0)
    steps = training.max_steps or _MANY_STEPS
    warmup = training.warmup_steps if training.warmup_steps >= 1 else training.warmup_steps * steps
    try:
        get_scheduler(
            name,
            optimizer,
            num_warmup_steps=int(warmup),
            num_training_steps=steps,
            scheduler_specific_kwargs=kwargs or None,
        )
    except Exception as error:  # each schedule raises what its function happens to raise
        reason = " ".join(str(error).split()) or type(error).__name__
        needs = f", such as {_NEEDS[name]}," if name in _NEEDS and not kwargs else ""
        raise RecipeError(
            f"training.lr_scheduler_kwargs: {name} needs other settings{needs} than {kwargs} ({reason})"
        ) from None


def high_rate(recipe: Recipe) -> str | None:
    """Return a warning about a learning rate beyond reason, ``None`` if it is not."""
    rate = recipe.training.learning_rate
    if rate <= HIGH_RATE:
        return None
    return (
        f"training.learning_rate: {rate:g} is far above what trains Whisper (about 1e-5 for all weights, 1e-3 for a "
        "LoRA); expect the loss to rise"
    )
