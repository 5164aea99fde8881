"""A training configuration: strategy, offloading, precision, optimizer and adapter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lsa_whisper.finetuning.settings.run import OffloadSettings, PipelineSettings
from lsa_whisper.finetuning.settings.sections import AdapterSettings

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

    def micro_batches(self, windows: int) -> int:
        """Return the parts of a batch of ``windows`` that pass through the stages of a pipeline."""
        return self.pipeline.micro_batches or max(windows, self.stages)

    @property
    def weight_bytes(self) -> int:
        """Bytes of a weight and of its gradient."""
        return 2 if self.precision == "pure-bf16" else 4

    @property
    def autocasts(self) -> bool:
        """Whether autocast keeps a 16-bit copy of the fp32 weights."""
        return self.precision in ("bf16", "fp16")

    @property
    def computed_bytes(self) -> int:
        """Bytes per weight in the type that matrix products have."""
        return 4 if self.precision == "fp32" else 2

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


def adapter_name(adapter: AdapterSettings) -> str:
    """Return a short description of an adapter.

    >>> adapter_name(AdapterSettings(rank=8, dora=True)), adapter_name(AdapterSettings(quantize="4bit"))
    ('DoRA r8', 'LoRA r32 on 4bit')
    """
    kind = "DoRA" if adapter.dora else "LoRA"
    return f"{kind} r{adapter.rank}" + (f" on {adapter.quantize}" if adapter.quantize != "none" else "")
