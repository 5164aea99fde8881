"""Evaluation on the dev set during training: schedule, choice of the best checkpoint, early stopping, trackers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import EarlyStoppingCallback, TrainerCallback
from transformers.integrations import TensorBoardCallback, get_reporting_integration_callbacks

from lsa_whisper import manifest
from lsa_whisper.checkpoint import Checkpoint, fit_generation_config
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.decoding.text_limits import TOKENS_PER_S
from lsa_whisper.errors import ManifestError, MissingExtraError, RecipeError
from lsa_whisper.finetuning.compare_runs.training_runs import higher_is_better
from lsa_whisper.finetuning.recipe import DataSettings, EvaluationSettings, Recipe
from lsa_whisper.finetuning.training.dev_transcripts import DevDecoder, DevScorer, DevWindows
from lsa_whisper.labels import Labels
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.system.machine import GIB

SAMPLES, TENSORBOARD = "samples.jsonl", "tensorboard"
_MIN_TOKENS_PER_S = 8.0
"""English takes about 4 tokens per second of speech in OpenAI's vocabularies, with CHAT's marks up to 6."""
_COPIED_BYTES_PER_S = 10e9
"""A cautious rate for copies from the host to a GPU; from a disk they are slower."""


class DevEvaluation:
    """The dev sets of a run, with the decoder and the scorer for them."""

    def __init__(
        self, recipe: Recipe, settings: EvaluationSettings, start: Checkpoint, train: WindowDataset, folder: Path
    ):
        """Open the manifests that ``data.dev``, ``evaluation.out_of_domain`` and ``evaluation.dev_sets`` name.

        Raises:
            ManifestError: If one is missing, empty, or does not fit the model.
        """
        self.settings = settings
        self.dev = self._windows("dev", str(recipe.data.dev), start, recipe.data)
        self.others = {
            name: self._windows(name, path, start, recipe.data) for name, path in settings.other_sets.items()
        }
        self._decoder: DevDecoder | None = None
        if settings.generate:
            tokens, codes = train.trained_tokens, train.trained_codes
            config = fit_generation_config(
                start.model, start.tokenizer, start.labels, trained_tokens=tokens, trained_codes=codes
            )
            self._decoder = DevDecoder(start, config, tokens_per_s=self._tokens_per_s())
        self._scorer = DevScorer(start.labels, settings.samples, folder / SAMPLES)

    def _windows(self, name: str, path: str, start: Checkpoint, settings: DataSettings) -> DevWindows:
        data = WindowDataset(Path(path), start, cache=settings.cache, language=settings.language)
        return DevWindows(name, data, manifest_labels(Path(path)), self.settings.max_windows)

    def _tokens_per_s(self) -> float:
        """Return the highest rate of tokens to decode: twice that of the densest label of the dev sets.

        The limit of ``transcribe`` is made for any vocabulary and any speech; a model that still repeats itself would
        take that many steps for every window. One rate for all windows shows it nothing of a window's own label.
        """
        rates = [windows.tokens_per_s() for windows in (self.dev, *self.others.values())]
        return min(TOKENS_PER_S, max(_MIN_TOKENS_PER_S, 2 * max(rates)))

    def cost(self, recipe: Recipe, ranks: int, weight_bytes: int) -> str:
        """Return a line about what each evaluation costs at most.

        ``ranks`` processes share the windows; each step of decoding copies ``weight_bytes`` if the weights are
        offloaded.
        """
        sets = [self.dev, *self.others.values()]
        parts = ", ".join(f"{windows.name} {len(windows):,} of {len(windows.data):,} windows" for windows in sets)
        line = f"evaluation every {self.settings.every_steps} steps: {parts}"
        if self._decoder is None:
            return line
        steps = sum(
            math.ceil(len(windows) / (self.settings.batch_size * ranks)) * self._decoder.limit(windows.longest_s())
            for windows in sets
        )
        line += f"; at most {steps:,} steps of decoding"
        if recipe.offload.parameters == "none":
            return line
        minutes = steps * weight_bytes / _COPIED_BYTES_PER_S / 60
        return (
            f"{line}, each of which copies {weight_bytes / GIB:.1f} GiB of weights: up to {minutes:,.0f} minutes; for "
            "less, lower evaluation.max_windows, or set evaluation.generate: false and metric: loss"
        )

    def decode(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Return the decoded tokens of a batch, nothing if the recipe evaluates the loss only."""
        return (self._decoder.decode(model, batch),) if self._decoder else ()

    def scores(
        self, windows: DevWindows, predictions: tuple[npt.NDArray[Any], ...], step: int | None
    ) -> dict[str, float]:
        """Return the scores of one evaluation.

        The predictions are summed losses, token counts and, if windows were decoded, their tokens; one row per window.
        ``step`` is the current one on the rank that keeps samples; ``None`` on the others.

        Raises:
            ManifestError: If the windows have nothing that ``evaluation.metric`` counts.
        """
        sums, counts, *tokens = predictions
        scores = {"loss": float(np.sum(sums) / np.sum(counts))}
        if tokens and self._decoder:
            texts = [self._decoder.text(row, windows.segment(n).duration) for n, row in enumerate(tokens[0])]
            scores |= self._scorer.scores(windows, texts)
            if step is not None:
                self._scorer.keep_samples(windows, texts, step)
        if windows is self.dev and self.settings.metric not in scores:
            raise ManifestError(_nothing_counted(self.settings))
        return scores


def dev_problems(data: WindowDataset, settings: EvaluationSettings) -> Iterator[str]:
    """Yield that a dev set has nothing that ``evaluation.metric`` counts: it is scored as if it were transcribed well.

    The windows that are evaluated depend on ``evaluation.max_windows``.
    """
    styles = set(data.rows["labels"])
    if not settings.generate or settings.metric == "loss" or len(styles) != 1:
        return
    labels = Labels.from_name(styles.pop())
    windows = DevWindows("dev", data, labels, settings.max_windows)
    references = [TIMESTAMP.sub(" ", windows.segment(number).text) for number in range(len(windows))]
    if settings.metric not in DevScorer(labels, 0, Path()).scores(windows, references):
        yield _nothing_counted(settings)


def _nothing_counted(settings: EvaluationSettings) -> str:
    return (
        f"data.dev: its windows have nothing to compute {settings.metric} from; choose another evaluation.metric, or "
        "other data"
    )


def evaluation_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's ``evaluation`` adds to ``Seq2SeqTrainingArguments``.

    To keep the best checkpoint, one is saved at each evaluation: only a checkpoint that was evaluated can be the best.
    """
    settings = recipe.evaluation
    if settings is None:
        return {}
    arguments: dict[str, Any] = {
        "eval_strategy": "steps",
        "eval_steps": settings.every_steps,
        "per_device_eval_batch_size": settings.batch_size,
    }
    if settings.patience:  # otherwise a resumed run would count its patience from zero
        arguments |= {"restore_callback_states_from_checkpoint": True}
    if not settings.keep_best:
        return arguments
    return arguments | {
        "load_best_model_at_end": True,
        "save_strategy": "steps",
        "save_steps": settings.every_steps,
        "metric_for_best_model": f"eval_{settings.metric}",
        "greater_is_better": higher_is_better(settings.metric),
    }


def evaluation_callbacks(recipe: Recipe, folder: Path) -> list[TrainerCallback]:
    """Return the callbacks for early stopping and for experiment trackers.

    Raises:
        MissingExtraError: If the recipe names tensorboard and it is not installed.
        RecipeError: If transformers does not know a tracker, or its package is not installed.
    """
    settings = recipe.evaluation
    if settings is None:
        return []
    callbacks: list[TrainerCallback] = [EarlyStoppingCallback(settings.patience)] if settings.patience else []
    for name in settings.trackers:
        callbacks.append(_tensorboard(folder / TENSORBOARD) if name == TENSORBOARD else _tracker(name))
    return callbacks


def _tracker(name: str) -> TrainerCallback:
    try:
        return get_reporting_integration_callbacks([name])[0]()
    except (ValueError, RuntimeError, ImportError) as error:
        raise RecipeError(f"evaluation.trackers: {error}") from error


def _tensorboard(folder: Path) -> TrainerCallback:
    """Return transformers' callback, set to write into the run's folder instead of one from the environment."""
    try:
        callback = TensorBoardCallback()
    except (RuntimeError, ImportError) as error:
        raise MissingExtraError("evaluation.trackers: tensorboard", "tensorboard", "tensorboard") from error
    callback.logging_dir = str(folder)
    return callback


def manifest_labels(path: Path) -> Labels:
    """Return the label style of prepared data, and whether any window has timestamps.

    Raises:
        ManifestError: If the manifest is empty or mixes styles.
    """
    styles = set(manifest.open_rows(path).unique("labels"))
    if len(styles) != 1:
        raise ManifestError(f"{path}: {'no windows' if not styles else 'labels of several styles'}; prepare it again")
    timestamps = any(TIMESTAMP.match(segment.text) for segment in manifest.stream(path))
    return dataclasses.replace(Labels.from_name(styles.pop()), timestamps=timestamps)
