"""What the machine is and has: versions, imports, GPU, compilers. The first case, because all others need it."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

import torch
from packaging.requirements import Requirement

from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting
from benchmarks.result import version_of
from lsa_whisper.system import machine

NEEDED = (
    "lsa_whisper.finetuning.training.run",
    "lsa_whisper.transcription",
    "lsa_whisper.preparation",
    "datasets",
    "deepspeed",
)
OPTIONAL = ("torchao", "bitsandbytes", "ctranslate2", "faster_whisper", "whisper", "flash_attn")
PACKAGES = ("triton", "pyarrow", "datasets", "numpy", "huggingface-hub", "safetensors", "tokenizers", "filelock")


def look(setting: Setting, record: Record) -> None:
    """Record the machine; fail if an import that other cases need fails."""
    record.add("hardware", hardware(setting))
    record.add("packages", {name: version_of(name) for name in PACKAGES})
    record.add("unmet_requirements", unmet_requirements("lsa-whisper"))
    failed = []
    for module in (*NEEDED, *OPTIONAL):
        reason = failure(module)
        record.add("imports", {module: reason or "imported"})
        failed += [f"{module}: {reason}"] if reason and module in NEEDED else []
    if failed:
        raise SystemExit("\n".join(failed))


def failure(module: str) -> str | None:
    """Return why a module cannot be imported, ``None`` if it can.

    >>> failure("json"), failure("no_such_module")
    (None, "ModuleNotFoundError: No module named 'no_such_module'")
    """
    try:
        importlib.import_module(module)
    except Exception as error:  # some load GPU libraries on import
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return None


def unmet_requirements(package: str) -> list[str]:
    """Return each requirement of a package, and of what those require, that the installed versions do not meet."""
    found, seen, waiting = [], set(), [package]
    while waiting:
        name = waiting.pop()
        try:
            needs = [Requirement(each) for each in requires(name) or ()]
        except PackageNotFoundError:
            continue  # reported where it is required
        for needed in needs:
            if needed.marker and not needed.marker.evaluate({"extra": ""}):
                continue
            installed = version_of(needed.name)
            if installed is None or not needed.specifier.contains(installed, prereleases=True):
                found.append(f"{name} needs {needed}, but there is {installed or 'none'}")
            if needed.name not in seen:
                seen.add(needed.name)
                waiting.append(needed.name)
    return sorted(set(found))


def hardware(setting: Setting) -> dict[str, Any]:
    """Return what the cases depend on besides packages."""
    found: dict[str, Any] = {
        "cores": os.cpu_count(),
        "host_gib": round(machine.available_memory_gib() or 0, 1),
        "disk_gib": round(shutil.disk_usage(setting.folder).free / machine.GIB, 1),
        "compiler": machine.compiler(),
        "ninja": machine.ninja(),
        "nvcc": shutil.which("nvcc"),
    }
    if setting.dry:
        return found
    about = torch.cuda.get_device_properties(0)
    return found | {
        "gpu": about.name,
        "gpu_gib": round(about.total_memory / machine.GIB, 1),
        "capability": f"{about.major}.{about.minor}",
        "multiprocessors": about.multi_processor_count,
        "driver": driver(),
    }


def driver() -> str | None:
    """Return the version of NVIDIA's driver, ``None`` if ``nvidia-smi`` does not tell."""
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return machine.nvidia_driver()
