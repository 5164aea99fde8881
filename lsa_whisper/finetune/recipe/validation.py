"""What is wrong with a recipe as a whole: values out of range, settings in the wrong place."""

from __future__ import annotations

from lsa_whisper.finetune.recipe.conflicts import clashes
from lsa_whisper.finetune.recipe.schema import Fsdp, Recipe, is_context

STRATEGIES = ("single", "ddp", "zero2", "zero3", "fsdp2")
SHARDS = ("full", "gradients", "hybrid", "none")
_PLACES = {
    "optimizer": {"zero2": ("none", "cpu", "nvme"), "zero3": ("none", "cpu", "nvme")},
    "parameters": {"zero3": ("none", "cpu", "nvme"), "fsdp2": ("none", "cpu")},
}


def problems_of(recipe: Recipe) -> list[str]:
    """Return every problem of a recipe, key first."""
    problems = [f"data.augment.{problem}" for problem in recipe.data.augment.problems()]
    problems += [f"loss.{problem}" for problem in recipe.loss.problems()]
    problems += [f"adapter.{problem}" for problem in (recipe.adapter.problems() if recipe.adapter else ())]
    problems += [f"evaluation.{problem}" for problem in (recipe.evaluation.problems() if recipe.evaluation else ())]
    scratch = recipe.model.scratch
    problems += [f"model.scratch.{problem}" for problem in (scratch.problems() if scratch else ())]
    if (recipe.model.base is None) == (recipe.model.scratch is None):
        problems.append("model: give either base (a checkpoint) or scratch (a shape for new weights)")
    if recipe.data.workers < 0:
        problems.append(f"data.workers: 0 or more, not {recipe.data.workers}")
    if not 0 <= recipe.data.untrimmed <= 1:
        problems.append(f"data.untrimmed: a share from 0 to 1, not {recipe.data.untrimmed:g}")
    if recipe.model.dropout is not None and not 0 <= recipe.model.dropout < 1:
        problems.append(f"model.dropout: from 0 up to 1, not {recipe.model.dropout:g}")
    if recipe.model.context_s is not None and not is_context(recipe.model.context_s):
        problems.append(f"model.context_s: whole seconds from 1 on, not {recipe.model.context_s:g}")
    if recipe.model.ctc_weight < 0:
        problems.append(f"model.ctc_weight: 0 or more, not {recipe.model.ctc_weight:g}")
    if recipe.model.train not in ("all", "decoder"):
        problems.append(f"model.train: 'all' or 'decoder', not {recipe.model.train!r}")
    if recipe.strategy not in STRATEGIES:
        problems.append(f"strategy: one of {', '.join(STRATEGIES)}, not {recipe.strategy!r}")
    if recipe.auto_micro_batch and recipe.strategy != "single":
        problems.append("auto_micro_batch: needs strategy single; of several processes one alone cannot turn back")
    if recipe.adapter and recipe.model.scratch:
        problems.append("adapter: new weights are trained whole; leave the adapter out")
    problems += clashes(recipe)
    problems += _misplaced(recipe)
    if recipe.fsdp.shard not in SHARDS:
        problems.append(f"fsdp.shard: one of {', '.join(SHARDS)}, not {recipe.fsdp.shard!r}")
    if recipe.fsdp != Fsdp() and recipe.strategy != "fsdp2":
        problems.append("fsdp: needs strategy fsdp2")
    if recipe.deepspeed and recipe.strategy not in ("zero2", "zero3"):
        problems.append("deepspeed: needs strategy zero2 or zero3")
    return problems


def _misplaced(recipe: Recipe) -> list[str]:
    """Return what is wrong with the places of optimizer and parameters under the recipe's strategy."""
    problems = []
    for name, places in _PLACES.items():
        place = getattr(recipe.offload, name)
        if place not in places["zero3"]:
            problems.append(f"offload.{name}: one of {', '.join(places['zero3'])}, not {place!r}")
        elif place not in places.get(recipe.strategy, ("none",)):
            able = [strategy for strategy, known in places.items() if place in known]
            problems.append(f"offload.{name}: {place} needs strategy {' or '.join(able)}")
        elif place == "nvme" and not recipe.offload.path:
            problems.append("offload.path: name a folder on a fast local disk for nvme")
    if recipe.fsdp.shard == "none" and recipe.offload.parameters != "none":
        problems.append("offload.parameters: fsdp2 moves only what it shards; choose another fsdp.shard than none")
    return problems
