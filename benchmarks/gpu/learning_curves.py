"""The same steps on the CPU and on the GPU: results from one hold on the other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import yaml

from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting
from lsa_whisper.finetuning import finetune
from lsa_whisper.preparation import prepare

CORPUS, NANO = Path("corpora/storybook"), Path("models/nano")
STEPS, DRY_STEPS = 60, 3
FP32_TOLERANCE = 1e-3
"""Largest difference of a step's loss in fp32."""
ON_CPU = {"precision": "fp32", "use_cpu": True}
ON_GPU = {"fp32": {"precision": "fp32", "use_cpu": False}, "bf16": {"precision": "bf16", "use_cpu": False}}
DRY = {"fp32 again": ON_CPU, "bf16": {"precision": "bf16", "use_cpu": True}}


def nano(setting: Setting, record: Record) -> None:
    """Compare nano's learning curves on storybook."""
    data = setting.folder / "nano-data"
    if not (data / "train.jsonl").exists():
        prepare([CORPUS], data, context_s=6)
    compare(setting, record, NANO, data, batch=4)


def compare(setting: Setting, record: Record, base: Path, data: Path, *, batch: int) -> None:
    """Record the losses of every run and their largest differences from those of the first, in fp32 on the CPU.

    Raises:
        SystemExit: If fp32 differs by more than :data:`FP32_TOLERANCE`.
    """
    torch.backends.cudnn.allow_tf32 = False  # else convolutions round to 10 bits
    expected = losses(setting, base, data, batch, ON_CPU)
    record.add("losses", {"cpu fp32": expected})
    for name, variant in (DRY if setting.dry else ON_GPU).items():
        found = losses(setting, base, data, batch, variant)
        record.add("losses", {name: found})
        record.add("largest_difference", {name: max(abs(a - b) for a, b in zip(expected, found, strict=True))})
    if setting.dry:
        record.not_run("gpu", "there is none: the CPU took the same steps again, and in bf16")
    exact = max(value for name, value in record.figures["largest_difference"].items() if name.startswith("fp32"))
    if exact > FP32_TOLERANCE:
        raise SystemExit(f"in fp32 the losses differ by {exact:g}, more than {FP32_TOLERANCE:g}")


def losses(setting: Setting, base: Path, data: Path, batch: int, variant: Mapping[str, Any]) -> list[float]:
    """Return the loss of every step of a run without dropout."""
    out = setting.folder / "curve"
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(out.with_name("curve.unfinished"), ignore_errors=True)  # of a case that was stopped
    steps = DRY_STEPS if setting.dry else STEPS
    training = {
        "use_cpu": variant["use_cpu"],
        "learning_rate": 1e-4,
        "warmup_steps": min(10, steps // 2),
        "per_device_train_batch_size": batch,
        "max_steps": steps,
        "logging_steps": 1,
        "save_strategy": "no",
    }
    recipe = {
        "data": {"train": str(data / "train.jsonl"), "cache": True},
        "out": str(out),
        "model": {"base": str(base.resolve()), "dropout": 0.0},
        "precision": variant["precision"],
        "training": training,
    }
    path = setting.folder / "curve.yaml"
    path.write_text(yaml.safe_dump(recipe))
    finetune(path, force=True, report=lambda line: print(line, flush=True))
    rows = [json.loads(line) for line in (out / "curve.jsonl").read_text("utf-8").splitlines()]
    return [row["loss"] for row in rows if "loss" in row]
