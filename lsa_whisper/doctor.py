"""What this machine has and lacks for training and transcribing, each lack with its remedy.

Nothing is installed, compiled or downloaded, and no GPU is touched beyond asking for its name and memory.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

_NEEDED = ("torch", "transformers", "peft", "accelerate", "datasets", "librosa", "soundfile", "soxr")
_EXTRAS = (("deepspeed", "deepspeed"), ("ctranslate2", "ct2"), ("silero-vad", "vad"))
_LOCK_AGE_S = 600.0  # a cold build of the slowest op takes about two minutes; an older lock has no builder left
_LEAST_MEMORY_GIB = 4.0
_LEAST_DISK_GIB = 5.0


@dataclass(frozen=True)
class Row:
    """One finding: its ``state`` is ``ok``, ``warn`` or ``problem``; ``remedy`` says what to do, empty when ok."""

    name: str
    state: str
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """All findings."""

    rows: tuple[Row, ...]

    @property
    def exit_code(self) -> int:
        """1 when something that is needed is missing or broken, else 0.

        >>> Diagnosis((Row("ninja", "warn", "not found"),)).exit_code
        0
        """
        return int(any(row.state == "problem" for row in self.rows))

    def table(self) -> str:
        """Return one line for each finding, and under it the remedy where there is one."""
        width = max(len(row.name) for row in self.rows)
        lines = []
        for row in self.rows:
            lines.append(f"{row.state:<7}  {row.name:<{width}}  {row.found}")
            if row.remedy:
                lines.append(f"{'':<7}  {'':<{width}}  -> {row.remedy}")
        return "\n".join(lines)


def doctor(*, folder: Path | None = None) -> Diagnosis:
    """Return the state of this machine.

    Args:
        folder: where models and transcripts will be written; the current folder if absent.
    """
    folder = Path(folder) if folder else Path.cwd()
    checks: tuple[Callable[[], Iterator[Row]], ...] = (
        _python,
        _packages,
        _devices,
        _programs,
        _extras,
        _libaio,
        lambda: stale_locks(extension_caches()),
        _memory,
        lambda: _disk(folder),
    )
    return Diagnosis(tuple(row for check in checks for row in check()))


def _python() -> Iterator[Row]:
    yield Row("python", "ok", f"{platform.python_version()} ({sys.executable})")


def _packages() -> Iterator[Row]:
    for name in _NEEDED:
        version = _version(name)
        if version:
            yield Row(name, "ok", version)
        else:
            yield Row(name, "problem", "not installed", f"pip install {name}")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> Iterator[Row]:
    try:
        import torch
    except Exception as error:  # a broken CUDA or a wrong wheel raises OSError, ImportError, or worse
        if _version("torch"):
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            yield Row("device", "problem", f"torch does not import: {reason}", "reinstall torch for this machine")
        return
    if not torch.cuda.is_available():
        found = f"no GPU; {os.cpu_count()} CPU cores, {torch.get_num_threads()} threads"
        yield Row("device", "warn", found, "training a large model wants a GPU; small ones and LoRA do without")
        return
    for index in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(index)
        bf16 = "bf16" if torch.cuda.is_bf16_supported() else "no bf16: use fp16 or fp32"
        yield Row(f"device {index}", "ok", f"{card.name}, {card.total_memory / 2**30:.0f} GiB, {bf16}")


def _programs() -> Iterator[Row]:
    # pip puts ninja beside the interpreter, which is not on PATH when the environment was not activated.
    beside = str(Path(sys.executable).parent)
    wanted = (
        ("ffmpeg", ("ffmpeg",), "m4a, mp4 and webm cannot be read without it: install ffmpeg"),
        ("compiler", ("c++", "g++", "clang++"), "DeepSpeed's CPU optimizer is compiled on first use: install g++"),
        ("ninja", ("ninja",), "DeepSpeed's compiled parts need it: pip install ninja"),
    )
    for name, programs, remedy in wanted:
        found = next((place for program in programs if (place := shutil.which(program))), None)
        inside = next((place for program in programs if (place := shutil.which(program, path=beside))), None)
        if found:
            yield Row(name, "ok", found)
        elif inside:
            yield Row(name, "warn", f"{inside}, not on PATH", f"activate the environment, or put {beside} on PATH")
        else:
            yield Row(name, "warn", "not found", remedy)


def _extras() -> Iterator[Row]:
    for package, extra in _EXTRAS:
        version = _version(package)
        if version:
            yield Row(package, "ok", version)
        else:
            yield Row(package, "warn", "not installed (optional)", f"pip install 'lsa-whisper[{extra}]'")
    if importlib.util.find_spec("torchaudio") is not None:
        yield Row("torchaudio", "warn", "installed", "if transformers fails to import, pip uninstall torchaudio")


def _libaio() -> Iterator[Row]:
    from ctypes.util import find_library

    if not sys.platform.startswith("linux"):
        return
    if library := find_library("aio"):
        yield Row("libaio", "ok", library)
    else:
        yield Row("libaio", "warn", "not found", "offloading to NVMe needs it: apt install libaio-dev")


def extension_caches() -> list[Path]:
    """Return the folders where torch keeps what it compiled, the chosen one first."""
    chosen = os.environ.get("TORCH_EXTENSIONS_DIR")
    return [*([Path(chosen)] if chosen else []), Path.home() / ".cache" / "torch_extensions"]


def stale_locks(caches: list[Path]) -> Iterator[Row]:
    """Yield a problem for each lock that a killed build left behind: the next build would wait for it for ever."""
    locks = [lock for cache in caches if cache.is_dir() for lock in sorted(cache.rglob("lock"))]
    if not locks:
        yield Row("build locks", "ok", "none")
    for lock in locks:
        age_s = time.time() - lock.stat().st_mtime
        if age_s > _LOCK_AGE_S:
            yield Row("build locks", "problem", f"{lock} is {age_s / 60:.0f} min old", f"rm '{lock}'")
        else:
            yield Row("build locks", "warn", f"{lock} is {age_s:.0f} s old", f"if nothing is compiling: rm '{lock}'")


def _memory() -> Iterator[Row]:
    available = available_memory_gib()
    if available is None:
        return
    found = f"{available:.1f} GiB available"
    low = available < _LEAST_MEMORY_GIB
    yield Row("memory", "warn" if low else "ok", found, "close other programs, or choose a small model" if low else "")


def available_memory_gib() -> float | None:
    """Return the memory a new process could take, control groups included; ``None`` where the system does not say."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return None
    fields = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
    available = float(fields["MemAvailable"].split()[0]) * 1024
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    # In a container the machine's free memory says nothing: the group's limit is what kills the process.
    if limit.exists() and used.exists() and (text := limit.read_text().strip()).isdigit():
        available = min(available, float(text) - float(used.read_text()))
    return available / 2**30


def _disk(folder: Path) -> Iterator[Row]:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".lsa-whisper.") as file:
            file.write(b"\0" * 4096)
            file.flush()
    except OSError as error:
        yield Row("writing", "problem", f"{folder}: {error.strerror or error}", "choose a folder you may write to")
        return
    yield Row("writing", "ok", str(folder))
    free = shutil.disk_usage(folder).free / 2**30
    low = free < _LEAST_DISK_GIB
    remedy = "checkpoints of large models take several GiB each: make room" if low else ""
    yield Row("disk", "warn" if low else "ok", f"{free:.1f} GiB free", remedy)
