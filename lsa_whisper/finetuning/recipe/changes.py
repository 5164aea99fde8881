"""Differences between two recipes, and which of them leave the trained weights as they are."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from typing import Any

from lsa_whisper.finetuning.recipe.schema import Recipe
from lsa_whisper.finetuning.recipe.values import flat

Changes = dict[str, tuple[Any, Any]]
"""The former and the present value of each key that differs."""
_LISTED = 6
"""Changes that a message names."""

HARMLESS = frozenset(
    (
        "out",
        "data.train",
        "data.workers",
        "auto_micro_batch",
        "strategy",
        "tensor_parallel",
        "pipeline.schedule",
        "pipeline.micro_batches",
        "fsdp.sharding_strategy",
        "fsdp.cpu_ram_efficient_loading",
        "offload.nvme_path",
        "evaluation.batch_size",
        "evaluation.samples",
        "evaluation.trackers",
        "evaluation.plot",
        "training.per_device_train_batch_size",
        "training.gradient_accumulation_steps",
        "training.gradient_checkpointing",
        "training.use_cpu",
        "training.logging_steps",
        "training.save_strategy",
        "training.save_steps",
        "training.save_total_limit",
    )
)
"""Settings that do not change what is trained, only where, how fast and with what logs. A resumed run also compares the
contents of the manifest, the kind of its strategy and the number of windows in an optimizer step."""


def recipe_values(recipe: Recipe) -> dict[str, Any]:
    """Return a recipe as the values that a JSON file holds."""
    values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(recipe)))
    return values


def changes(before: Mapping[str, Any], now: Mapping[str, Any], *, besides: Collection[str] = ()) -> Changes:
    """Return the keys in which two recipes differ, with both values; ``None`` where a recipe does not have the key.

    >>> changes({"adapter": {"rank": 16}, "seed": 1}, {"adapter": {"rank": 32}, "seed": 2}, besides=["seed"])
    {'adapter.rank': (16, 32)}

    Args:
        before: A recipe from :func:`recipe_values`.
        now: Another one.
        besides: Keys that are not compared.
    """
    one, other = dict(flat(before)), dict(flat(now))
    return {
        key: (one.get(key), other.get(key))
        for key in {**one, **other}
        if key not in besides and one.get(key) != other.get(key)
    }


def describe_changes(found: Changes) -> str:
    """Return changes as part of a sentence.

    >>> describe_changes({"seed": (1, 2), "training.learning_rate": (1e-5, 0.001)})
    'seed 1, not 2, and training.learning_rate 1e-05, not 0.001'
    """
    parts = [f"{key} {before!r}, not {now!r}" for key, (before, now) in list(found.items())[:_LISTED]]
    parts += [f"{len(found) - _LISTED} other settings"] if len(found) > _LISTED else []
    return ", and ".join(parts)
