"""A recipe for data that come without one: method, epochs and learning rate by size, batch by the memory there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper import manifest
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.from_corpus.recipe_text import recipe_text
from lsa_whisper.finetuning.memory import Resources, estimate_run, require_fit
from lsa_whisper.finetuning.memory.alternatives import nearest_fit
from lsa_whisper.finetuning.memory.check import label_tokens
from lsa_whisper.finetuning.memory.plan import COMFORTABLE, Plan
from lsa_whisper.finetuning.memory.shape import shape_of
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.recipe.fields import apply_override
from lsa_whisper.system.gpu_card import has_native_bf16

_SMALL = 30e6
"""Parameters up to which all weights are trained: a model this small has no room to spare for a LoRA of rank 32."""
_LARGE = 200e6
"""Parameters from which activations are recomputed (gradient checkpointing)."""
_LEARNING_RATE = {"full": 8e-4, "lora": 1e-3}
_STEPS = 500
"""Optimizer steps to aim at; the demo's recipes take 520."""
_MIN_EPOCHS, _MAX_EPOCHS = 3, 8
_MAX_CACHED = 2000
"""Windows whose features are kept in memory."""
_DEV_WINDOWS = 48
_EVALUATIONS = 4


@dataclass(frozen=True)
class Setting:
    """What a recipe is chosen for.

    Attributes:
        data: The folder of prepared data, absolute.
        base: The model to start from.
        out: The checkpoint's folder.
        windows: Training windows.
        dev_windows: Windows of the dev set; 0 if there is none.
        parameters: The base model's; ``None`` if unknown.
        has_gpu: Whether torch finds a GPU.
        has_bf16: Whether the GPU computes in bfloat16.
    """

    data: Path
    base: str
    out: Path
    windows: int
    dev_windows: int
    parameters: int | None
    has_gpu: bool
    has_bf16: bool = True

    @property
    def is_small(self) -> bool:
        """Whether all weights are trained."""
        return self.parameters is not None and self.parameters <= _SMALL

    @property
    def batch(self) -> int:
        """Windows per optimizer step."""
        return 4 if self.is_small else 16 if self.windows >= 160 else 8

    @property
    def epochs(self) -> int:
        """Passes over the data, more for a small corpus."""
        return max(_MIN_EPOCHS, min(_MAX_EPOCHS, round(_STEPS * self.batch / self.windows)))

    @property
    def steps(self) -> int:
        """Optimizer steps of the whole run."""
        return -(-self.windows // self.batch) * self.epochs


def plan_recipe(data: Path, base: str, out: Path, report: Callable[[str], None]) -> str:
    """Return the text of a recipe, commented, that trains ``base`` on ``data`` and fits this machine.

    Raises:
        RecipeError: If no recipe fits; the message names what is nearest.
        ManifestError: If the data cannot be read.
    """
    setting = _setting(data, base, out)
    raw = choose_recipe(setting)
    raw, plan = fit_to_machine(raw, setting)
    for line in describe(setting, raw, plan):
        report(line)
    return recipe_text(raw, setting.windows, plan)


def choose_recipe(setting: Setting) -> dict[str, Any]:
    """Return a recipe as plain YAML values, its micro-batch as large as its batch."""
    method = "full" if setting.is_small else "lora"
    raw: dict[str, Any] = {
        "data": _data(setting),
        "out": str(setting.out),
        "model": {"base": setting.base} | ({"dropout": 0.1} if setting.is_small else {}),
    }
    if method == "lora":
        raw["adapter"] = {"rank": 32, "alpha": 64}
    every = max(1, setting.steps // _EVALUATIONS)
    if setting.dev_windows:
        raw["evaluation"] = {"every_steps": every, "max_windows": min(_DEV_WINDOWS, setting.dev_windows)}
    raw |= {"precision": "bf16" if setting.has_bf16 else "fp16"} if setting.has_gpu else {}
    raw["training"] = _device(setting) | {
        "learning_rate": _LEARNING_RATE[method],
        "lr_scheduler_type": "cosine",
        "warmup_steps": max(1, min(100, setting.steps // 10)),
        "num_train_epochs": setting.epochs,
        "per_device_train_batch_size": setting.batch,
    }
    return raw


def fit_to_machine(raw: dict[str, Any], setting: Setting) -> tuple[dict[str, Any], Plan | None]:
    """Return the recipe with the largest micro-batch that fits, and its plan; ``None`` if the model's size is unknown.

    Where not even single windows fit, the nearest plan that does is taken: another optimizer, offloading, a smaller
    adapter.

    Raises:
        RecipeError: If nothing fits.
    """
    resources = Resources.of_this_machine(_parsed(raw))
    hardware, tokens = resources.hardware, label_tokens(_parsed(raw))

    def estimate(recipe: Recipe) -> Plan:
        return estimate_run(recipe, hardware, label_tokens=tokens)

    smaller, micro_batch = raw, setting.batch
    while micro_batch >= 1:
        smaller = with_micro_batch(raw, micro_batch)
        try:
            plan = estimate(_parsed(smaller))
        except CheckpointError:
            return with_micro_batch(raw, 1 if setting.has_gpu else micro_batch), None
        if plan.fits and _is_comfortable(plan):
            return smaller, plan
        micro_batch //= 2
    if plan.fits:
        return smaller, plan
    found = nearest_fit(plan, _parsed(smaller), estimate)
    if found is None:
        require_fit(_parsed(smaller), resources)  # raises: the sentence says what is missing
        return smaller, plan
    return _overridden(smaller, found[1]), found[0]


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
    training = raw["training"]
    method = f"LoRA of rank {raw['adapter']['rank']}" if "adapter" in raw else "all weights"
    batch = training["per_device_train_batch_size"] * training.get("gradient_accumulation_steps", 1)
    where = "a GPU" if setting.has_gpu else "the CPU"
    lines = [
        f"chosen: {method} of {setting.base}, {setting.epochs} epochs of {setting.windows} windows, "
        f"{setting.steps} steps of batch {batch}, learning rate {training['learning_rate']:g}, on {where}"
    ]
    if plan is not None:
        gpu = f"{plan.gpu_gib:.1f} GiB on the GPU and " if setting.has_gpu else ""
        lines.append(f"plan: {plan.name}; about {gpu}{plan.host_gib:.1f} GiB of host memory")
    return lines


def _setting(data: Path, base: str, out: Path) -> Setting:
    import torch

    dev = split_path(data, "dev")
    has_gpu = torch.cuda.is_available()
    return Setting(
        data=data,
        base=base,
        out=out,
        windows=_count(split_path(data, "train")),
        dev_windows=_count(dev) if dev.is_file() or "*" in dev.name else 0,
        parameters=_parameters(base),
        has_gpu=has_gpu,
        has_bf16=has_native_bf16(),
    )


def split_path(data: Path, split: str) -> Path:
    """Return the manifest of a split in prepared data, or the glob of its shards where only those are there."""
    rows = data / f"{split}.jsonl"
    shards = next(data.glob(f"{split}-*.parquet"), None)
    return data / f"{split}-*.parquet" if shards is not None and not rows.is_file() else rows


def _count(path: Path) -> int:
    return sum(1 for _ in manifest.stream(path))


def _parameters(base: str) -> int | None:
    try:
        return shape_of(base).parameters
    except CheckpointError:
        return None


def _data(setting: Setting) -> dict[str, Any]:
    data: dict[str, Any] = {"train": str(split_path(setting.data, "train"))}
    data |= {"dev": str(split_path(setting.data, "dev"))} if setting.dev_windows else {}
    data |= {"workers": 4} if setting.has_gpu else {}
    data |= {"cache": True} if setting.windows <= _MAX_CACHED and not setting.has_gpu else {}
    data |= {"trim": True}
    return data | ({"augment": {"speed_perturbation": 0.1}} if setting.is_small else {})


def _device(setting: Setting) -> dict[str, Any]:
    if not setting.has_gpu:
        return {"use_cpu": True}
    large = setting.parameters is None or setting.parameters >= _LARGE
    return {"gradient_checkpointing": True} if large else {}


def _is_comfortable(plan: Plan) -> bool:
    hardware = plan.job.hardware
    on_gpu = not hardware.gpus or plan.gpu_gib <= COMFORTABLE * hardware.gpu_gib
    return on_gpu and (hardware.host_gib is None or plan.host_gib <= COMFORTABLE * hardware.host_gib)


def _parsed(raw: dict[str, Any]) -> Recipe:
    return recipes.parse_recipe(yaml.safe_dump(raw))


def _overridden(raw: dict[str, Any], overrides: list[str]) -> dict[str, Any]:
    """Return the recipe with ``section.key=value`` overrides written into it."""
    problems: list[str] = []
    for override in overrides:
        apply_override(raw, override, problems)
    return raw
