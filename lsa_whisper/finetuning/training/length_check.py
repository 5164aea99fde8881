"""Settings that depend on how much there is to train on: warm-up, SpecAugment, and little data."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np

from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.dataset.collator import MARGIN_FRAMES
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.training.schedule_check import schedule_problem

LITTLE_HOURS = 0.5
"""Hours of speech from which results were measured (docs/your-corpus.md): with half an hour a LoRA's F1 of repetitions
was .75, with eight hours .84."""
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
    return recipe.window_ranks(int(os.environ.get("WORLD_SIZE", "1")))


def shortest_input(recipe: Recipe, windows: WindowDataset) -> int:
    """Return the mel frames of the shortest input that the encoder may get."""
    most = int(windows.extractor.nb_max_frames)
    if not recipe.data.trim:
        return most
    sound = windows.frames(int(np.argmin(windows.durations))) / (1 + recipe.data.augment.speed_perturbation)
    return min(most, int(sound) + MARGIN_FRAMES)


def data_remarks(recipe: Recipe, windows: WindowDataset, processes: int) -> Iterator[str]:
    """Yield what to expect where the data are little, or fewer than an optimizer step takes."""
    yield from filter(None, (little_data(windows),))
    step_windows = recipe.training.effective_batch * recipe.window_ranks(processes)
    if recipe.training.gradient_accumulation_steps > 1 and step_windows > len(windows):
        yield f"an optimizer step takes {step_windows} windows, but there are {len(windows)}: each step sees them all"


def little_data(windows: WindowDataset) -> str | None:
    """Return what to expect of a run on less than half an hour of speech, ``None`` if there is more."""
    hours = float(np.sum(windows.durations)) / _S_PER_HOUR
    if hours >= LITTLE_HOURS:
        return None
    return (
        f"little data: {hours:.2g} h of speech; half an hour holds a few dozen examples of a rare disfluency, and less "
        "teaches the frequent ones at best: judge the model on other recordings (lsa-whisper evaluate)"
    )
