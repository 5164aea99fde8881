"""One way to train with one batch, and whether it fits."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.finetune.memory import cpu, gpu
from lsa_whisper.finetune.memory.activations import MicroBatch
from lsa_whisper.finetune.memory.configuration import TrainingConfiguration
from lsa_whisper.finetune.memory.gpu import MemoryUse
from lsa_whisper.finetune.memory.parameter_counts import ParameterCounts
from lsa_whisper.finetune.memory.shape import Shape
from lsa_whisper.finetune.recipe import ModelSettings
from lsa_whisper.machine import GIB

USABLE = 0.97
"""Share of a GPU's memory that is left to programs."""
LARGEST_BATCH = 32
COMFORTABLE = 0.9
"""A batch is not recommended if it would fill more of the GPU or of the host than this."""


@dataclass(frozen=True)
class Hardware:
    """What there is: GPUs (none: train on the processor), GiB of each, GiB of host and disk where they are known.

    Attributes:
        swap_on_other_disk: Whether swap files are on another disk and take none of ``disk_gib``.
    """

    gpus: int = 1
    gpu_gib: float = 24.0
    host_gib: float | None = None
    disk_gib: float | None = None
    swap_on_other_disk: bool = False


@dataclass(frozen=True)
class TrainingJob:
    """What is to be trained, and where.

    Attributes:
        shape: The model's.
        hardware: What there is.
        model: Says which weights are trained.
        workers: Processes that read audio, beside each that trains.
        processes: That train together where there is no GPU; with GPUs, one for each.
        saves: Whether checkpoints are saved on the way, or only the model in the end.
    """

    shape: Shape
    hardware: Hardware
    model: ModelSettings = field(default_factory=ModelSettings)
    workers: int = 0
    processes: int = 1
    saves: bool = True

    def can(self, configuration: TrainingConfiguration) -> bool:
        """Tell whether a recipe can say ``configuration`` and whether it is meant for so many processes."""
        others = ("single",) if max(self.hardware.gpus, self.processes) > 1 else ("ddp", "fsdp2")
        return configuration.strategy not in others and configuration.is_accepted

    def counts(self, configuration: TrainingConfiguration, *, uses_base: bool = False) -> ParameterCounts:
        """Return the numbers that are trained and frozen."""
        return ParameterCounts.of(self.shape, configuration.adapter, self.model, uses_base=uses_base)

    def plan(self, configuration: TrainingConfiguration, micro_batch: MicroBatch) -> Plan:
        """Return what ``configuration`` needs for micro-batches of ``micro_batch``."""
        counts = self.counts(configuration, uses_base=micro_batch.uses_base)
        if self.hardware.gpus:
            parts = gpu.parts(
                counts, configuration, micro_batch, gpus=self.hardware.gpus, workers=self.workers, saves=self.saves
            )
            return Plan(self, configuration, micro_batch, parts)
        resident = cpu.host(counts, configuration, micro_batch, ranks=self.processes)
        resident += self.workers * gpu.LOADER * self.processes
        return Plan(
            self,
            configuration,
            micro_batch,
            MemoryUse(0, 0, 0, 0, 0, 0, resident, gpu.disk(counts, configuration, self.saves)),
        )


@dataclass(frozen=True)
class Plan:
    """One way to train and what it needs, in GiB."""

    job: TrainingJob
    configuration: TrainingConfiguration
    micro_batch: MicroBatch
    parts: MemoryUse

    @property
    def counts(self) -> ParameterCounts:
        """Numbers trained and frozen."""
        return self.job.counts(self.configuration, uses_base=self.micro_batch.uses_base)

    @property
    def strategy(self) -> str:
        """The configuration in words."""
        return self.configuration.name

    @property
    def gpu_gib(self) -> float:
        """Peak on each GPU."""
        return self.parts.peak / GIB

    @property
    def host_gib(self) -> float:
        """Peak of all processes on the host."""
        return self.parts.host / GIB

    @property
    def disk_gib(self) -> float:
        """Checkpoints and, unless they lie on another disk, swap files."""
        elsewhere = gpu.swap(self.counts, self.configuration) if self.job.hardware.swap_on_other_disk else 0
        return (self.parts.disk - elsewhere) / GIB

    @property
    def exceeded(self) -> tuple[str, ...]:
        """What there is too little of: ``GPU``, ``host``, ``disk``."""
        hardware = self.job.hardware
        of_gpu = hardware.gpus > 0 and self.gpu_gib > hardware.gpu_gib * USABLE
        of_host = hardware.host_gib is not None and self.host_gib > hardware.host_gib
        of_disk = hardware.disk_gib is not None and self.disk_gib > hardware.disk_gib
        return tuple(name for name, lacking in (("GPU", of_gpu), ("host", of_host), ("disk", of_disk)) if lacking)

    @property
    def fits(self) -> bool:
        """Whether nothing lacks."""
        return not self.exceeded

    def with_batch(self, batch: int) -> Plan:
        """Return the same configuration with micro-batches of so many windows."""
        return self.job.plan(self.configuration, dataclasses.replace(self.micro_batch, batch=batch))

    def largest_batch(self) -> Plan:
        """Return this plan with the largest batch that leaves room to spare: its own, doubled as often as it goes."""
        hardware, larger = self.job.hardware, self.with_batch(2 * self.micro_batch.batch)
        on_gpu = hardware.gpus == 0 or larger.gpu_gib <= COMFORTABLE * hardware.gpu_gib
        on_host = hardware.host_gib is None or larger.host_gib <= COMFORTABLE * hardware.host_gib
        fits = on_gpu and on_host and larger.micro_batch.batch <= LARGEST_BATCH
        return larger.largest_batch() if fits else self

    def settings(self) -> dict[str, Any]:
        """Return what a recipe must say for this plan."""
        training: dict[str, Any] = {"per_device_train_batch_size": self.micro_batch.batch}
        training |= {"gradient_checkpointing": True} if self.micro_batch.checkpointing else {}
        chosen = self.configuration.settings
        return chosen | {"training": chosen.get("training", {}) | training}
