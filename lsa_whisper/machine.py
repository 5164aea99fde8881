"""What this machine is and holds: memory, disk, programs, and what a killed build left behind.

Nothing is installed or compiled, and torch is imported only to look at an error of its own.
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
_LEAST_MEMORY_GIB = 4.0
_LEAST_DISK_GIB = 5.0
_LEAST_SHARED_GIB = 1.0
GIB = 2**30
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")
"""How CUDA (through torch and CTranslate2) and torch's allocator on the host say it."""


@dataclass(frozen=True)
class Row:
    """One finding: its ``state`` is ``ok``, ``warn`` or ``problem``; ``remedy`` says what to do, empty when ok."""

    name: str
    state: str
    found: str
    remedy: str = ""


def programs(*, needed: frozenset[str] = frozenset()) -> Iterator[Row]:
    """Yield where ffmpeg, a compiler and ninja are; an absent one is a problem if ``needed``, else a warning."""
    wanted = (
        ("ffmpeg", shutil.which("ffmpeg"), "m4a, mp4 and webm cannot be read without it: install ffmpeg"),
        ("compiler", compiler(), "DeepSpeed's CPU optimizer is compiled on first use: install g++"),
        ("ninja", ninja(), "DeepSpeed's compiled parts need it: pip install ninja"),
    )
    for name, found, remedy in wanted:
        absent = "problem" if name in needed else "warn"
        yield Row(name, "ok", found) if found else Row(name, absent, "not found", remedy)


def build_path() -> str:
    """Return the ``PATH`` on which programs are looked for when something is compiled.

    pip puts ninja beside the interpreter, which is not on PATH when the environment was not activated.
    """
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


def compiler() -> str | None:
    """Return the C++ compiler that torch would call: what ``CXX`` names, else ``c++``; ``None`` where there is none."""
    named = os.environ.get("CXX", "").split()
    return shutil.which(named[0] if named else "c++", path=build_path())


def ninja() -> str | None:
    """Return where ninja is, ``None`` where it is not."""
    return shutil.which("ninja", path=build_path())


def libaio(*, needed: bool = False) -> Iterator[Row]:
    """Yield whether the library for reading and writing NVMe disks is there, on Linux; elsewhere there is none.

    DeepSpeed compiles against it, so its header counts, too.
    """
    from ctypes.util import find_library

    if not sys.platform.startswith("linux"):
        return
    remedy = "offloading to NVMe needs it: apt install libaio-dev"
    folders = [*os.environ.get("CPATH", "").split(os.pathsep), "/usr/include", "/usr/local/include"]
    header = next((place for folder in folders if folder and (place := Path(folder) / "libaio.h").is_file()), None)
    absent = "problem" if needed else "warn"
    if header is not None:
        yield Row("libaio", "ok", str(header))
    elif library := find_library("aio"):
        yield Row("libaio", absent, f"{library}, but no libaio.h to compile against", remedy)
    else:
        yield Row("libaio", absent, "not found", remedy)


def extension_caches() -> list[Path]:
    """Return the folders where torch keeps what it compiled, the chosen one first."""
    chosen = os.environ.get("TORCH_EXTENSIONS_DIR")
    return [*([Path(chosen)] if chosen else []), cache_home() / "torch_extensions"]


def cache_home() -> Path:
    """Return the folder below which programs keep what they can make or fetch again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def compiled(caches: list[Path]) -> Iterator[Row]:
    """Yield which of DeepSpeed's parts are compiled already; the others will be when they are first used."""
    ops = sorted({library.stem for cache in caches if cache.is_dir() for library in cache.glob("*/*/*.so")})
    yield Row("compiled parts", "ok", ", ".join(ops) if ops else "none yet; each takes a minute or two when first used")


def stale_locks(caches: list[Path]) -> Iterator[Row]:
    """Yield a problem for each lock that a killed build left behind: the next build would wait for it for ever."""
    locks = [lock for cache in caches if cache.is_dir() for lock in sorted(cache.rglob("lock"))]
    if not locks:
        yield Row("build locks", "ok", "none")
    for lock in locks:
        try:
            age_s = time.time() - lock.stat().st_mtime
        except FileNotFoundError:  # its build ended while we looked
            continue
        if age_s > _LOCK_AGE_S:
            yield Row("build locks", "problem", f"{lock} is {age_s / 60:.0f} min old", f"rm '{lock}'")
        else:
            yield Row("build locks", "warn", f"{lock} is {age_s:.0f} s old", f"if nothing is compiling: rm '{lock}'")


def memory(*, needed_gib: float = _LEAST_MEMORY_GIB) -> Iterator[Row]:
    """Yield the free memory, a warning below ``needed_gib``; nothing where the system does not say."""
    available = available_memory_gib()
    if available is None:
        return
    low = available < needed_gib
    remedy = "close other programs, or choose a small model" if low else ""
    yield Row("memory", "warn" if low else "ok", f"{available:.1f} GiB available", remedy)


def available_memory_gib() -> float | None:
    """Return the memory a new process could take, control groups included; ``None`` where the system does not say."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return None
    fields = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
    available = float(fields["MemAvailable"].split()[0]) * 1024
    # In a container the machine's free memory says nothing: the group's limit is what kills the process.
    left = _left_to_group(Path("/sys/fs/cgroup"))
    return (available if left is None else min(available, left)) / GIB


def _left_to_group(group: Path) -> float | None:
    """Return the bytes that a control group may still take, ``None`` where it has no limit.

    Files that were read lately count as used, though the kernel gives those up before it kills anything.
    """
    limit, used, parts = (group / f"memory.{name}" for name in ("max", "current", "stat"))
    if not (limit.exists() and used.exists() and (text := limit.read_text().strip()).isdigit()):
        return None
    said = dict(line.split(" ", 1) for line in parts.read_text().splitlines()) if parts.exists() else {}
    return float(text) - float(used.read_text()) + float(said.get("inactive_file", 0))


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that memory ran out, on a GPU or on the host.

    >>> is_out_of_memory(RuntimeError("CUDA failed with error out of memory")), is_out_of_memory(ValueError("no"))
    (True, False)
    """
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _NO_MEMORY)


def shared_memory(folder: Path = Path("/dev/shm")) -> Iterator[Row]:
    """Yield a warning where processes have little memory to share, as in a container with Docker's defaults."""
    if not folder.is_dir():
        return
    size = shutil.disk_usage(folder).total / GIB
    low = size < _LEAST_SHARED_GIB
    remedy = "data.workers and several GPUs need more: docker run --shm-size 8g, or data.workers: 0" if low else ""
    yield Row("shared memory", "warn" if low else "ok", f"{size:.1f} GiB in {folder}", remedy)


def hub_cache() -> Iterator[Row]:
    """Yield where models of the Hugging Face hub are kept, how many there are, and whether more could be."""
    home = os.environ.get("HF_HOME") or cache_home() / "huggingface"
    folder = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()
    models = len(list(folder.glob("models--*"))) if folder.is_dir() else 0
    found = f"{folder}: {models} {'model' if models == 1 else 'models'}"
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    place = nearest_existing(folder)
    free = shutil.disk_usage(place).free / GIB
    if offline:
        yield Row("hub cache", "ok", f"{found}, and HF_HUB_OFFLINE forbids to fetch others")
    elif not os.access(place, os.W_OK):
        yield Row("hub cache", "warn", f"{found}, cannot be written to", "set HF_HOME to a folder you may write to")
    elif free < _LEAST_DISK_GIB:
        yield Row("hub cache", "warn", f"{found}, {free:.1f} GiB free", "set HF_HOME to a folder with room")
    else:
        yield Row("hub cache", "ok", found)


def nvidia_driver(said: Path = Path("/proc/driver/nvidia/version")) -> str | None:
    """Return the version of NVIDIA's driver, ``None`` where there is none."""
    try:
        found = re.search(r"\b(\d{3,}\.\d+(?:\.\d+)?)\b", said.read_text("utf-8", "replace"))
    except OSError:
        return None
    return found.group(1) if found else "of an unknown version"


def nearest_existing(path: Path) -> Path:
    """Return ``path``, or what is there of the folders above it: whatever is made at ``path`` is going to lie there."""
    whole = path.absolute()
    return next(place for place in (whole, *whole.parents) if place.exists())


def disk(folder: Path, *, name: str = "disk", needed_gib: float | None = None) -> Iterator[Row]:
    """Yield whether files can be written in ``folder`` and whether enough is free.

    Args:
        folder: Need not exist yet; then the nearest folder above it that does is looked at.
        name: Of the row about space.
        needed_gib: Less than this is a problem; when not given, less than a few GiB a warning.
    """
    try:
        place = nearest_existing(folder)
        with tempfile.NamedTemporaryFile(dir=place, prefix=".lsa-whisper.") as file:
            file.write(b"\0" * 2**20)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        yield Row("writing", "problem", f"{folder}: {error.strerror or error}", "choose a folder you may write to")
        return
    yield Row("writing", "ok", str(folder))
    free = shutil.disk_usage(place).free / GIB
    if needed_gib is not None and free < needed_gib:
        found = f"{free:.1f} GiB free in {folder}, about {needed_gib:.1f} needed"
        yield Row(name, "problem", found, "make room, or choose a folder on another disk")
        return
    low = free < _LEAST_DISK_GIB
    remedy = "checkpoints of large models take several GiB each: make room" if low else ""
    yield Row(name, "warn" if low else "ok", f"{free:.1f} GiB free", remedy)
