"""The plans of a model, their table for a terminal of 80 or 120 columns, and the recommendation."""

from __future__ import annotations

import dataclasses
import functools
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from lsa_whisper.finetuning.memory.configuration import missing_packages
from lsa_whisper.finetuning.memory.plan import Hardware, Plan
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.settings.values import changed_values
from lsa_whisper.finetuning.workload.configuration import adapter_name
from lsa_whisper.system.machine import GIB

_PARTS = {
    "weights": "weights",
    "gradients": "grads",
    "optimizer": "optim.",
    "activations": "activ.",
    "buffers": "buffers",
}
_WIDTH, _WIDE = 80, 120
_NO_GPU = (
    "Without a GPU, offloading to the CPU frees nothing and keeps additional copies: it needs MORE memory than plain "
    "AdamW (single). To save memory, train a LoRA or offload the optimizer to a disk (nvme)."
)


@dataclass(frozen=True)
class Estimate:
    """The plans of every training configuration of a model, in order of preference.

    Attributes:
        model: Its name or folder.
        parameters: Its parameters.
        trained: Those that are trained, with the recipe's adapter if it has one.
        plans: One for each configuration that the hardware and the recipe allow, with the micro-batch that was asked
            for, or with single windows.
        recipe: The recipe whose settings all plans have.
        grows: Whether the batch was left open: plans are then shown with the largest one that fits.
    """

    model: str
    parameters: int
    trained: int
    plans: tuple[Plan, ...]
    recipe: Recipe | None = None
    grows: bool = False

    @property
    def hardware(self) -> Hardware:
        """The hardware that the plans were checked against."""
        return self.plans[0].job.hardware

    @functools.cached_property
    def sized(self) -> tuple[Plan, ...]:
        """The plans with the largest micro-batch that fits; with the given one if one was given."""
        return tuple(plan.largest_batch() if self.grows and plan.fits else plan for plan in self.plans)

    @property
    def fitting(self) -> tuple[Plan, ...]:
        """The plans that fit, first those that need no package that is not installed."""
        fits = (plan for plan in self.sized if plan.fits)
        return tuple(sorted(fits, key=lambda plan: bool(missing_packages(plan.configuration))))

    @property
    def recommended(self) -> Plan | None:
        """The first plan that fits and for which everything is installed; ``None`` if none fits."""
        return next(iter(self.fitting), None)

    def settings(self, plan: Plan) -> dict[str, Any]:
        """Return the recipe keys of a plan, with all that the recipe sets and the plan counts."""
        keys = plan.settings()
        if self.recipe:
            return keys | counted_settings(self.recipe, plan)
        return keys | ({"precision": "auto"} if keys.get("precision") in ("bf16", "fp16") else {})

    def table(self, width: int | None = None) -> str:
        """Return the plans as a table in plain text, with the recommendation.

        It is as wide as the terminal, or has ``width`` columns.
        """
        columns = width or shutil.get_terminal_size((_WIDTH, 24)).columns
        wide = columns >= _WIDE
        rows = [_titles(self, wide=wide), *(_row(self, plan, wide=wide) for plan in self.sized)]
        texts = [*_head(self), "", *rows, "", *_notes(self, wide=wide), "", *_advice(self)]
        return "\n".join(line for text in texts for line in _wrapped(text))


def counted_settings(recipe: Recipe, plan: Plan) -> dict[str, Any]:
    """Return the sections of ``recipe`` outside of a training configuration that change its memory."""
    names = ("context_s", "decoder_layers", "freeze_encoder", "top_layers")
    model = {name: value for name, value in changed_values(recipe.model).items() if name in names}
    settings: dict[str, Any] = {"model": model} if model else {}
    settings |= {"loss": {"kl_to_base": recipe.loss.kl_to_base}} if recipe.loss.kl_to_base else {}
    settings |= {"data": {"workers": recipe.data.workers}} if recipe.data.workers else {}
    steps = recipe.training.gradient_accumulation_steps
    training = plan.settings()["training"] | ({"gradient_accumulation_steps": steps} if steps > 1 else {})
    training |= {"ema_decay": recipe.training.ema_decay} if recipe.training.ema_decay is not None else {}
    return settings | {"training": training}


def _wrapped(text: str) -> list[str]:
    """Return a sentence in lines; rows and recipe keys, which have two spaces somewhere, stay as they are."""
    return [text] if "  " in text or not text else textwrap.wrap(text, _WIDTH)


def _head(estimate: Estimate) -> Iterator[str]:
    plan, hardware, recipe = estimate.plans[0], estimate.hardware, estimate.recipe
    on = f"{hardware.gpus} GPU(s) of {hardware.gpu_gib:g} GiB" if hardware.gpus else "no GPU"
    host = f", a host with {hardware.host_gib:.1f} GiB" if hardware.host_gib is not None else ""
    numbers = f"{estimate.parameters / 1e6:,.0f} M parameters, {estimate.trained / 1e6:,.1f} M trained"
    yield f"{estimate.model}: {numbers}; {on}{host}"
    batch = "the largest micro-batch that fits" if estimate.grows else f"micro-batch of {plan.micro_batch.batch}"
    adapter = f"all with {adapter_name(recipe.adapter)}; " if recipe and recipe.adapter else ""
    yield (
        f"{adapter}{batch}, labels of {plan.micro_batch.label_tokens} tokens, "
        f"{'with' if plan.micro_batch.checkpointing else 'without'} gradient checkpointing; estimates in GiB"
    )


def _titles(estimate: Estimate, *, wide: bool) -> str:
    parts = "".join(f"{title:>8}" for title in _PARTS.values()) if wide and estimate.hardware.gpus else ""
    gpu = f"{'GPU':>6}" if estimate.hardware.gpus else ""
    return f"fits {gpu}{'host':>6}{'disk':>6}{'batch':>6}{parts}  configuration"


def _row(estimate: Estimate, plan: Plan, *, wide: bool) -> str:
    fits = "no" if not plan.fits else "yes*" if missing_packages(plan.configuration) else "yes"
    numbers = {"GPU": plan.gpu_gib, "host": plan.host_gib, "disk": plan.disk_gib}
    if not estimate.hardware.gpus:
        del numbers["GPU"]
    cells = "".join(f"{_gib(value) + '!' * (name in plan.exceeded):>6}" for name, value in numbers.items())
    parts = (
        "".join(f"{_gib(getattr(plan.memory, part) / GIB):>8}" for part in _PARTS) if wide and "GPU" in numbers else ""
    )
    all_adapted = estimate.recipe is not None and estimate.recipe.adapter is not None
    plain = dataclasses.replace(plan.configuration, adapter=None)
    name = dataclasses.replace(plan, configuration=plain).name if all_adapted else plan.name
    return f"{fits:<5}{cells}{plan.micro_batch.batch:>6}{parts}  {name}"


def _gib(value: float) -> str:
    """Return a number of GiB in at most four characters below 10,000.

    >>> _gib(7.25), _gib(141.2)
    ('7.2', '141')
    """
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _notes(estimate: Estimate, *, wide: bool) -> Iterator[str]:
    if any(plan.exceeded for plan in estimate.sized):
        yield "! more than there is"
    if missing := dict.fromkeys(name for plan in estimate.fitting for name in missing_packages(plan.configuration)):
        yield f"* needs a package that is not installed here: {', '.join(missing)}"
    if not estimate.hardware.gpus:
        yield _NO_GPU
    elif wide:
        yield (
            "Each part is shown at its own peak; these do not coincide, so the GPU's peak may be less than their sum. "
            "Host and disk include all processes and checkpoints."
        )
    else:
        yield (
            "Host and disk include all processes and checkpoints. A terminal of 120 columns also shows the parts of "
            "the GPU's memory."
        )


def _advice(estimate: Estimate) -> Iterator[str]:
    best = estimate.recommended
    if best is None:
        tried = "" if estimate.grows else "a LoRA, gradient checkpointing, a batch of 1, "
        yield f"recommended: nothing fits; try {tried}a smaller model, or more memory"
        return
    yield f"recommended: {_described(best)}; in the recipe:"
    yield textwrap.indent(yaml.safe_dump(estimate.settings(best), sort_keys=False).rstrip(), "    ")
    if best.configuration.adapter and estimate.recipe is None:
        full = next((plan for plan in estimate.fitting if not plan.configuration.adapter), None)
        yield f"to train all weights: {_described(full)}" if full else "to train all weights: nothing fits"


def _described(plan: Plan) -> str:
    gpu = f"{_gib(plan.gpu_gib)} GiB on the GPU, " if plan.job.hardware.gpus else ""
    needs = ", ".join(missing_packages(plan.configuration))
    first = f" (install {needs} first)" if needs else ""
    return f"{plan.name}, micro-batch of {plan.micro_batch.batch}{first}: {gpu}{_gib(plan.host_gib)} GiB of host"
