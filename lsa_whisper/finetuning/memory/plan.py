"""The memory that a training configuration needs with a given micro-batch, and whether it fits."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.finetuning.memory import memory_use
from lsa_whisper.finetuning.memory.configuration import is_accepted, recipe_keys
from lsa_whisper.finetuning.memory.memory_use import MemoryUse
from lsa_whisper.finetuning.recipe import ModelSettings
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch, ParameterCounts
from lsa_whisper.finetuning.workload.shape import Shape
from lsa_whisper.finetuning.workload.stages import idle_share
from lsa_whisper.system.machine import GIB

USABLE = 0.97
"""Share of a GPU's memory that programs can use."""
MAX_BATCH = 32
"""Largest recommended micro-batch."""
_COMFORTABLE = 0.9
"""Largest share of GPU or host memory that a recommended batch uses."""


@dataclass(frozen=True)
class Hardware:
    """GPUs (0: train on the CPU), GiB of each, and GiB of host memory and disk, ``None`` if unknown.

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
    """A model to train, and the hardware to train it on.

    Without a GPU it has a number of ``processes``; with GPUs, there is one for each. ``workers`` are those of the data
    loader for each process, ``checkpoints`` those on disk at the same time, the one being written included. With
    ``averages``, a moving average of the trained weights is kept.
    """

    shape: Shape
    hardware: Hardware
    model: ModelSettings = field(default_factory=ModelSettings)
    workers: int = 0
    processes: int = 1
    checkpoints: int = 2
    averages: bool = False

    def supports(self, configuration: TrainingConfiguration) -> bool:
        """Return whether recipes accept a configuration and its strategy suits the number of processes."""
        ranks = max(self.hardware.gpus, self.processes)
        strategy = strategy_of(configuration)
        suits = not (strategy.is_single if ranks > 1 else strategy.needs_several)
        divides = self.shape.attention_heads % configuration.layer_ranks == 0
        divides &= self.shape.encoder_layers + self.shape.decoder_layers >= configuration.stages
        return suits and divides and is_accepted(configuration)

    def counts(self, configuration: TrainingConfiguration, *, uses_base: bool = False) -> ParameterCounts:
        """Return the trained and frozen parameters."""
        return ParameterCounts.of(self.shape, configuration.adapter, self.model, uses_base=uses_base)

    def plan(self, configuration: TrainingConfiguration, micro_batch: MicroBatch) -> Plan:
        """Return the plan of a configuration with a micro-batch."""
        counts = self.counts(configuration, uses_base=micro_batch.uses_base)
        if self.hardware.gpus:
            memory = memory_use.memory_use(
                counts,
                configuration,
                micro_batch,
                gpus=self.hardware.gpus,
                workers=self.workers,
                checkpoints=self.checkpoints,
            )
        else:
            resident = memory_use.cpu_run_bytes(counts, configuration, micro_batch, ranks=self.processes)
            resident += self.workers * memory_use.LOADER * self.processes
            disk = memory_use.disk_bytes(counts, configuration, self.checkpoints)
            memory = MemoryUse(0, 0, 0, 0, 0, 0, resident, disk)
        return Plan(self, configuration, micro_batch, self._with_average(memory, counts))

    def _with_average(self, memory: MemoryUse, counts: ParameterCounts) -> MemoryUse:
        """Return the memory with a moving average of the trained weights in fp32, if one is kept."""
        if not self.averages:
            return memory
        extra = 4 * counts.trained
        disk = memory.disk + self.checkpoints * extra
        if not self.hardware.gpus:
            return dataclasses.replace(memory, host=memory.host + self.processes * extra, disk=disk)
        return dataclasses.replace(memory, optimizer=memory.optimizer + extra, peak=memory.peak + extra, disk=disk)


@dataclass(frozen=True)
class Plan:
    """A training configuration with a micro-batch and the memory that it needs."""

    job: TrainingJob
    configuration: TrainingConfiguration
    micro_batch: MicroBatch
    memory: MemoryUse

    @property
    def counts(self) -> ParameterCounts:
        """Trained and frozen parameters."""
        return self.job.counts(self.configuration, uses_base=self.micro_batch.uses_base)

    @property
    def name(self) -> str:
        """The short description of the configuration, with the share of a step in which a pipeline's stages wait."""
        idle = f", {100 * self.idle_share:.0f} % idle" if self.configuration.stages > 1 else ""
        return self.configuration.name + idle

    @property
    def idle_share(self) -> float:
        """Share of a step in which the GPUs of a pipeline wait for each other, on average; 0 without a pipeline."""
        stages = self.configuration.stages
        if stages == 1:
            return 0.0
        return idle_share(self.job.shape, stages, self.configuration.micro_batches(self.micro_batch.batch))

    @property
    def gpu_gib(self) -> float:
        """Peak GiB on each GPU."""
        return self.memory.peak / GIB

    @property
    def host_gib(self) -> float:
        """Peak GiB of host memory of all processes."""
        return self.memory.host / GIB

    @property
    def disk_gib(self) -> float:
        """GiB of checkpoints and, unless they are on another disk, swap files."""
        is_elsewhere = self.job.hardware.swap_on_other_disk
        elsewhere = memory_use.swap_bytes(self.counts, self.configuration) if is_elsewhere else 0
        return (self.memory.disk - elsewhere) / GIB

    @property
    def exceeded(self) -> tuple[str, ...]:
        """The limits that the plan exceeds: ``GPU``, ``host``, ``disk``."""
        hardware = self.job.hardware
        of_gpu = hardware.gpus > 0 and self.gpu_gib > hardware.gpu_gib * USABLE
        of_host = hardware.host_gib is not None and self.host_gib > hardware.host_gib
        of_disk = hardware.disk_gib is not None and self.disk_gib > hardware.disk_gib
        return tuple(name for name, exceeds in (("GPU", of_gpu), ("host", of_host), ("disk", of_disk)) if exceeds)

    @property
    def fits(self) -> bool:
        """Whether no limit is exceeded."""
        return not self.exceeded

    def with_batch(self, batch: int) -> Plan:
        """Return the plan with ``batch`` windows per micro-batch."""
        return self.job.plan(self.configuration, dataclasses.replace(self.micro_batch, batch=batch))

    @property
    def is_comfortable(self) -> bool:
        """Whether memory is left on the GPU and on the host."""
        hardware = self.job.hardware
        on_gpu = hardware.gpus == 0 or self.gpu_gib <= _COMFORTABLE * hardware.gpu_gib
        return on_gpu and (hardware.host_gib is None or self.host_gib <= _COMFORTABLE * hardware.host_gib)

    def largest_batch(self) -> Plan:
        """Return the plan with the largest comfortable batch: its own, doubled as often as it fits."""
        larger = self.with_batch(2 * self.micro_batch.batch)
        return larger.largest_batch() if larger.is_comfortable and larger.micro_batch.batch <= MAX_BATCH else self

    def settings(self) -> dict[str, Any]:
        """Return the recipe keys of this plan."""
        training: dict[str, Any] = {"per_device_train_batch_size": self.micro_batch.batch}
        training |= {"gradient_checkpointing": True} if self.micro_batch.checkpointing else {}
        return recipe_keys(self.configuration) | {"training": training}
