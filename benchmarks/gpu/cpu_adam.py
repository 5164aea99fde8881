"""DeepSpeed's CPU Adam, compiled once into the folder of extensions, and one step of it beside torch's AdamW."""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch

from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting

SIZE, DRY_SIZE = 100_000_000, 1_000_000
"""Parameters of the step that is timed."""


def build(setting: Setting, record: Record) -> None:
    """Compile the extension and time one step of it and of torch's AdamW."""
    folder = Path(os.environ["TORCH_EXTENSIONS_DIR"])
    before = {path.parent.name for path in folder.glob("*/*.so")}
    began = time.monotonic()
    from deepspeed.ops.adam import DeepSpeedCPUAdam

    weights = torch.randn(DRY_SIZE if setting.dry else SIZE)
    both = [torch.nn.Parameter(weights.clone()) for _ in range(2)]
    options = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0}
    ours, torchs = DeepSpeedCPUAdam(both[:1], **options), torch.optim.AdamW(both[1:], **options)
    record.add("compiling_s", round(time.monotonic() - began, 1))
    record.add("compiled", sorted({path.parent.name for path in folder.glob("*/*.so")} - before))
    gradient = torch.randn_like(weights)
    for name, optimizer, weight in (("deepspeed", ours, both[0]), ("torch", torchs, both[1])):
        weight.grad = gradient.clone()
        seconds = []
        for _ in range(2):  # the first one allocates the moments
            began = time.perf_counter()
            optimizer.step()
            seconds.append(time.perf_counter() - began)
        record.add("parameters_per_s", {name: round(len(weights) / seconds[-1])})
    difference = float((both[0] - both[1]).detach().abs().max())
    record.add("largest_difference", difference)
    if difference > 1e-5:
        raise SystemExit(f"DeepSpeed's CPU Adam differs from torch's AdamW by {difference:g}")
