"""Training configurations as recipes: the settings of each, what it needs, and every one that there is."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from typing import Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.recipe import AdapterSettings, OffloadSettings, Recipe
from lsa_whisper.finetuning.settings.values import changed_values, flat
from lsa_whisper.finetuning.strategies import STRATEGIES, strategy_of
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.system.device import sixteen_bit_precision

SWAP = "SWAP_FOLDER"
"""Placeholder in the table for a folder on a fast disk."""


def packages_of(configuration: TrainingConfiguration) -> tuple[str, ...]:
    """Return the optional packages that a configuration needs."""
    quantizes = configuration.adapter is not None and configuration.adapter.quantize != "none"
    needs = {
        "deepspeed": strategy_of(configuration).uses_deepspeed,
        "bitsandbytes": configuration.optimizer == "adamw-8bit" or quantizes,
        "torchao": configuration.optimizer == "adamw-cpu",
    }
    return tuple(name for name, is_needed in needs.items() if is_needed)


def missing_packages(configuration: TrainingConfiguration) -> tuple[str, ...]:
    """Return those of :func:`packages_of` that are not installed here."""
    return tuple(name for name in packages_of(configuration) if importlib.util.find_spec(name) is None)


def offload_settings(configuration: TrainingConfiguration) -> OffloadSettings:
    """Return the recipe's ``offload`` section: an optimizer that follows the parameters is not listed."""
    together = strategy_of(configuration).offloads_together
    return dataclasses.replace(configuration.offload, optimizer="none") if together else configuration.offload


def recipe_keys(configuration: TrainingConfiguration) -> dict[str, Any]:
    """Return the recipe keys of a configuration."""
    keys: dict[str, Any] = {"strategy": configuration.strategy}
    keys |= {"tensor_parallel": configuration.layer_ranks} if configuration.layer_ranks > 1 else {}
    sections = {"pipeline": configuration.pipeline, "offload": offload_settings(configuration)}
    keys |= {name: values for name, section in sections.items() if (values := changed_values(section))}
    keys |= {"adapter": adapter_keys(configuration.adapter)} if configuration.adapter else {}
    keys |= {"precision": configuration.precision} if configuration.precision != "fp32" else {}
    return keys | ({"optimizer": configuration.optimizer} if configuration.optimizer != "adamw" else {})


def is_accepted(configuration: TrainingConfiguration) -> bool:
    """Return whether recipe validation accepts a configuration."""
    overrides = [f"{key}={json.dumps(value)}" for key, value in flat(recipe_keys(configuration))]
    try:
        recipes.parse_recipe("{data: {train: t}, out: o, model: {base: b}}", set=overrides)
    except RecipeError:
        return False
    return True


def adapter_keys(adapter: AdapterSettings) -> dict[str, Any]:
    """Return the recipe keys of an adapter: rank, alpha and whatever differs from the defaults.

    >>> adapter_keys(AdapterSettings(stacks="decoder", target_modules=("fc1",)))
    {'rank': 32, 'alpha': 64.0, 'target_modules': ['fc1'], 'stacks': 'decoder'}
    """
    values = {"rank": adapter.rank, "alpha": adapter.alpha} | changed_values(adapter)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def configuration_of(recipe: Recipe) -> TrainingConfiguration:
    """Return the training configuration of a recipe."""
    precision = {"auto": sixteen_bit_precision(), "fp8": "bf16"}.get(recipe.precision, recipe.precision)
    offload = recipe.offload
    if strategy_of(recipe).offloads_together:
        offload = dataclasses.replace(offload, optimizer=offload.parameters)
    return TrainingConfiguration(
        recipe.strategy,
        offload,
        precision,
        recipe.optimizer,
        recipe.adapter,
        recipe.tensor_parallel or 1,
        pipeline=recipe.pipeline,
    )


def training_configurations(
    adapter: AdapterSettings | None, path: str = SWAP, *, adapter_first: bool = False
) -> tuple[TrainingConfiguration, ...]:
    """Return every configuration in order of preference: simple before slow, exact before rounded.

    All train ``adapter``; without one they are full fine-tuning and some with a LoRA, which ``adapter_first`` prefers.
    ``path`` is a folder on a fast disk.
    """
    cpu, everything = OffloadSettings("cpu"), OffloadSettings("cpu", "cpu")
    single, *others = sorted(STRATEGIES.values(), key=lambda strategy: strategy.uses_deepspeed)  # in torch alone first
    full = (
        TrainingConfiguration(single.name),
        TrainingConfiguration(single.name, precision="fp32"),
        *(TrainingConfiguration(strategy.name) for strategy in others),
        TrainingConfiguration("zero2", cpu),
        TrainingConfiguration(optimizer="adamw-cpu"),
        TrainingConfiguration("zero3", cpu),
        TrainingConfiguration("zero3", everything),
        TrainingConfiguration("fsdp2", everything),
        TrainingConfiguration("zero3", OffloadSettings("nvme", "cpu", path)),
        TrainingConfiguration("zero3", OffloadSettings("nvme", "nvme", path)),
        TrainingConfiguration(optimizer="adamw-8bit"),
        TrainingConfiguration(precision="pure-bf16", optimizer="adafactor"),
    )
    if adapter is not None:
        return tuple(
            dataclasses.replace(configuration, adapter=adapter)
            for configuration in (*full, TrainingConfiguration(precision="pure-bf16"))
            if configuration.optimizer == "adamw"
        )
    lora, quantized = AdapterSettings(), AdapterSettings(quantize="4bit")
    adapters = (
        TrainingConfiguration(adapter=lora),
        TrainingConfiguration(precision="fp32", adapter=lora),
        TrainingConfiguration("ddp", adapter=lora),
        TrainingConfiguration("zero3", everything, adapter=lora),
        TrainingConfiguration(adapter=quantized),
        TrainingConfiguration("ddp", adapter=quantized),
        TrainingConfiguration(precision="pure-bf16", adapter=lora),
    )
    return (*adapters, *full) if adapter_first else (*full, *adapters)
