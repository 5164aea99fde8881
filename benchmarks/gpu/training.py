"""Memory and speed of fine-tuning in one configuration, compared with the plan: batch sizes in turn, one model."""

from __future__ import annotations

import dataclasses
import resource
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import yaml
from transformers import TrainerCallback

from benchmarks.gpu import material
from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.finetuning.memory import Hardware
from lsa_whisper.finetuning.memory.configuration import configuration_of
from lsa_whisper.finetuning.memory.estimate import micro_batch_of
from lsa_whisper.finetuning.memory.memory_use import CONTEXT
from lsa_whisper.finetuning.memory.plan import TrainingJob
from lsa_whisper.finetuning.recipe import Recipe, read_recipe
from lsa_whisper.finetuning.training import run
from lsa_whisper.finetuning.training.requirements import check_requirements
from lsa_whisper.finetuning.training.trainer import SpeechTrainer
from lsa_whisper.finetuning.workload.shape import recipe_shape
from lsa_whisper.system.machine import GIB

STEPS, DRY_STEPS = 5, 2
"""Of each batch size; the first is not timed."""
BATCHES, DRY_BATCHES = (1, 8, 16), (1, 2)


class MeasuredError(Exception):
    """Training has ended; what follows, such as saving, is not measured."""


class Measure(TrainerCallback):
    """Sees every batch and every step of a run."""

    def collated(self, collator: Any) -> Any:
        """Return the collator to train with."""
        return collator


def fine_tune(
    setting: Setting,
    record: Record,
    *,
    settings: Mapping[str, Any],
    batches: Sequence[int] = BATCHES,
    cap_gib: float | None = None,
    on_cpu: Mapping[str, Any] | None = None,
) -> None:
    """Measure the recipe ``settings`` with each batch size.

    Args:
        setting: Where the campaign runs.
        record: Receives the figures of each batch size.
        settings: Keys of a recipe, besides data and model.
        batches: Windows in a batch, in turn; the dry run has its own.
        cap_gib: A limit on the GPU memory of this process, CUDA's context included.
        on_cpu: In the dry run, takes the place of ``settings`` if the CPU cannot run those.
    """
    sizes = list(DRY_BATCHES if setting.dry else batches)
    steps = DRY_STEPS if setting.dry else STEPS
    training = {"max_steps": steps * len(sizes), "per_device_train_batch_size": max(sizes)}
    data = {"train": str(material.noise(setting, max(sizes))), "cache": True}
    recipe = recipe_of(setting, data, settings, training)
    if setting.dry and on_cpu is not None:
        try:
            check_requirements(recipe)
        except LsaWhisperError as error:
            record.not_run("settings", str(error))
            recipe = recipe_of(setting, data, on_cpu, training)
    if cap_gib is not None:
        cap(setting, record, cap_gib)
    measure = BatchSizes(recipe, sizes, steps, record)
    try:
        train(recipe, measure)
    except LsaWhisperError as error:  # out of memory, which ends only the larger batches
        if not measure.measured:
            raise
        record.add(f"batch {measure.size}", {"failed": str(error)})


def cap(setting: Setting, record: Record, gib: float) -> None:
    """Limit torch's memory so that it and CUDA's context stay below ``gib``."""
    if setting.dry:
        record.not_run("cap_gib", "the CPU has no limit of GPU memory")
        return
    of_torch = gib * GIB - CONTEXT
    torch.cuda.set_per_process_memory_fraction(of_torch / torch.cuda.mem_get_info()[1])
    record.add("cap_gib", {"all": gib, "of_torch": round(of_torch / GIB, 2)})


def recipe_of(
    setting: Setting, data: Mapping[str, Any], settings: Mapping[str, Any], training: Mapping[str, Any]
) -> Recipe:
    """Return the recipe of a case, read as ``finetune`` reads it."""
    fixed = {"gradient_checkpointing": True, "learning_rate": 1e-5, "logging_steps": 1, "save_strategy": "no"}
    fixed |= {"use_cpu": True} if setting.dry else {}
    keys = {"data": dict(data), "model": {"base": str(material.base(setting))}, **settings}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.yaml"
        path.write_text(yaml.safe_dump(keys | {"out": str(setting.folder / "out"), "training": fixed | dict(training)}))
        return read_recipe(path)


def train(recipe: Recipe, measure: Measure) -> None:
    """Train by the recipe, as ``finetune`` does, up to the last step; nothing is saved."""

    class MeasuredTrainer(SpeechTrainer):
        def __init__(self, *args: Any, **options: Any):
            super().__init__(*args, **options)
            self.data_collator = measure.collated(self.data_collator)
            self.add_callback(measure)

        def train(self, *args: Any, **options: Any) -> Any:
            super().train(*args, **options)
            raise MeasuredError

    work = Path(recipe.out).parent
    for left in work.glob("run-*"):
        shutil.rmtree(left)  # of a case that was stopped
    with tempfile.TemporaryDirectory(prefix="run-", dir=work) as folder:
        moved = recipe_with_out(recipe, Path(folder) / "out")
        try:
            with mock.patch.object(run, "SpeechTrainer", MeasuredTrainer):
                run.run_training(moved, lambda line: print(line, flush=True), force=True)
        except MeasuredError:
            pass


def recipe_with_out(recipe: Recipe, out: Path) -> Recipe:
    """Return the recipe with another folder for its checkpoint."""
    return dataclasses.replace(recipe, out=str(out))


class BatchSizes(Measure):
    """Batch sizes in turn, what each takes, and what was planned for it."""

    def __init__(self, recipe: Recipe, batches: Sequence[int], steps: int, record: Record):
        self.recipe, self.batches, self.steps, self.record = recipe, batches, steps, record
        self.asked, self.measured, self.label_tokens = 0, 0, 0
        self.ends: list[float] = []

    @property
    def size(self) -> int:
        """The batch size whose turn it is."""
        return self.batches[min(self.measured, len(self.batches) - 1)]

    def collated(self, collator: Any) -> Any:
        """Return a collator that keeps as many windows of a batch as are its turn."""

        def first(rows: list[dict[str, Any]]) -> Any:
            size = self.batches[min(self.asked // self.steps, len(self.batches) - 1)]
            self.asked += 1
            batch = collator(rows[:size])
            self.label_tokens = int(batch["labels"].shape[1])
            return batch

        return first

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note what loading took, which may be more than training does."""
        if torch.cuda.is_available():
            self.record.add("loading", {"gpu_reserved_gib": _gib(torch.cuda.max_memory_reserved())})
            self._reset()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Note the time, and after the last step of a size, its figures."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.ends.append(time.perf_counter())
        if state.global_step % self.steps == 0:
            seconds = (self.ends[-1] - self.ends[-self.steps]) / (self.steps - 1)
            self.record.add(f"batch {self.size}", self.figures(self.size, seconds))
            self.measured += 1
            if torch.cuda.is_available():
                self._reset()

    def _reset(self) -> None:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def figures(self, size: int, seconds: float) -> dict[str, Any]:
        """Return what a batch of ``size`` took, and what was planned for it."""
        gpu = torch.cuda.is_available()
        load = micro_batch_of(self.recipe, size, self.label_tokens)
        plan = TrainingJob(recipe_shape(self.recipe), Hardware(int(gpu), 1e6)).plan(configuration_of(self.recipe), load)
        found = {
            "steps_per_s": round(1 / seconds, 3),
            "samples_per_s": round(size / seconds, 2),
            "host_gib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
            "planned_host_gib": round(plan.host_gib, 2),
        }
        if not gpu:
            return found
        free, total = torch.cuda.mem_get_info()
        return found | {
            "gpu_gib": _gib(total - free),
            "gpu_reserved_gib": _gib(torch.cuda.max_memory_reserved()),
            "gpu_allocated_gib": _gib(torch.cuda.max_memory_allocated()),
            "planned_gpu_gib": round(plan.gpu_gib, 2),
            "planned_over_measured": round(plan.memory.peak / (total - free), 2),
        }


def _gib(count: int) -> float:
    return round(count / GIB, 2)
