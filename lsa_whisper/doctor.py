"""Diagnosis of this machine for training and transcribing, or of a model, with a remedy for every problem.

Nothing is installed, compiled or downloaded, and of a GPU only its name and memory are queried.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint import model_overview
from lsa_whisper.checkpoint.choice import resolve_model
from lsa_whisper.checkpoint.user_settings import read_settings
from lsa_whisper.checkpoint.verification import is_local
from lsa_whisper.errors import first_line
from lsa_whisper.system import machine
from lsa_whisper.system.device import has_kernels, has_native_bf16, torch_for
from lsa_whisper.system.machine import Finding
from lsa_whisper.system.terminal import hanging_lines

_NEEDED = ("torch", "transformers", "peft", "accelerate", "datasets", "soundfile", "soxr", "silero-vad")
_EXTRAS = (("deepspeed", "deepspeed"), ("ctranslate2", "ct2"))
_MORE_EXTRAS = (
    ("ray", "ray"),
    ("meeteval", "speakers"),
    ("bitsandbytes", "quantize"),
    ("torchao", "torchao"),
    ("tensorboard", "tensorboard"),
    ("whisper-normalizer", "whisper"),
    ("batchalign", "batchalign"),
)
_OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class Diagnosis:
    """All findings about a machine or a model."""

    rows: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """1 if a requirement is missing or broken, else 0.

        >>> Diagnosis((Finding("ninja", "warn", "not found"),)).exit_code
        0
        """
        return int(any(row.state == "problem" for row in self.rows))

    def table(self) -> str:
        """Return one line per finding, followed by its remedy if there is one."""
        width = max(len(row.name) for row in self.rows)
        lines = []
        for row in self.rows:
            indent = len(f"{'':<7}  {'':<{width}}  ")
            lines.append(f"{row.state:<7}  {row.name:<{width}}  {hanging_lines(row.fact, indent)}")
            if row.remedy:
                lines.append(f"{'':<{indent}}-> {hanging_lines(row.remedy, indent + 3)}")
        return "\n".join(lines)


def doctor(*, model: str | Path | None = None, folder: Path | None = None, nvme: Path | None = None) -> Diagnosis:
    """Return the diagnosis of this machine, or of a model.

    Args:
        model: A checkpoint folder, an adapter or a hub name: describe it, and check that its files fit together.
        folder: Folder for models and transcripts; by default the current one.
        nvme: Folder on a fast disk for NVMe offloading, whose requirements are then checked, too.
    """
    if model:
        return Diagnosis(model_overview(resolve_model(model)))
    folder = Path(folder) if folder else Path.cwd()
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _python,
        _packages,
        _devices,
        lambda: machine.programs(needed=frozenset({"compiler", "ninja"} if nvme else ())),
        _extras,
        lambda: machine.libaio(needed=nvme is not None),
        lambda: machine.stale_locks(machine.extension_caches()),
        lambda: machine.compiled(machine.extension_caches()) if _version("deepspeed") else iter(()),
        machine.memory,
        machine.shared_memory,
        machine.hub_cache,
        lambda: machine.disk(folder),
        lambda: machine.disk(Path(nvme), name="nvme") if nvme else iter(()),
    )
    rows = tuple(row for check in checks for row in check())
    return Diagnosis((_summary(rows), *rows))


def _summary(rows: Sequence[Finding]) -> Finding:
    """Return what a person can do on this machine, which is what most people ask."""
    if broken := [row.name for row in rows if row.state == "problem"]:
        return Finding(
            "summary", "problem", f"something is to be mended first: {', '.join(broken)}", "see the rows below"
        )
    gpus = [row for row in rows if row.name.startswith("device") and row.state == "ok"]
    trains = "train models" if gpus else "train small models, such as the demo's"
    cannot = "" if gpus else "; you cannot train large models here, which needs a GPU"
    model = read_settings().chosen
    uses = f"the model {model}" if model else "no model is chosen: transcribe takes --model, or see models use"
    abilities = f"you can transcribe, review, inspect, evaluate, and {trains}{cannot}; {uses}"
    missing = model is not None and is_local(model) and not Path(model).is_dir()
    if missing:
        return Finding("summary", "warn", f"the chosen model is missing: {model}", "choose another with models use")
    return Finding("summary", "ok", abilities)


def _python() -> Iterator[Finding]:
    version = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info < _OLDEST_PYTHON:
        yield Finding("python", "problem", version, "create an environment with Python 3.11 or newer")
    else:
        yield Finding("python", "ok", version)


def _packages() -> Iterator[Finding]:
    """Yield the main packages, and any other requirement that is missing, too old or too new."""
    requirements = _requirements()
    for name in dict.fromkeys((*_NEEDED, *requirements)):
        version, wants = _version(name), requirements.get(name, "")
        if not version:
            yield Finding(name, "problem", "not installed", f"pip install '{name}{wants}'")
        elif wants and not wants.contains(version, prereleases=True):
            yield Finding(name, "problem", f"{version}, not {wants}", f"pip install '{name}{wants}'")
        elif name in _NEEDED:
            yield Finding(name, "ok", version)


def _requirements() -> dict[str, Any]:
    """Return the requirements of the installed package by name; none if it runs from source."""
    from packaging.requirements import Requirement

    try:
        lines = metadata.requires("lsa-whisper") or []
    except metadata.PackageNotFoundError:
        return {}
    needs = [need for need in map(Requirement, lines) if need.marker is None or need.marker.evaluate({"extra": ""})]
    return {need.name: need.specifier for need in needs}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> Iterator[Finding]:
    try:
        import torch
    except Exception as error:  # a broken CUDA or a wrong wheel raises many types
        if _version("torch"):
            yield Finding("device", "problem", f"torch cannot be imported: {first_line(error)}", "reinstall torch")
        return
    if not torch.cuda.is_available():
        yield _no_gpu(torch, machine.nvidia_driver())
        return
    for index in range(torch.cuda.device_count()):
        card, capability = torch.cuda.get_device_properties(index), torch.cuda.get_device_capability(index)
        precision = "bf16" if has_native_bf16() else "fp16 (no bf16 of its own)"
        text = f"{card.name}, {card.total_memory / 2**30:.0f} GiB, {precision}"
        built_for = torch.cuda.get_arch_list()
        if built_for and not has_kernels(capability, built_for):
            text += f"; torch {torch.__version__} has no kernels for it (sm_{capability[0]}{capability[1]})"
            yield Finding(f"device {index}", "problem", text, torch_for(capability))
        else:
            yield Finding(f"device {index}", "ok", text)


def _no_gpu(torch: Any, driver: str | None) -> Finding:
    """Return why no GPU is usable: there is none, or torch and the driver do not match."""
    cores = f"{os.cpu_count()} CPU cores, threads of torch: {torch.get_num_threads()}"
    if driver and torch.version.cuda is None:
        text = f"NVIDIA driver {driver}, but torch {torch.__version__} without CUDA; {cores}"
        return Finding("device", "problem", text, "install torch for CUDA: see pytorch.org, Get Started")
    if driver:
        text = f"torch for CUDA {torch.version.cuda} finds no GPU with NVIDIA driver {driver}; {cores}"
        remedy = "update the driver, or install torch for an older CUDA; in a container, give it the GPU (--gpus all)"
        return Finding("device", "problem", text, remedy)
    return Finding(
        "device",
        "warn",
        f"no GPU; {cores}",
        "large models need a GPU to train; small models and LoRA do not",
    )


def _extras() -> Iterator[Finding]:
    for package, extra in _EXTRAS:
        version = _version(package)
        if version:
            yield Finding(package, "ok", version)
        else:
            yield Finding(package, "warn", "not installed (optional)", f"pip install 'lsa-whisper[{extra}]'")
    there = [extra for package, extra in _MORE_EXTRAS if _version(package)]
    absent = [extra for _, extra in _MORE_EXTRAS if extra not in there]
    rest = f"; not installed: {', '.join(absent)}" if absent else ""
    remedy = "pip install 'lsa-whisper[NAME]' if you need one" if absent else ""
    yield Finding("other extras", "ok", f"{', '.join(there) or 'none'}{rest}", remedy)
    if importlib.util.find_spec("torchaudio") is not None:
        yield Finding("torchaudio", "warn", "installed", "if transformers fails to import, pip uninstall torchaudio")
