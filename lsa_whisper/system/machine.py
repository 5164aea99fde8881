"""Findings about this machine: memory, disk, programs, and locks of killed builds.

Nothing is installed or compiled; torch is imported only to classify its errors.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LOCK_AGE_S = 600.0  # a cold build of the slowest op takes about two minutes; an older lock has no builder left
_MIN_MEMORY_GIB = 4.0
_MIN_DISK_GIB = 5.0
_MIN_SHARED_GIB = 1.0
GIB = 2**30
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")
"""Messages of CUDA (through torch and CTranslate2) and of torch's CPU allocator."""


@dataclass(frozen=True)
class Finding:
    """A finding whose ``state`` is ``ok``, ``warn`` or ``problem``; ``remedy`` is what to do, if anything."""

    name: str
    state: str
    fact: str
    remedy: str = ""


def programs(*, needed: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield the paths of a C++ compiler and ninja; a missing one is a problem if ``needed``, else a warning."""
    tools = (
        ("compiler", compiler(), "required to compile DeepSpeed's CPU optimizer on first use: install g++"),
        ("ninja", ninja(), "required to compile DeepSpeed's extensions: pip install ninja"),
    )
    for name, place, remedy in tools:
        absent = "problem" if name in needed else "warn"
        yield Finding(name, "ok", place) if place else Finding(name, absent, "not found", remedy)


def build_path() -> str:
    """Return the ``PATH`` for builds.

    It includes the interpreter's folder, where pip installs ninja, also if the environment is not activated.
    """
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def compiler() -> str | None:
    """Return the path of the C++ compiler that torch uses: ``$CXX``, else ``c++``; ``None`` if there is none."""
    words = os.environ.get("CXX", "").split()
    return shutil.which(words[0] if words else "c++", path=build_path())


def ninja() -> str | None:
    """Return the path of ninja, ``None`` if there is none."""
    return shutil.which("ninja", path=build_path())


def libaio(*, needed: bool = False) -> Iterator[Finding]:
    """Yield whether libaio and its header, for DeepSpeed's NVMe extension, are installed (on Linux only)."""
    from ctypes.util import find_library

    if not sys.platform.startswith("linux"):
        return
    remedy = "required to offload to NVMe: apt install libaio-dev"
    folders = [*os.environ.get("CPATH", "").split(os.pathsep), "/usr/include", "/usr/local/include"]
    header = next((place for folder in folders if folder and (place := Path(folder) / "libaio.h").is_file()), None)
    absent = "problem" if needed else "warn"
    if header is not None:
        yield Finding("libaio", "ok", str(header))
    elif library := find_library("aio"):
        yield Finding("libaio", absent, f"{library}, but no libaio.h", remedy)
    else:
        yield Finding("libaio", absent, "not found", remedy)


def extension_caches() -> list[Path]:
    """Return the folders of torch's compiled extensions, ``$TORCH_EXTENSIONS_DIR`` first."""
    folder = os.environ.get("TORCH_EXTENSIONS_DIR")
    return [*([Path(folder)] if folder else []), cache_home() / "torch_extensions"]


def cache_home() -> Path:
    """Return the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def compiled(caches: list[Path]) -> Iterator[Finding]:
    """Yield which of DeepSpeed's extensions are compiled; the others are compiled on first use."""
    ops = sorted({library.stem for cache in caches if cache.is_dir() for library in cache.glob("*/*/*.so")})
    yield Finding("extensions", "ok", ", ".join(ops) or "none compiled yet; each takes a minute or two on first use")


def stale_locks(caches: list[Path]) -> Iterator[Finding]:
    """Yield a problem for each lock of a killed build, for which the next build would wait forever."""
    locks = [lock for cache in caches if cache.is_dir() for lock in sorted(cache.rglob("lock"))]
    if not locks:
        yield Finding("build locks", "ok", "none")
    for lock in locks:
        try:
            age_s = time.time() - lock.stat().st_mtime
        except FileNotFoundError:  # its build has just ended
            continue
        remedy = f"rm '{lock}'"
        if age_s > _LOCK_AGE_S:
            yield Finding("build locks", "problem", f"{lock} is {age_s / 60:.0f} min old", remedy)
        else:
            yield Finding("build locks", "warn", f"{lock} is {age_s:.0f} s old", f"if nothing is compiling: {remedy}")


def memory(*, needed_gib: float = _MIN_MEMORY_GIB) -> Iterator[Finding]:
    """Yield the available memory, with a warning below ``needed_gib``; nothing if it is unknown."""
    available = available_memory_gib()
    if available is None:
        return
    low = available < needed_gib
    remedy = "close other programs, or choose a small model" if low else ""
    yield Finding("memory", "warn" if low else "ok", f"{available:.1f} GiB available", remedy)


def usable_cores() -> int:
    """Return the processor cores that this process may use: those of its affinity, which a batch system restricts."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def available_memory_gib() -> float | None:
    """Return the memory available to a new process, within its control group; ``None`` if unknown."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return None
    fields = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
    available = float(fields["MemAvailable"].split()[0]) * 1024
    # In a container the control group's limit applies, not the machine's free memory.
    free = _left_to_group(Path("/sys/fs/cgroup"))
    return (available if free is None else min(available, free)) / GIB


def _left_to_group(group: Path) -> float | None:
    """Return the bytes that a control group may still use, ``None`` if it has no limit.

    Inactive page cache counts as used, but the kernel frees it before it kills a process.
    """
    limit, used, parts = (group / f"memory.{name}" for name in ("max", "current", "stat"))
    if not (limit.exists() and used.exists() and (text := limit.read_text().strip()).isdigit()):
        return None
    counts = dict(line.split(" ", 1) for line in parts.read_text().splitlines()) if parts.exists() else {}
    return float(text) - float(used.read_text()) + float(counts.get("inactive_file", 0))


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, on a GPU or on the host.

    >>> is_out_of_memory(RuntimeError("CUDA failed with error out of memory")), is_out_of_memory(ValueError("no"))
    (True, False)
    """
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _NO_MEMORY)


def shared_memory(folder: Path = Path("/dev/shm")) -> Iterator[Finding]:
    """Yield the size of shared memory, with a warning if small, as with Docker's default."""
    if not folder.is_dir():
        return
    size = shutil.disk_usage(folder).total / GIB
    low = size < _MIN_SHARED_GIB
    remedy = "too little for data.workers or several GPUs: docker run --shm-size 8g, or data.workers: 0" if low else ""
    yield Finding("shared memory", "warn" if low else "ok", f"{size:.1f} GiB in {folder}", remedy)


def hub_cache_folder() -> Path:
    """Return the folder of the Hugging Face hub's cache; it need not exist."""
    home = os.environ.get("HF_HOME") or cache_home() / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def hub_cache() -> Iterator[Finding]:
    """Yield the cache folder of the Hugging Face hub, its number of models, and whether it can take more."""
    folder = hub_cache_folder()
    models = len(list(folder.glob("models--*"))) if folder.is_dir() else 0
    fact = f"{folder}: {models} {'model' if models == 1 else 'models'}"
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    place = nearest_existing(folder)
    free = shutil.disk_usage(place).free / GIB
    if offline:
        yield Finding("hub cache", "ok", f"{fact}; HF_HUB_OFFLINE prevents downloads")
    elif not os.access(place, os.W_OK):
        yield Finding("hub cache", "warn", f"{fact}, not writable", "set HF_HOME to a folder you may write to")
    elif free < _MIN_DISK_GIB:
        yield Finding("hub cache", "warn", f"{fact}, {free:.1f} GiB free", "set HF_HOME to a folder with more space")
    else:
        yield Finding("hub cache", "ok", fact)


def nvidia_driver(version_file: Path = Path("/proc/driver/nvidia/version")) -> str | None:
    """Return the version of NVIDIA's driver, ``None`` if there is none."""
    try:
        version = re.search(r"\b(\d{3,}\.\d+(?:\.\d+)?)\b", version_file.read_text("utf-8", "replace"))
    except OSError:
        return None
    return version.group(1) if version else "of an unknown version"


def nearest_existing(path: Path) -> Path:
    """Return ``path`` or its nearest existing parent, which is on the disk where ``path`` will be created."""
    whole = path.absolute()
    return next(place for place in (whole, *whole.parents) if place.exists())


def disk(folder: Path, *, name: str = "disk", needed_gib: float | None = None) -> Iterator[Finding]:
    """Yield whether ``folder`` is writable and has enough free space.

    If the folder does not exist, its nearest existing parent is checked. Less than ``needed_gib`` is a problem; by
    default, less than 5 GiB is a warning. ``name`` is that of the finding about space.
    """
    try:
        place = nearest_existing(folder)
        with tempfile.NamedTemporaryFile(dir=place, prefix=".lsa-whisper.") as file:
            file.write(b"\0" * 2**20)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        yield Finding("writing", "problem", f"{folder}: {error.strerror or error}", "choose a folder you may write to")
        return
    absent = "" if folder.exists() else ": does not exist, but can be made"
    yield Finding("writing", "ok", f"{folder}{absent}", "check the path, if it should exist" if absent else "")
    free = shutil.disk_usage(place).free / GIB
    if needed_gib is not None and free < needed_gib:
        fact = f"{free:.1f} GiB free in {folder}, about {needed_gib:.1f} needed"
        yield Finding(name, "problem", fact, "free space, or choose a folder on another disk")
        return
    low = free < _MIN_DISK_GIB
    remedy = "checkpoints of large models take several GiB each: free space" if low else ""
    yield Finding(name, "warn" if low else "ok", f"{free:.1f} GiB free", remedy)
