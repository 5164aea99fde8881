"""Evaluation inside training: what is evaluated when, which checkpoint is best, when to stop, who follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import EarlyStoppingCallback, TrainerCallback
from transformers.integrations import TensorBoardCallback, get_reporting_integration_callbacks

from lsa_whisper import manifest
from lsa_whisper.checkpoint import Checkpoint, fit_generation_config
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.errors import ManifestError, MissingExtraError, RecipeError
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.finetune.training.dev_scores import Scorer, Windows, Writer
from lsa_whisper.labels import Labels
from lsa_whisper.training_runs import higher_is_better

SAMPLES, TENSORBOARD = "samples.jsonl", "tensorboard"


class Watch:
    """The windows of a run's evaluations, and what writes and scores them."""

    def __init__(self, recipe: Recipe, begun: Checkpoint, train: WindowDataset, folder: Path):
        """Open the manifests that ``recipe.evaluation`` and ``recipe.data.dev`` name.

        Raises:
            ManifestError: If one is missing, empty, or does not fit the model.
        """
        assert recipe.evaluation is not None and recipe.data.dev is not None
        self.settings = recipe.evaluation
        self.dev = _windows("dev", recipe.data.dev, begun, recipe)
        out_of_domain = self.settings.out_of_domain
        self.out_of_domain = _windows("out_of_domain", out_of_domain, begun, recipe) if out_of_domain else None
        if self.settings.generate:
            fitted = fit_generation_config(
                begun.model, begun.tokenizer, begun.labels, trained_tokens=train.trained_tokens
            )
            self.writer = Writer(begun, fitted)
        self.scorer = Scorer(begun, self.settings.samples, folder / SAMPLES)

    def scores(self, windows: Windows, predictions: tuple[Any, ...], step: int | None) -> dict[str, float]:
        """Return the scores of one evaluation.

        Args:
            windows: What was evaluated.
            predictions: Summed losses, numbers of tokens and, if the model wrote, its tokens; one row per window.
            step: Where the run stands, in the process that keeps samples; ``None`` in the others.

        Raises:
            ManifestError: If the windows cannot tell which checkpoint is best.
        """
        sums, counts, *written = predictions
        found = {"loss": float(sums.sum() / counts.sum())}
        if written:
            texts = self.scorer.texts(written[0])
            found |= self.scorer.scores(windows, texts)
            if step is not None:
                self.scorer.keep_samples(windows, texts, step)
        if windows is self.dev and self.settings.metric not in found:
            raise ManifestError(
                f"data.dev: its windows hold nothing to count {self.settings.metric} on; choose another "
                "evaluation.metric"
            )
        return found


def _windows(name: str, path: str, begun: Checkpoint, recipe: Recipe) -> Windows:
    assert recipe.evaluation is not None
    data = WindowDataset(Path(path), begun, cache=recipe.data.cache)
    return Windows(name, data, manifest_labels(Path(path)), recipe.evaluation.max_windows)


def watch_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return what the recipe's ``evaluation`` adds to ``Seq2SeqTrainingArguments``."""
    wanted = recipe.evaluation
    if wanted is None:
        return {}
    steps = {
        "eval_strategy": "steps",
        "eval_steps": wanted.every_steps,
        "per_device_eval_batch_size": wanted.batch_size,
    }
    if wanted.patience:  # else a run that goes on after a stop would be as patient as at its beginning
        steps |= {"restore_callback_states_from_checkpoint": True}
    if not wanted.keep_best:
        return steps
    return steps | {
        "load_best_model_at_end": True,
        "metric_for_best_model": f"eval_{wanted.metric}",
        "greater_is_better": higher_is_better(wanted.metric),
    }


def saving_arguments(recipe: Recipe) -> dict[str, Any]:
    """Return when to evaluate and to save, whatever ``training`` says, so that the best checkpoint can be kept.

    Only a checkpoint that was evaluated can be the best, so the two go hand in hand.
    """
    if recipe.evaluation is None or not recipe.evaluation.keep_best:
        return {}
    every = recipe.evaluation.every_steps
    return {"eval_strategy": "steps", "eval_steps": every, "save_strategy": "steps", "save_steps": every}


def callbacks(recipe: Recipe, folder: Path) -> list[TrainerCallback]:
    """Return what listens to the run's evaluations.

    Raises:
        MissingExtraError: If tensorboard is asked for and not installed.
        RecipeError: If transformers does not know a tracker, or its package is not installed.
    """
    wanted = recipe.evaluation
    if wanted is None:
        return []
    listening: list[TrainerCallback] = []
    if wanted.patience:
        listening.append(EarlyStoppingCallback(wanted.patience))
    for name in wanted.trackers:
        listening.append(_tensorboard(folder / TENSORBOARD) if name == TENSORBOARD else _tracker(name))
    return listening


def _tracker(name: str) -> TrainerCallback:
    try:
        return get_reporting_integration_callbacks([name])[0]()
    except (ValueError, RuntimeError, ImportError) as error:
        raise RecipeError(f"evaluation.trackers: {error}") from error


def _tensorboard(folder: Path) -> TrainerCallback:
    """Return transformers' callback, writing into the run's own folder (it would ask the environment where)."""
    try:
        callback = TensorBoardCallback()
    except (RuntimeError, ImportError) as error:
        raise MissingExtraError("evaluation.trackers: tensorboard", "tensorboard", "tensorboard") from error
    callback.logging_dir = str(folder)
    return callback


def manifest_labels(path: Path) -> Labels:
    """Return the label style of prepared data.

    Raises:
        ManifestError: If the manifest is empty or mixes styles.
    """
    styles = set(manifest.open_rows(path).unique("labels"))
    if len(styles) != 1:
        raise ManifestError(f"{path}: {'no windows' if not styles else 'labels of several styles'}; prepare it again")
    return Labels.from_name(styles.pop())
