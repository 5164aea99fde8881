"""Logs of training runs: the values that each run logged, and its recipe.

A run is the folder of a fine-tuned model: ``curve.jsonl`` has one JSON object per logged step, ``lsa_whisper.json`` the
recipe. A run that is not finished is read from ``RUN.unfinished``. Every number logged at an evaluation (its name
begins with ``eval_``) has a curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.errors import CorpusError
from lsa_whisper.finetuning.settings.values import flat
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.system import plain_json

Points = list[tuple[int, float]]
"""Steps and values of a curve, steps ascending."""

_TITLES = {
    "loss": "Training loss",
    "eval_loss": "Dev set loss",
    "learning_rate": "Learning rate",
    "grad_norm": "Gradient norm",
} | {f"eval_{metric.key}": f"{metric.title} (dev set)" for metric in METRICS}
_NO_CURVE = ("runtime", "per_second", "epoch", "model_preparation_time", "_memory", "jit_compilation")
_HIGHER_IS_BETTER = ("f1", "accuracy", "precision", "recall")


@dataclass(frozen=True)
class Run:
    """One training run; ``curves`` by logged name, points in order of their step."""

    name: str
    folder: Path
    curves: Mapping[str, Points]
    recipe: Mapping[str, Any]
    """Flat: ``training.learning_rate`` and the like; empty until the run is finished."""
    finished: bool = True

    @property
    def steps(self) -> int:
        """The last logged step."""
        return max((step for points in self.curves.values() for step, _ in points), default=0)

    def best(self, key: str) -> tuple[int, float] | None:
        """Return the step and value of the best point of a curve; ``None`` if it has none."""
        points = self.curves.get(key)
        if not points or not has_best(key):
            return None
        return (max if higher_is_better(key) else min)(points, key=lambda point: point[1])


def read_run(folder: Path, name: str | None = None) -> Run:
    """Return the training run in ``folder``, called ``name`` or else by its folder.

    Raises:
        CorpusError: The folder does not exist or has no ``curve.jsonl``, or that file cannot be read.
    """
    finished = folder.is_dir()
    place = folder if finished else folder.with_name(folder.name + ".unfinished")
    curve = place / "curve.jsonl"
    if not place.is_dir():
        raise CorpusError(f"{folder}: there is no such training run; give the folder that finetune wrote")
    if not curve.is_file():
        raise CorpusError(f"{folder}: has no curve.jsonl; give the folder that finetune wrote")
    finished = finished and not folder.name.endswith(".unfinished")
    return Run(name or folder.resolve().name, folder, _curves(curve), _recipe(place / "lsa_whisper.json"), finished)


def curve_title(key: str) -> str:
    """Return the title of a curve.

    >>> curve_title("eval_loss"), curve_title("eval_something_new")
    ('Dev set loss', 'eval_something_new')
    """
    return _TITLES.get(key, key)


def has_best(key: str) -> bool:
    """Return whether one value of the curve can be better than another (not so for a learning rate)."""
    return key == "loss" or key.startswith("eval_")


def higher_is_better(key: str) -> bool:
    """Return whether a higher value of the curve is better."""
    return key.endswith(_HIGHER_IS_BETTER)


def _curves(path: Path) -> dict[str, Points]:
    """Return the curves of a log; for a step that was logged twice (after a resume) the later value counts."""
    curves: dict[str, dict[int, float]] = {}
    lines = path.read_text("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            values = plain_json.parse(line)
            step = int(values["step"])
        except (ValueError, TypeError, KeyError, OverflowError):
            if number == len(lines):  # the line that a crash cut short
                break
            raise CorpusError(f"{path}:{number}: is not a logged step; remove the line or train again") from None
        for key, value in values.items():
            if key == "step" or any(part in key for part in _NO_CURVE) or key.startswith(("train_", "total_")):
                continue
            if plain_json.is_finite(value):
                curves.setdefault(key, {})[step] = float(value)
    return {key: sorted(points.items()) for key, points in curves.items()}


def _recipe(path: Path) -> dict[str, Any]:
    try:
        recipe = plain_json.read(path)["provenance"]["recipe"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(flat(recipe)) if isinstance(recipe, dict) else {}
