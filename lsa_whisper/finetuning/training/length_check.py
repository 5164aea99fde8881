"""Settings that depend on how much there is to train on: learning-rate schedule, SpecAugment, and little data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import get_scheduler

from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.dataset.collator import MARGIN_FRAMES
from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import ranks_of_run
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.workload.dev_set import MIN_DEV_DISFLUENCIES, MIN_DEV_WORDS, decides, dev_size
from lsa_whisper.system.terminal import counted

LITTLE_HOURS = 0.5
"""Hours of speech from which results were measured (docs/training-data.md): with half an hour a LoRA's F1 of
repetitions was .75, with eight hours .84."""
_S_PER_HOUR = 3600


def length_problems(recipe: Recipe, windows: WindowDataset, start: Checkpoint) -> Iterator[str]:
    """Yield settings of the recipe that its training windows are too few or too short for."""
    warmup, steps = recipe.training.warmup_steps, optimizer_steps(recipe, len(windows))
    if steps is not None and warmup > max(steps, 1):
        yield (
            f"training.warmup_steps: {warmup:g} steps, but the run has {steps}, so that it would never reach its "
            "learning rate; set fewer, or a share of the run such as 0.1"
        )
    if steps is not None and (problem := schedule_problem(recipe, max(steps, 1))):
        yield problem
    step_windows = recipe.training.per_device_train_batch_size * _ranks(recipe)
    if recipe.trainer_args.get("dataloader_drop_last") and len(windows) < step_windows:
        yield (
            f"trainer_args.dataloader_drop_last: {len(windows)} windows do not fill a batch of {step_windows}, so that "
            "nothing would be trained; leave it out"
        )
    augment, mels = recipe.data.augment, int(start.model.config.num_mel_bins)
    frames = shortest_input(recipe, windows)
    if augment.mask_time_prob and augment.mask_time_length > frames:
        yield (
            f"data.augment.mask_time_length: {augment.mask_time_length} frames, but the shortest input has {frames}; "
            "set fewer"
        )
    if augment.mask_feature_prob and (augment.mask_feature_length or 0) > mels:
        yield f"data.augment.mask_feature_length: {augment.mask_feature_length} mel bands, but the model has {mels}"


def optimizer_steps(recipe: Recipe, windows: int) -> int | None:
    """Return the optimizer steps of a run on so many windows, ``None`` where epochs have another number of windows."""
    if recipe.training.max_steps is not None:
        return recipe.training.max_steps
    if recipe.data.corpora or recipe.data.spliced is not None:
        return None
    batches = math.ceil(windows / (recipe.training.per_device_train_batch_size * _ranks(recipe)))
    per_epoch = math.ceil(batches / recipe.training.gradient_accumulation_steps)
    return math.ceil(per_epoch * recipe.training.num_train_epochs)


def _ranks(recipe: Recipe) -> int:
    return recipe.window_ranks(ranks_of_run())


def shortest_input(recipe: Recipe, windows: WindowDataset) -> int:
    """Return the mel frames of the shortest input that the encoder may get."""
    most = int(windows.extractor.nb_max_frames)
    if not recipe.data.trim:
        return most
    sound = windows.frames(int(np.argmin(windows.durations))) / (1 + recipe.data.augment.speed_perturbation)
    return min(most, int(sound) + MARGIN_FRAMES)


def data_remarks(recipe: Recipe, windows: WindowDataset, processes: int) -> Iterator[str]:
    """Yield what to expect where the data are little, or fewer than an optimizer step takes."""
    if (hours := float(np.sum(windows.durations)) / _S_PER_HOUR) < LITTLE_HOURS:
        yield (
            f"little data: {hours:.2g} h of speech; half an hour holds a few dozen examples of a rare disfluency, and "
            "less teaches the frequent ones at best: judge the model beside its base on other recordings "
            "(lsa-whisper evaluate)"
        )
    step_windows = recipe.training.effective_batch * recipe.window_ranks(processes)
    if recipe.training.gradient_accumulation_steps > 1 and step_windows > len(windows):
        yield f"an optimizer step takes {step_windows} windows, but there are {len(windows)}: each step sees them all"


_NEEDS = {"cosine_with_min_lr": "min_lr or min_lr_rate", "warmup_stable_decay": "num_decay_steps"}
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
            name, optimizer, num_warmup_steps=warmup, num_training_steps=steps, scheduler_specific_kwargs=kwargs or None
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


def small_dev_set(recipe: Recipe) -> str | None:
    """Return a warning that the dev set is too small to choose a checkpoint by, ``None`` if none is chosen by it."""
    if not (recipe.evaluation and recipe.evaluation.keep_best) or decides(dev := Path(str(recipe.data.dev))):
        return None
    words, events = dev_size(dev)
    return (
        f"data.dev: with {counted(words, 'word')} and {counted(events, 'disfluency')}, chance chooses the "
        f"checkpoint; name at least {MIN_DEV_WORDS} and {MIN_DEV_DISFLUENCIES}, or set evaluation.keep_best=false"
    )


def divergence(losses: Sequence[float], guessing: float) -> str | None:
    """Return that a run has diverged by its logged losses; ``guessing`` is the loss of equally probable tokens.

    >>> divergence([2.5, 0.8, 6.1], 10.9)
    'the loss has risen from 0.8 to 6.1: training has diverged, and this model is worse than its base; remove it, ...'
    >>> divergence([2.5, 0.8, 0.9], 10.9), divergence([], 10.9)
    (None, None)
    """
    if not losses or losses[-1] <= min(guessing, max(1.0, 2 * min(losses))):
        return None
    change = f"has risen from {min(losses):.3g} to" if min(losses) < losses[-1] else "is"
    return (
        f"the loss {change} {losses[-1]:.3g}: training has diverged, and this model is worse than its base; remove it, "
        "and train again with a lower training.learning_rate"
    )
