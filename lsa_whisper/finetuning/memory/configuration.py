"""Training configurations: strategy, offloading, precision, optimizer and adapter."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.recipe import AdapterSettings, OffloadSettings, PipelineSettings, Recipe
from lsa_whisper.finetuning.recipe.values import flat
from lsa_whisper.finetuning.strategies import STRATEGIES, strategy_of
from lsa_whisper.system.device import sixteen_bit_precision

SWAP = "SWAP_FOLDER"
"""Placeholder in the table for a folder on a fast disk."""
_OPTIMIZERS = {"adamw-8bit": "8-bit AdamW", "adamw-cpu": "torchao AdamW on cpu", "adafactor": "Adafactor"}
"""Names in the table."""


@dataclass(frozen=True)
class TrainingConfiguration:
    """Strategy, offloading, precision, optimizer and adapter of a run: all that decides its memory per parameter.

    Attributes:
        precision: ``fp32``; ``bf16`` or ``fp16`` (fp32 weights, computed with in 16 bits); ``pure-bf16``
            (weights in bf16, and without an adapter only one gradient at a time).
        optimizer: ``adamw``; ``adamw-8bit`` (one byte per moment); ``adafactor`` (row and column statistics only);
            ``adamw-cpu`` (torchao's, on the CPU).
        layer_ranks: Ranks that share each layer, with strategy ``tensor_parallel``.
        stages: Ranks that have layers of their own, with strategy ``pipeline``.
        pipeline: How micro-batches pass through them.
    """

    strategy: str = "single"
    offload: OffloadSettings = field(default_factory=OffloadSettings)
    precision: str = "bf16"
    optimizer: str = "adamw"
    adapter: AdapterSettings | None = None
    layer_ranks: int = 1
    stages: int = 1
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)

    @property
    def name(self) -> str:
        """A short description, as in the table.

        >>> TrainingConfiguration("zero3", OffloadSettings("cpu", "cpu")).name
        'zero3, all on cpu, bf16'
        >>> TrainingConfiguration(optimizer="adamw-8bit").name
        'single, 8-bit AdamW, bf16'
        """
        ranks = max(self.layer_ranks, self.stages)
        parts = [self.strategy + (f" {ranks}" if ranks > 1 else ""), *self._offloaded()]
        parts += [_OPTIMIZERS[self.optimizer]] if self.optimizer in _OPTIMIZERS else []
        parts += [adapter_name(self.adapter)] if self.adapter else []
        return ", ".join([*parts, self.precision])

    def _offloaded(self) -> Iterator[str]:
        places = {"parameters": self.offload.parameters, "optimizer": self.offload.optimizer}
        if len(set(places.values())) == 1 and self.offload.optimizer != "none":
            yield f"all on {self.offload.optimizer}"
            return
        yield from (f"{what} on {place}" for what, place in places.items() if place != "none")

    @property
    def packages(self) -> tuple[str, ...]:
        """The optional packages that it needs."""
        quantizes = self.adapter is not None and self.adapter.quantize != "none"
        needs = {
            "deepspeed": self.is_deepspeed,
            "bitsandbytes": self.optimizer == "adamw-8bit" or quantizes,
            "torchao": self.optimizer == "adamw-cpu",
        }
        return tuple(name for name, needed in needs.items() if needed)

    @property
    def missing_packages(self) -> tuple[str, ...]:
        """Those of :attr:`packages` that are not installed here."""
        return tuple(name for name in self.packages if importlib.util.find_spec(name) is None)

    def micro_batches(self, windows: int) -> int:
        """Return the parts of a batch of ``windows`` that pass through the stages of a pipeline."""
        return self.pipeline.micro_batches or max(windows, self.stages)

    @property
    def is_deepspeed(self) -> bool:
        """Whether DeepSpeed runs the strategy."""
        return strategy_of(self).uses_deepspeed

    @property
    def loads_by_weight(self) -> bool:
        """Whether one process reads one weight after the other, and each keeps its part."""
        copies = self.adapter is not None and self.adapter.copies_weights
        return strategy_of(self).loads_by_weight and not copies

    @property
    def keeps_parts_on_host(self) -> bool:
        """Whether each process of ZeRO-3 keeps its part of the weights in host memory."""
        return strategy_of(self).loads_by_weight and self.offload.parameters == "cpu"

    @property
    def computed_bytes(self) -> int:
        """Bytes per weight in the type that matrix products have."""
        return 4 if self.precision == "fp32" else 2

    @property
    def autocast(self) -> bool:
        """Whether autocast keeps a 16-bit copy of the fp32 weights."""
        return strategy_of(self).autocasts(self.precision)

    @property
    def moment_bytes(self) -> float:
        """Bytes of optimizer moments per trained parameter."""
        return {"adamw-8bit": 2.1, "adafactor": 0.0}.get(self.optimizer, 8.0)

    @property
    def steps_in_backward(self) -> bool:
        """Whether each weight is changed as soon as its gradient is known, so that none are kept."""
        return self.precision == "pure-bf16" and self.adapter is None

    @property
    def reads_onto_gpu(self) -> bool:
        """Whether each weight is read onto the GPU alone: it is trained there as it is."""
        return self.precision == "pure-bf16" and (self.adapter is None or self.adapter.quantize == "none")

    @property
    def recipe_offload(self) -> OffloadSettings:
        """The recipe's ``offload`` section: an optimizer that follows the parameters is not listed."""
        together = strategy_of(self).offloads_together
        return dataclasses.replace(self.offload, optimizer="none") if together else self.offload

    @property
    def settings(self) -> dict[str, Any]:
        """The recipe keys of this configuration."""
        keys: dict[str, Any] = {"strategy": self.strategy}
        keys |= {"tensor_parallel": self.layer_ranks} if self.layer_ranks > 1 else {}
        stages = {key: value for key, value in vars(self.pipeline).items() if value != vars(PipelineSettings())[key]}
        keys |= {"pipeline": stages} if stages else {}
        offload = {key: value for key, value in vars(self.recipe_offload).items() if value not in ("none", None)}
        keys |= {"offload": offload} if offload else {}
        keys |= {"adapter": adapter_keys(self.adapter)} if self.adapter else {}
        keys |= {"precision": self.precision} if self.precision != "fp32" else {}
        return keys | ({"optimizer": self.optimizer} if self.optimizer != "adamw" else {})

    @property
    def is_accepted(self) -> bool:
        """Whether recipe validation accepts this configuration."""
        overrides = [f"{key}={json.dumps(value)}" for key, value in flat(self.settings)]
        try:
            recipes.parse_recipe("{data: {train: t}, out: o, model: {base: b}}", set=overrides)
        except RecipeError:
            return False
        return True


def adapter_name(adapter: AdapterSettings) -> str:
    """Return a short description of an adapter.

    >>> adapter_name(AdapterSettings(rank=8, dora=True)), adapter_name(AdapterSettings(quantize="4bit"))
    ('DoRA r8', 'LoRA r32 on 4bit')
    """
    kind = "DoRA" if adapter.dora else "LoRA"
    return f"{kind} r{adapter.rank}" + (f" on {adapter.quantize}" if adapter.quantize != "none" else "")


def adapter_keys(adapter: AdapterSettings) -> dict[str, Any]:
    """Return the recipe keys of an adapter: rank, alpha and whatever differs from the defaults.

    >>> adapter_keys(AdapterSettings(stacks="decoder", target_modules=("fc1",)))
    {'rank': 32, 'alpha': 64.0, 'target_modules': ['fc1'], 'stacks': 'decoder'}
    """
    plain, always = AdapterSettings(), ("rank", "alpha")
    values = {key: value for key, value in vars(adapter).items() if key in always or value != getattr(plain, key)}
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

    Args:
        adapter: Trained by every configuration; ``None`` for full fine-tuning and some with a LoRA.
        path: A folder on a fast disk.
        adapter_first: Without ``adapter``: prefer a LoRA to full fine-tuning.
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
