"""Which of a model's numbers are trained, and in how many bytes the others are kept."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsa_whisper.finetune.memory.shape import Shape
from lsa_whisper.finetune.recipe import AdapterSettings, ModelSettings

PACKED_BYTES = {"8bit": 1.0, "4bit": 4.127 / 8}
"""Of one number in a quantised base: LLM.int8 (Dettmers et al. 2022); NF4 with its scales in 8 bits, which add 0.127
bits to each number (Dettmers et al. 2023)."""


@dataclass(frozen=True)
class ParameterCounts:
    """Numbers trained and frozen, and how the frozen ones are kept.

    Attributes:
        quantized: of the frozen ones, those that are kept in ``bytes_per_quantized`` each.
        base_copy: numbers of a frozen copy of the model beside it.
    """

    trained: int
    frozen: int
    shape: Shape
    quantized: int = 0
    bytes_per_quantized: float = 0.0
    base_copy: int = 0

    @property
    def total(self) -> int:
        """Trained and frozen together."""
        return self.trained + self.frozen

    def bytes_in(self, one: int) -> float:
        """Return the bytes of the model's weights where those that are not packed take ``one`` each."""
        return one * (self.total - self.quantized) + self.bytes_per_quantized * self.quantized

    @classmethod
    def of(
        cls,
        shape: Shape,
        adapter: AdapterSettings | None = None,
        model: ModelSettings | None = None,
        *,
        uses_base: bool = False,
    ) -> ParameterCounts:
        """Return what is trained and what is not.

        Args:
            shape: of the model.
            adapter: trained beside frozen weights. The single rows of the token table that ``embeddings`` frees are
                not counts: how many there are only the tokenizer knows.
            model: says which weights are trained when there is no adapter; all but the encoder's sinusoids by default.
            uses_base: whether the loss asks the base, which without an adapter is a copy.
        """
        if adapter is not None:
            packed = linear_layer_parameters(shape) if adapter.quantize != "none" else 0
            return cls(
                adapter_parameters(shape, adapter),
                shape.parameters,
                shape,
                packed,
                PACKED_BYTES.get(adapter.quantize, 0),
            )
        free = sum(math.prod(shape.weights[name]) for name in trained_weights(shape, model or ModelSettings()))
        return cls(free, shape.parameters - free, shape, base_copy=shape.parameters if uses_base else 0)


def linear_layer_parameters(shape: Shape) -> int:
    """Return the numbers of the matrices in the stacks' layers: what quantisation packs."""
    return sum(math.prod(size) for name, size in shape.weights.items() if ".layers." in name and len(size) == 2)


def trained_weights(shape: Shape, model: ModelSettings) -> Iterator[str]:
    """Yield the names of the weights that ``model.freeze_encoder`` and ``model.top_layers`` leave free."""
    for name in shape.weights:
        stack, _, rest = name.partition(".")
        if name == "encoder.embed_positions.weight" or (stack == "encoder" and model.freeze_encoder):
            continue
        layers = getattr(shape, f"{stack}_layers")
        layer = re.match(r"layers\.(\d+)\.", rest)
        on_top = int(layer[1]) >= layers - (model.top_layers or layers) if layer else rest.startswith("layer_norm.")
        if model.top_layers is None or on_top:
            yield name


def adapter_parameters(shape: Shape, adapter: AdapterSettings) -> int:
    """Return the numbers of an adapter: ``rank * (in + out)`` a layer, DoRA's column sizes, modules trained whole."""
    saved = tuple(f"{name}." for name in adapter.modules_to_save)
    total = 0
    for name, size in shape.weights.items():
        stack, module = name.partition(".")[0], name.rpartition(".")[0]
        if (
            ".layers." in name
            and name.endswith(".weight")
            and module.endswith(adapter.target_modules)
            and adapter.stacks in ("both", stack)
        ):
            total += adapter.rank * sum(size) + (size[0] if adapter.dora else 0)
        if saved and f"{module}.".endswith(saved):
            total += math.prod(size)
    return total
