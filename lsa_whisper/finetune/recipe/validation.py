"""Problems of a recipe: values out of range, settings that the strategy does not support, conflicting settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from lsa_whisper.finetune.recipe.conflicts import conflicts
from lsa_whisper.finetune.recipe.schema import FsdpSettings, ModelSettings, Recipe, is_valid_context

STRATEGIES = ("single", "ddp", "zero2", "zero3", "fsdp2")
SHARDING_STRATEGIES = ("full_shard", "shard_grad_op", "hybrid_shard", "no_shard")
_OFFLOAD_TARGETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "optimizer": {"zero2": ("none", "cpu", "nvme"), "zero3": ("none", "cpu", "nvme")},
    "parameters": {"zero3": ("none", "cpu", "nvme"), "fsdp2": ("none", "cpu")},
}


class _Section(Protocol):
    def problems(self) -> Iterable[str]: ...


def problems_of(recipe: Recipe) -> list[str]:
    """Return every problem of a recipe, each starting with its key."""
    return [*_of_sections(recipe), *_model(recipe.model), *_data_and_strategy(recipe), *conflicts(recipe)]


def _of_sections(recipe: Recipe) -> Iterator[str]:
    sections: dict[str, _Section | None] = {
        "data.augment": recipe.data.augment,
        "loss": recipe.loss,
        "adapter": recipe.adapter,
        "evaluation": recipe.evaluation,
        "model.scratch": recipe.model.scratch,
    }
    for place, section in sections.items():
        yield from (f"{place}.{problem}" for problem in (section.problems() if section else ()))


def _model(model: ModelSettings) -> Iterator[str]:
    if (model.base is None) == (model.scratch is None):
        yield "model: set either base (a checkpoint) or scratch (dimensions of a new model)"
    if model.top_layers is not None and model.top_layers < 1:
        yield f"model.top_layers: must be 1 or more, not {model.top_layers}"
    if model.dropout is not None and not 0 <= model.dropout < 1:
        yield f"model.dropout: must be at least 0 and below 1, not {model.dropout:g}"
    if model.context_s is not None and not is_valid_context(model.context_s):
        yield f"model.context_s: must be a whole number of seconds, 1 or more, not {model.context_s:g}"
    if model.ctc_weight < 0:
        yield f"model.ctc_weight: must be 0 or more, not {model.ctc_weight:g}"


def _data_and_strategy(recipe: Recipe) -> Iterator[str]:
    if recipe.data.workers < 0:
        yield f"data.workers: must be 0 or more, not {recipe.data.workers}"
    if not 0 <= recipe.data.full_length_share <= 1:
        yield f"data.full_length_share: must be between 0 and 1, not {recipe.data.full_length_share:g}"
    if recipe.strategy not in STRATEGIES:
        yield f"strategy: must be one of {', '.join(STRATEGIES)}, not {recipe.strategy!r}"
    if recipe.auto_micro_batch and recipe.strategy != "single":
        yield "auto_micro_batch: needs strategy single; one of several ranks cannot restart alone"
    yield from _offload(recipe)
    if recipe.fsdp.sharding_strategy not in SHARDING_STRATEGIES:
        allowed = ", ".join(SHARDING_STRATEGIES)
        yield f"fsdp.sharding_strategy: must be one of {allowed}, not {recipe.fsdp.sharding_strategy!r}"
    if recipe.fsdp != FsdpSettings() and recipe.strategy != "fsdp2":
        yield "fsdp: needs strategy fsdp2"
    if recipe.deepspeed and recipe.strategy not in ("zero2", "zero3"):
        yield "deepspeed: needs strategy zero2 or zero3"


def _offload(recipe: Recipe) -> Iterator[str]:
    """Yield offload targets that do not exist or that the recipe's strategy does not support."""
    for name, targets in _OFFLOAD_TARGETS.items():
        target = getattr(recipe.offload, name)
        if target not in targets["zero3"]:
            yield f"offload.{name}: must be one of {', '.join(targets['zero3'])}, not {target!r}"
        elif target not in targets.get(recipe.strategy, ("none",)):
            able = [strategy for strategy, known in targets.items() if target in known]
            yield f"offload.{name}: {target} needs strategy {' or '.join(able)}"
        elif target == "nvme" and not recipe.offload.nvme_path:
            yield "offload.nvme_path: name a folder on a fast local disk for nvme"
    if recipe.fsdp.sharding_strategy == "no_shard" and recipe.offload.parameters != "none":
        yield "offload.parameters: fsdp2 offloads only what it shards; use another fsdp.sharding_strategy than no_shard"
