"""One way to train with one batch, and whether it fits."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.finetune.memory import cpu, gpu
from lsa_whisper.finetune.memory.activations import Load
from lsa_whisper.finetune.memory.configuration import Way
from lsa_whisper.finetune.memory.counted import Counted
from lsa_whisper.finetune.memory.gpu import Parts
from lsa_whisper.finetune.memory.shape import Shape
from lsa_whisper.finetune.recipe import Model
from lsa_whisper.machine import GIB

USABLE = 0.97
"""Share of a GPU's memory that is left to programs."""
LARGEST_BATCH = 32
COMFORTABLE = 0.9
"""A batch is not recommended if it would fill more of the GPU or of the host than this."""


@dataclass(frozen=True)
class Limits:
    """What there is: GPUs (none: train on the processor), GiB of each, GiB of host and disk where they are known.

    Attributes:
        swap_apart: Whether the folder to swap to lies on another disk, so that swap files take none of ``disk_gib``.
    """

    gpus: int = 1
    gpu_gib: float = 24.0
    host_gib: float | None = None
    disk_gib: float | None = None
    swap_apart: bool = False


@dataclass(frozen=True)
class Job:
    """What is to be trained, and where.

    Attributes:
        shape: The model's.
        limits: What there is.
        model: Says which weights are trained.
        workers: Processes that read audio, beside each that trains.
        processes: That train together where there is no GPU; with GPUs, one for each.
        saves: Whether checkpoints are saved on the way, or only the model in the end.
    """

    shape: Shape
    limits: Limits
    model: Model = field(default_factory=Model)
    workers: int = 0
    processes: int = 1
    saves: bool = True

    def can(self, way: Way) -> bool:
        """Tell whether a recipe can say ``way`` and whether it is meant for so many processes."""
        others = ("single",) if max(self.limits.gpus, self.processes) > 1 else ("ddp", "fsdp2")
        return way.strategy not in others and way.is_accepted

    def counted(self, way: Way, *, asks_base: bool = False) -> Counted:
        """Return the numbers that are trained and frozen."""
        return Counted.of(self.shape, way.adapter, self.model, asks_base=asks_base)

    def plan(self, way: Way, load: Load) -> Plan:
        """Return what ``way`` needs for micro-batches of ``load``."""
        counted = self.counted(way, asks_base=load.asks_base)
        if self.limits.gpus:
            parts = gpu.parts(counted, way, load, gpus=self.limits.gpus, workers=self.workers, saves=self.saves)
            return Plan(self, way, load, parts)
        resident = cpu.host(counted, way, load, ranks=self.processes)
        resident += self.workers * gpu.LOADER * self.processes
        return Plan(self, way, load, Parts(0, 0, 0, 0, 0, 0, resident, gpu.disk(counted, way, self.saves)))


@dataclass(frozen=True)
class Plan:
    """One way to train and what it needs, in GiB."""

    job: Job
    way: Way
    load: Load
    parts: Parts

    @property
    def counted(self) -> Counted:
        """Numbers trained and frozen."""
        return self.job.counted(self.way, asks_base=self.load.asks_base)

    @property
    def strategy(self) -> str:
        """The way in words."""
        return self.way.name

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
        elsewhere = gpu.swap(self.counted, self.way) if self.job.limits.swap_apart else 0
        return (self.parts.disk - elsewhere) / GIB

    @property
    def lacks(self) -> tuple[str, ...]:
        """What there is too little of: ``GPU``, ``host``, ``disk``."""
        limits = self.job.limits
        of_gpu = limits.gpus > 0 and self.gpu_gib > limits.gpu_gib * USABLE
        of_host = limits.host_gib is not None and self.host_gib > limits.host_gib
        of_disk = limits.disk_gib is not None and self.disk_gib > limits.disk_gib
        return tuple(name for name, lacking in (("GPU", of_gpu), ("host", of_host), ("disk", of_disk)) if lacking)

    @property
    def fits(self) -> bool:
        """Whether nothing lacks."""
        return not self.lacks

    def with_batch(self, batch: int) -> Plan:
        """Return the same way with micro-batches of so many windows."""
        return self.job.plan(self.way, dataclasses.replace(self.load, batch=batch))

    def largest_batch(self) -> Plan:
        """Return this plan with the largest batch that leaves room to spare: its own, doubled as often as it goes."""
        limits, larger = self.job.limits, self.with_batch(2 * self.load.batch)
        on_gpu = limits.gpus == 0 or larger.gpu_gib <= COMFORTABLE * limits.gpu_gib
        on_host = limits.host_gib is None or larger.host_gib <= COMFORTABLE * limits.host_gib
        fits = on_gpu and on_host and larger.load.batch <= LARGEST_BATCH
        return larger.largest_batch() if fits else self

    def settings(self) -> dict[str, Any]:
        """Return what a recipe must say for this plan."""
        training: dict[str, Any] = {"per_device_train_batch_size": self.load.batch}
        training |= {"gradient_checkpointing": True} if self.load.checkpointing else {}
        chosen = self.way.settings
        return chosen | {"training": chosen.get("training", {}) | training}
