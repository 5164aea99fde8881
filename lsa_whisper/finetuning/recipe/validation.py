"""Problems of a recipe beyond single values: sections in themselves, and settings that exclude each other.

Each rule names the settings that it looks at, and is left out where one of them has a problem of its own: its message
would be about a default that the recipe does not contain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from lsa_whisper.finetuning.recipe import conflicts
from lsa_whisper.finetuning.recipe.schema import Recipe
from lsa_whisper.finetuning.recipe.trainer_args import trainer_args_problems
from lsa_whisper.finetuning.settings.run import is_valid_context
from lsa_whisper.finetuning.strategies import STRATEGIES, strategy_of

_NAME_BYTES, _PATH_BYTES = 240, 4000
"""File systems take names of 255 bytes and paths of 4,096; a run appends to the name of its folder."""


_Rule = tuple[Collection[str], Callable[[Recipe], Iterable[str]]]


def problems_of(recipe: Recipe, faulty: Collection[str] = ()) -> list[str]:
    """Return every problem of a recipe, each starting with its key.

    Rules about the ``faulty`` settings, which have a problem already, are left out.
    """
    problems: list[str] = []
    own = (((*settings, "strategy"), rule) for settings, rule in strategy_of(recipe).rules)
    for settings, rule in (*_RULES, *own, *_LAST_RULES):
        if not set(settings) & set(faulty):
            problems += rule(recipe)
    return problems


def path_problem(text: str) -> str | None:
    """Return why ``text`` cannot be the path of a file or a folder, ``None`` if it can.

    >>> path_problem("runs/a"), path_problem(" "), path_problem("a" * 300)
    (None, 'is empty', 'a name of 300 bytes; choose one of at most 240')
    """
    if not text.strip():
        return "is empty"
    if (whole := os.path.expanduser(text)) != text:  # noqa: PTH111 (that of Path raises for ~x)
        return f"{text}: ~ is not replaced in a recipe; write {whole}"
    if not text.isprintable():
        return f"{text!r} holds a character that does not belong into a path"
    longest = max(len(part.encode()) for part in text.split("/"))
    if longest > _NAME_BYTES:
        return f"a name of {longest} bytes; choose one of at most {_NAME_BYTES}"
    size = len(text.encode())
    return f"a path of {size} bytes; choose one of at most {_PATH_BYTES}" if size > _PATH_BYTES else None


def name_problems(recipe: Recipe) -> Iterator[str]:
    """Yield the problems of the recipe's paths."""
    evaluation, scratch = recipe.evaluation, recipe.model.scratch
    names: dict[str, str | None] = {"out": recipe.out, "data.train": recipe.data.train, "data.dev": recipe.data.dev}
    names |= {"model.base": recipe.model.base, "offload.nvme_path": recipe.offload.nvme_path}
    names |= {"evaluation.out_of_domain": evaluation.out_of_domain} if evaluation else {}
    names |= {f"evaluation.dev_sets.{name}": path for name, path in (evaluation.dev_sets if evaluation else {}).items()}
    for number, path in enumerate(scratch.vocab_manifests if scratch else ()):
        names[f"model.scratch.vocab_manifests[{number}]"] = path
    for key, text in names.items():
        if text is not None and (problem := path_problem(text)):
            yield f"{key}: {problem}"
        elif key == "out" and not Path(recipe.out).name:
            yield f"out: {recipe.out} is not the name of a new folder; choose one such as runs/first"


def _model(recipe: Recipe) -> Iterator[str]:
    model = recipe.model
    if (model.base is None) == (model.scratch is None):
        yield "model: set either base (a checkpoint) or scratch (dimensions of a new model)"
    if model.context_s is not None and not is_valid_context(model.context_s):
        yield f"model.context_s: must be a whole number of seconds, 1 or more, not {model.context_s:g}"
    yield from _section("model.scratch", model.scratch)


def _section(place: str, section: Any) -> Iterator[str]:
    yield from (f"{place}.{problem}" for problem in (section.problems() if section else ()))


def _strategy(recipe: Recipe) -> Iterator[str]:
    for problem in conflicts.foreign(recipe, "auto_micro_batch"):
        yield f"{problem}; one of several ranks cannot restart alone"
    yield from conflicts.foreign(recipe, "fsdp")


def _offload(recipe: Recipe) -> Iterator[str]:
    """Yield what cannot be offloaded under the recipe's strategy."""
    for name in ("optimizer", "parameters"):
        place = getattr(recipe.offload, name)
        if place != "none" and (name, place) not in strategy_of(recipe).offloads:
            able = (strategy for strategy in STRATEGIES.values() if (name, place) in strategy.offloads)
            yield f"offload.{name}: {place} needs strategy {' or '.join(strategy.name for strategy in able)}"
        elif place == "nvme" and not recipe.offload.nvme_path:
            yield "offload.nvme_path: name a folder on a fast local disk for nvme"
    if recipe.fsdp.sharding_strategy == "no_shard" and recipe.offload.parameters != "none":
        yield "offload.parameters: fsdp2 offloads only what it shards; use another fsdp.sharding_strategy than no_shard"


def _evaluation(recipe: Recipe) -> Iterator[str]:
    if recipe.evaluation and not recipe.data.dev:
        yield "evaluation: needs data.dev, the manifest of the dev set"


_RULES: tuple[_Rule, ...] = (
    (("data", "out", "model", "offload", "evaluation"), name_problems),
    (("data",), lambda recipe: _section("data.augment", recipe.data.augment)),
    (("adapter",), lambda recipe: _section("adapter", recipe.adapter)),
    (("evaluation",), lambda recipe: _section("evaluation", recipe.evaluation)),
    (("model",), _model),
    (("strategy", "auto_micro_batch", "fsdp"), _strategy),
    (("strategy", "offload", "fsdp"), _offload),
    (("strategy", "deepspeed"), conflicts.deepspeed),
    (("model", "strategy"), conflicts.layers),
    (("model", "strategy", "adapter"), conflicts.adapter),
    (("model", "strategy", "loss"), conflicts.loss),
    (("strategy", "precision"), conflicts.strategy_precision),
    (("model", "adapter", "precision", "strategy", "training", "optimizer"), conflicts.precision),
    (("strategy", "optimizer", "precision", "training"), conflicts.optimizer),
    (("strategy", "tensor_parallel"), lambda recipe: conflicts.foreign(recipe, "tensor_parallel")),
    (("strategy", "pipeline"), lambda recipe: conflicts.foreign(recipe, "pipeline")),
)
"""The settings that each rule looks at, and the rule; those of the recipe's strategy follow."""
_LAST_RULES: tuple[_Rule, ...] = (
    (("model", "adapter", "strategy", "training"), conflicts.averaging),
    (("training",), conflicts.training),
    (("data",), conflicts.prompt),
    (("model", "precision", "training"), conflicts.attention),
    (("evaluation", "data"), _evaluation),
    (("trainer_args",), lambda recipe: trainer_args_problems(recipe.trainer_args)),
)
"""Rules that follow those of the strategy."""
