"""Trained and frozen parameters of a model, and how they are stored; the windows that pass through it at once."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lsa_whisper.finetuning.settings.run import ModelSettings
from lsa_whisper.finetuning.settings.sections import AdapterSettings
from lsa_whisper.finetuning.workload.shape import Shape
from lsa_whisper.finetuning.workload.stages import StagePart

QUANTIZED_BYTES = {"8bit": 1.0, "4bit": 4.127 / 8}
"""Bytes per parameter of a quantized base: LLM.int8 (Dettmers et al. 2022); NF4 with double quantization, whose scales
add 0.127 bits per parameter (Dettmers et al. 2023)."""


@dataclass(frozen=True)
class ParameterCounts:
    """Trained and frozen parameters, and how the frozen ones are stored.

    Attributes:
        quantized: Frozen parameters stored in ``bytes_per_quantized`` each.
        base_copy: Parameters of a frozen copy of the base, for KL to base.
        embeddings: Trained parameters of embeddings, whose moments an 8-bit optimizer keeps in 32 bits.
    """

    trained: int
    frozen: int
    shape: Shape
    quantized: int = 0
    bytes_per_quantized: float = 0.0
    base_copy: int = 0
    embeddings: int = 0

    @property
    def total(self) -> int:
        """Trained and frozen together."""
        return self.trained + self.frozen

    def bytes_in(self, width: int) -> float:
        """Return the bytes of all weights if unquantized ones take ``width`` byte(s) each."""
        return width * (self.total - self.quantized) + self.bytes_per_quantized * self.quantized

    def of_stage(self, part: StagePart) -> ParameterCounts:
        """Return the counts of a stage of a pipeline; an adapter has as much in it as its share of the weights."""
        share = part.parameters(self.shape) / self.shape.parameters
        trained, frozen = round(share * self.trained), round(share * self.frozen)
        return dataclasses.replace(self, trained=trained, frozen=frozen, shape=part.shape(self.shape))

    def on_one_rank(self, layer_ranks: int) -> tuple[int, int]:
        """Return the trained and all parameters of one of ``layer_ranks`` ranks that divide each layer's matrices.

        Of an adapter's two factors, the one next to the divided dimension is divided: about half of it.
        """
        matrices, absent = linear_layer_parameters(self.shape), 1 - 1 / layer_ranks
        if self.frozen < self.shape.parameters:
            share = min(1.0, self.trained / self.shape.parameters)
            return round(self.trained - share * absent * matrices), round(self.total - absent * matrices)
        trained = round(self.trained * (1 - absent / 2))
        return trained, trained + round(self.frozen - absent * matrices)

    @classmethod
    @lru_cache(maxsize=256)
    def of(
        cls,
        shape: Shape,
        adapter: AdapterSettings | None = None,
        model: ModelSettings | None = None,
        *,
        uses_base: bool = False,
    ) -> ParameterCounts:
        """Return the counts for a model, with an adapter or without.

        Embeddings that an adapter's ``embeddings`` adds are not counted: their number depends on the tokenizer. Without
        an adapter ``model`` says which weights are trained, by default all but the encoder's sinusoids, and the base
        that the loss needs with ``uses_base`` is a copy.
        """
        if adapter is not None:
            quantized = linear_layer_parameters(shape) if adapter.quantize != "none" else 0
            return cls(
                adapter_parameters(shape, adapter),
                shape.parameters,
                shape,
                quantized,
                QUANTIZED_BYTES.get(adapter.quantize, 0),
            )
        sizes = {name: math.prod(shape.weights[name]) for name in trained_weights(shape, model or ModelSettings())}
        trained, base_copy = sum(sizes.values()), shape.parameters if uses_base else 0
        embeddings = sum(size for name, size in sizes.items() if ".embed_" in name)
        return cls(trained, shape.parameters - trained, shape, base_copy=base_copy, embeddings=embeddings)


def linear_layer_parameters(shape: Shape) -> int:
    """Return the number of parameters in the layers' matrices, which are what quantization applies to."""
    return sum(math.prod(size) for name, size in shape.weights.items() if ".layers." in name and len(size) == 2)


def trained_weights(shape: Shape, model: ModelSettings) -> Iterator[str]:
    """Yield the names of the weights that ``model.freeze_encoder`` and ``model.top_layers`` leave trainable."""
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
    """Return the parameters of an adapter: ``rank * (in + out)`` per layer, DoRA's magnitudes, modules saved whole."""
    prefixes = tuple(f"{name}." for name in adapter.modules_to_save)
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
        if prefixes and f"{module}.".endswith(prefixes):
            total += math.prod(size)
    return total


@dataclass(frozen=True)
class MicroBatch:
    """A micro-batch: what one device processes in one forward and backward pass.

    ``label_tokens`` are those of the longest label. With ``checkpointing``, layers are recomputed in the backward pass;
    with ``accumulates``, gradients of earlier micro-batches are kept; with ``uses_base``, the loss compares the model's
    logits with its base's (KL to base).
    """

    batch: int = 1
    label_tokens: int = 128
    checkpointing: bool = True
    accumulates: bool = False
    uses_base: bool = False
