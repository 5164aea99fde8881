"""A recipe for data that come without one: the method by size, the batch by the memory there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.from_corpus.method import (
    Method,
    Setting,
    choose_method,
    run_minutes,
    setting_of,
    split_path,
)
from lsa_whisper.finetuning.memory import Resources, estimate_run, label_tokens, nearest_fit, require_fit
from lsa_whisper.finetuning.memory.plan import Plan
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.recipe.reading import apply_override
from lsa_whisper.system.terminal import counted

_LARGE = 200e6
"""Parameters from which activations are recomputed (gradient checkpointing)."""
_MAX_CACHED = 2000
"""Windows whose features are kept in memory."""
_DEV_WINDOWS = 48
_EVALUATIONS = 4
_LOSSES = 6
"""How often the loss is logged in a run, at least."""


def plan_recipe(
    data: Path, base: str, out: Path, report: Callable[[str], None], *, set: Sequence[str] = (), force: bool = False
) -> str:
    """Return the text of a recipe, commented, that trains ``base`` on ``data`` and fits this machine.

    With ``force``, it need not fit. The time that is reported is that of a run with the overrides of ``set``.

    Raises:
        RecipeError: If no recipe fits; the message names what is nearest.
        ManifestError: If the data cannot be read.
    """
    setting = setting_of(data, base, out)
    raw, plan = fit_to_machine(choose_recipe(setting), setting, force=force)
    text = recipe_text(raw, setting.windows, plan)
    run = recipes.parse_recipe(text, set=set).training
    batch = run.per_device_train_batch_size * run.gradient_accumulation_steps
    passes = run.max_steps * batch / setting.windows if run.max_steps else run.num_train_epochs
    minutes = run_minutes(setting, choose_method(setting), passes)
    for line in [*describe(setting, raw, plan), *([_how_long(minutes)] if minutes is not None else [])]:
        report(line)
    return text


def choose_recipe(setting: Setting) -> dict[str, Any]:
    """Return a recipe as plain YAML values, its micro-batch as large as its batch."""
    method = choose_method(setting)
    steps = method.steps(setting.windows)
    raw: dict[str, Any] = {
        "data": _data(setting, method),
        "out": str(setting.out),
        "model": {"base": setting.base, **method.model},
    }
    raw |= {"adapter": method.adapter} if method.adapter else {}
    if setting.dev_windows:
        interval = max(1, steps // _EVALUATIONS)
        raw["evaluation"] = {"every_steps": interval, "max_windows": min(_DEV_WINDOWS, setting.dev_windows)}
    raw |= {"precision": "bf16" if setting.has_bf16 else "fp16"} if setting.has_gpu else {}
    raw["training"] = (
        _device(setting)
        | {
            "learning_rate": method.learning_rate,
            "lr_scheduler_type": method.schedule,
            "warmup_steps": 0.1 if steps < 1000 else 100,
            "num_train_epochs": method.epochs,
            "per_device_train_batch_size": method.batch,
            "logging_steps": max(1, min(25, steps // _LOSSES)),
        }
        | ({"base_share": method.base_share} if method.base_share else {})
    )
    return raw


def _how_long(minutes: float) -> str:
    """Return how long the run takes, for a person.

    >>> _how_long(0.4), _how_long(90)
    ('about 1 minute, without evaluations', 'about 1.5 hours, without evaluations')
    """
    time = f"{minutes / 60:.1f} hours" if minutes > 60 else f"{max(1, round(minutes))} minute{'s' * (minutes >= 1.5)}"
    return f"about {time}, without evaluations"


def fit_to_machine(raw: dict[str, Any], setting: Setting, *, force: bool = False) -> tuple[dict[str, Any], Plan | None]:
    """Return the recipe with the largest micro-batch that fits, and its plan; ``None`` if the model's size is unknown.

    Where not even single windows fit, the nearest plan that does is taken: another optimizer, offloading, a smaller
    adapter.

    Raises:
        RecipeError: If nothing fits, unless ``force`` is set.
    """
    resources = Resources.of_this_machine(_parsed(raw))
    hardware, tokens = resources.hardware, label_tokens(_parsed(raw))

    def estimate(recipe: Recipe) -> Plan:
        return estimate_run(recipe, hardware, label_tokens=tokens)

    smaller, micro_batch = raw, raw["training"]["per_device_train_batch_size"]
    while micro_batch >= 1:
        smaller = with_micro_batch(raw, micro_batch)
        try:
            plan = estimate(_parsed(smaller))
        except CheckpointError:
            return with_micro_batch(raw, 1 if setting.has_gpu else micro_batch), None
        if plan.fits and plan.is_comfortable:
            return smaller, plan
        micro_batch //= 2
    if plan.fits:
        return smaller, plan
    fit = nearest_fit(plan, _parsed(smaller), estimate)
    if fit is None:
        if not force:
            require_fit(_parsed(smaller), resources)  # raises: the sentence says what is missing
        return smaller, plan
    problems: list[str] = []
    for override in fit[1]:
        apply_override(smaller, override, problems)
    return smaller, fit[0]


def with_micro_batch(raw: dict[str, Any], micro_batch: int) -> dict[str, Any]:
    """Return the recipe with another micro-batch; gradient accumulation keeps its batch.

    >>> with_micro_batch({"training": {"per_device_train_batch_size": 16}}, 4)["training"]
    {'per_device_train_batch_size': 4, 'gradient_accumulation_steps': 4}
    """
    batch = raw["training"]["per_device_train_batch_size"]
    training = raw["training"] | {"per_device_train_batch_size": micro_batch}
    if micro_batch < batch:
        training["gradient_accumulation_steps"] = batch // micro_batch
    return raw | {"training": training}


def describe(setting: Setting, raw: dict[str, Any], plan: Plan | None) -> list[str]:
    """Return what was chosen, in lines for a person."""
    training, method = raw["training"], choose_method(setting)
    batch = training["per_device_train_batch_size"] * training.get("gradient_accumulation_steps", 1)
    where = "a GPU" if setting.has_gpu else "the CPU"
    lines = [
        f"chosen: {_trained(raw)} of {setting.base}, {method.epochs} epochs of {counted(setting.windows, 'window')}, "
        f"{method.steps(setting.windows)} steps of batch {batch}, learning rate {training['learning_rate']:g}, "
        f"on {where}"
    ]
    if plan is not None:
        gpu = f"{plan.gpu_gib:.1f} GiB on the GPU and " if setting.has_gpu else ""
        lines.append(f"plan: {plan.name}; about {gpu}{plan.host_gib:.1f} GiB of host memory")
    return lines


def _trained(raw: dict[str, Any]) -> str:
    """Return what of the model a recipe trains, for a person.

    >>> _trained({"model": {}, "adapter": {"rank": 16, "stacks": "decoder"}}), _trained({"model": {}})
    ('LoRA of rank 16 in the decoder', 'all weights')
    """
    if adapter := raw.get("adapter"):
        where = f" in the {adapter['stacks']}" if adapter.get("stacks", "both") != "both" else ""
        return f"LoRA of rank {adapter['rank']}{where}"
    return "the decoder's layers" if raw["model"].get("freeze_encoder") else "all weights"


def _data(setting: Setting, method: Method) -> dict[str, Any]:
    data: dict[str, Any] = {"train": str(split_path(setting.data, "train"))}
    data |= {"dev": str(split_path(setting.data, "dev"))} if setting.dev_windows else {}
    data |= {"workers": 4} if setting.has_gpu else {}
    data |= {"cache": True} if setting.windows <= _MAX_CACHED and not setting.has_gpu else {}
    return data | method.data


def _device(setting: Setting) -> dict[str, Any]:
    if not setting.has_gpu:
        return {"use_cpu": True}
    large = setting.parameters is None or setting.parameters >= _LARGE
    return {"gradient_checkpointing": True} if large else {}


def _parsed(raw: dict[str, Any]) -> Recipe:
    return recipes.parse_recipe(yaml.safe_dump(raw))


_COMMENTS = {
    "data": "Training and development data, as 'lsa-whisper prepare' wrote them.",
    "out": "Folder of the checkpoint.",
    "model": "The model to start from.",
    "adapter": "LoRA: small matrices are trained, the base model stays frozen.",
    "strategy": "How the model is laid out over GPUs and host memory.",
    "offload": "What is kept outside of GPU memory.",
    "evaluation": "Scores on the development set while training; the best checkpoint is kept.",
    "precision": "Computation in 16 bits, weights in 32.",
    "training": "Batches, length and learning rate; checkpoints are saved by themselves.",
}


def recipe_text(raw: dict[str, Any], windows: int, plan: Plan | None) -> str:
    """Return ``raw`` as commented YAML that :func:`~lsa_whisper.finetuning.recipe.parse_recipe` reads.

    ``raw`` has its sections in order. The number of windows and the plan, if known, are in the comments.
    """
    lines = [f"# Chosen by lsa-whisper for {counted(windows, 'training window')} and the machine it ran on."]
    if plan is not None:
        gpu = f"{plan.gpu_gib:.1f} GiB on the GPU, " if plan.job.hardware.gpus else ""
        lines.append(f"# Plan: {plan.name}; about {gpu}{plan.host_gib:.1f} GiB of host memory.")
    lines.append("# Change what you like; docs/reference/recipes.md lists all settings.")
    for key, value in raw.items():
        lines += ["", f"# {_COMMENTS[key]}"] if key in _COMMENTS else [""]
        lines += yaml.safe_dump({key: value}, sort_keys=False, allow_unicode=True, width=1000).splitlines()
    return "\n".join(lines) + "\n"
