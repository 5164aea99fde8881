"""Training runs side by side: what each logged as it went, and in what their recipes differ.

A run is the folder of a fine-tuned model: ``curve.jsonl`` holds one JSON object per logged step, ``lsa_whisper.json``
the recipe. A run that goes on, or was stopped, is read from ``RUN.unfinished``. Every number a run logged at its
evaluations (names that begin with ``eval_``) has a curve.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lsa_whisper import plain_json
from lsa_whisper.errors import CorpusError
from lsa_whisper.evaluate.pairing import system_names
from lsa_whisper.evaluate.text import columns
from lsa_whisper.scoring.metrics import METRICS

Points = list[tuple[int, float]]

_ALWAYS = ("loss", "eval_loss", "eval_wer_verbatim", "eval_disfluency_f1")
_TITLES = {
    "loss": "Loss in training",
    "eval_loss": "Loss on the development set",
    "learning_rate": "Learning rate",
    "grad_norm": "Size of the gradient",
} | {f"eval_{metric.key}": f"{metric.title} (development set)" for metric in METRICS}
_NO_CURVE = ("runtime", "per_second", "epoch", "model_preparation_time", "_memory", "jit_compilation")
_RISING = ("f1", "accuracy", "precision", "recall")


@dataclass(frozen=True)
class Run:
    """One training run; ``curves`` by logged name, points in order of their step."""

    name: str
    folder: Path
    curves: Mapping[str, Points]
    recipe: Mapping[str, Any]
    """Flat: ``training.learning_rate`` and the like; empty while the run goes on."""
    finished: bool = True

    @property
    def steps(self) -> int:
        """The last step that was logged."""
        return max((step for points in self.curves.values() for step, _ in points), default=0)

    def best(self, key: str) -> tuple[int, float] | None:
        """Return the step and value of the best point of a curve; ``None`` where there is none."""
        points = self.curves.get(key)
        if not points or not judged(key):
            return None
        return (max if rises(key) else min)(points, key=lambda point: point[1])


@dataclass(frozen=True)
class Runs:
    """Training runs to be laid side by side."""

    runs: tuple[Run, ...]
    report: Path | None = None
    """The HTML report, when one was written."""

    @cached_property
    def keys(self) -> list[str]:
        """The names of all curves, the most telling first."""
        logged = dict.fromkeys(key for run in self.runs for key in run.curves)
        return [key for key in _ALWAYS if key in logged] + sorted(key for key in logged if key not in _ALWAYS)

    @cached_property
    def unlike(self) -> list[str]:
        """The recipe's entries in which the finished runs differ."""
        recipes = [run.recipe for run in self.runs if run.recipe]
        keys = dict.fromkeys(key for recipe in recipes for key in recipe)
        return [key for key in keys if len({json.dumps(recipe.get(key)) for recipe in recipes}) > 1]

    def table(self) -> str:
        """Return steps, and the best point of each curve, as text for a terminal."""
        rows = [["", *(run.name for run in self.runs)], ["steps", *(str(run.steps) for run in self.runs)]]
        rows += [
            [f"best {title(key).lower()}", *(shown(run.best(key)) for run in self.runs)]
            for key in self.keys
            if judged(key)
        ]
        return "\n".join([columns(rows), *self.remarks()])

    def remarks(self) -> Iterator[str]:
        """Yield what a reader of the curves has to know, in plain sentences."""
        for run in self.runs:
            if not run.finished:
                yield f"{run.name}: not finished; its curve ends where the training stands or was stopped"
            if not any(key.startswith("eval_") for key in run.curves):
                yield f"{run.name}: was never evaluated while it trained, so only its own loss is known"


def read_runs(folders: Sequence[Path], names: Sequence[str] = ()) -> Runs:
    """Return the training runs in ``folders``, called by ``names`` or else by their folders.

    Raises:
        CorpusError: a folder does not exist or holds no ``curve.jsonl``, or the names do not fit.
    """
    called = system_names(folders, names, "run")
    return Runs(tuple(_read(path, name) for path, name in zip(folders, called, strict=True)))


def title(key: str) -> str:
    """Return what a curve is called.

    >>> title("eval_loss"), title("eval_something_new")
    ('Loss on the development set', 'eval_something_new')
    """
    return _TITLES.get(key, key)


def judged(key: str) -> bool:
    """Return whether a value of the curve can be better than another (a learning rate cannot)."""
    return key == "loss" or key.startswith("eval_")


def rises(key: str) -> bool:
    """Return whether more of it is better."""
    return key.endswith(_RISING)


def shown(point: tuple[int, float] | None) -> str:
    """Return a point of a curve as text."""
    return "-" if point is None else f"{point[1]:.4g} (step {point[0]})"


def _read(folder: Path, name: str) -> Run:
    finished = folder.is_dir()
    place = folder if finished else folder.with_name(folder.name + ".unfinished")
    curve = place / "curve.jsonl"
    if not place.is_dir():
        raise CorpusError(f"{folder}: there is no such training run; give the folder that finetune wrote")
    if not curve.is_file():
        raise CorpusError(f"{folder}: holds no curve.jsonl; give the folder that finetune wrote")
    finished = finished and not folder.name.endswith(".unfinished")
    return Run(name, folder, _curves(curve), _recipe(place / "lsa_whisper.json"), finished)


def _curves(path: Path) -> dict[str, Points]:
    """Return the curves of a log; of a step that was logged twice (after a resume) the later value counts."""
    curves: dict[str, dict[int, float]] = {}
    lines = path.read_text("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            logged = plain_json.parse(line)
            step = int(logged["step"])
        except (ValueError, TypeError, KeyError, OverflowError):
            if number == len(lines):  # the line a crash cut off
                break
            raise CorpusError(f"{path}:{number}: is no logged step; remove the line or train again") from None
        for key, value in logged.items():
            if key == "step" or any(part in key for part in _NO_CURVE) or key.startswith(("train_", "total_")):
                continue
            if plain_json.is_finite(value):
                curves.setdefault(key, {})[step] = float(value)
    return {key: sorted(points.items()) for key, points in curves.items()}


def _recipe(path: Path) -> dict[str, Any]:
    try:
        said = plain_json.read(path)["provenance"]["recipe"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(_flat(said)) if isinstance(said, dict) else {}


def _flat(recipe: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in recipe.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value
