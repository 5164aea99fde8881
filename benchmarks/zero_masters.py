"""What DeepSpeed's optimizer has of the weights in fp32, to compare with what a run saves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

SUFFIX = "masters.safetensors"


def save_masters(module: Any, out: Path) -> None:
    """Write the fp32 master copies of the trained weights beside ``out``; every rank must call this."""
    from deepspeed.utils import safe_get_full_fp32_param

    trained = {name: weight for name, weight in module.named_parameters() if weight.requires_grad}
    masters = {name: safe_get_full_fp32_param(weight).cpu().contiguous() for name, weight in trained.items()}
    if os.environ.get("RANK", "0") == "0":
        save_file(masters, out.with_name(f"{out.name}.{SUFFIX}"))


def master_difference(out: Path) -> float | None:
    """Return how far the weights saved in ``out`` lie from their masters at most, ``None`` without masters."""
    masters = out.with_name(f"{out.name}.{SUFFIX}")
    if not masters.exists():
        return None
    (file,) = out.glob("*model.safetensors")
    saved = load_file(file)
    pairs = ((saved[name.replace(".default", "")], value) for name, value in load_file(masters).items())
    return max(float((one.double() - other.double()).abs().max()) for one, other in pairs)
