"""The comparison of training runs: best values, recipe differences, and its text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsa_whisper.finetuning.compare_runs.training_runs import Run, curve_title, has_best
from lsa_whisper.page.text import text_table

_FIRST = ("loss", "eval_loss", "eval_wer_verbatim", "eval_disfluency_f1")


@dataclass(frozen=True)
class RunComparison:
    """Training runs to be compared, in the order in which they were given."""

    runs: tuple[Run, ...]
    report: Path | None = None
    """The HTML report, if one was written."""

    @cached_property
    def keys(self) -> list[str]:
        """The names of all curves, the most informative first."""
        logged = dict.fromkeys(key for run in self.runs for key in run.curves)
        return [key for key in _FIRST if key in logged] + sorted(key for key in logged if key not in _FIRST)

    @cached_property
    def recipe_differences(self) -> list[str]:
        """The recipe keys whose values differ between finished runs."""
        recipes = [run.recipe for run in self.runs if run.recipe]
        keys = dict.fromkeys(key for recipe in recipes for key in recipe)
        return [key for key in keys if len({json.dumps(recipe.get(key)) for recipe in recipes}) > 1]

    def table(self) -> str:
        """Return the steps and the best value of each curve as text for a terminal."""
        rows = [["", *(run.name for run in self.runs)], ["steps", *(str(run.steps) for run in self.runs)]]
        rows += [
            [f"best {curve_title(key).lower()}", *(format_point(run.best(key)) for run in self.runs)]
            for key in self.keys
            if has_best(key)
        ]
        return "\n".join([text_table(rows), *self.remarks()])

    def remarks(self) -> Iterator[str]:
        """Yield the limits of the comparison, in plain sentences."""
        for run in self.runs:
            if not run.finished:
                yield f"{run.name}: not finished; its curves end at the last logged step"
            if not any(key.startswith("eval_") for key in run.curves):
                yield f"{run.name}: was not evaluated during training, so only its training loss is known"


def format_point(point: tuple[int, float] | None) -> str:
    """Return a point of a curve as text.

    >>> format_point((20, 0.4)), format_point(None)
    ('0.4 (step 20)', '-')
    """
    return "-" if point is None else f"{point[1]:.4g} (step {point[0]})"
