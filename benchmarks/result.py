"""Results of benchmarks: one JSON file per script, with command, date, machine and versions."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"


def write(name: str, packages: tuple[str, ...], data: str, **figures: Any) -> Path:
    """Write ``benchmarks/results/NAME.json`` and return its path.

    Args:
        name: Name of the benchmark's module.
        packages: Packages whose versions affect the figures.
        data: Description of the data.
        figures: The results.
    """
    made_by = {"command": f"python -m benchmarks.{name} {_options(sys.argv[1:])}".strip()}
    made_by |= made_on(("lsa-whisper", *packages)) | {"data": data}
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps(made_by | figures, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(path)
    return path


def _options(typed: list[str]) -> str:
    """Return what was typed, without the folders of runs, which are this machine's own.

    >>> _options(["--seeds", "3", "--out", "/home/me/runs", "--work=/tmp/w", "--systems", "plain example"])
    "--seeds 3 --systems 'plain example'"
    """
    return re.sub(r"(^|\s)--(out|work)[ =]('[^']*'|\S+)", "", shlex.join(typed)).strip()


def made_on(packages: tuple[str, ...]) -> dict[str, Any]:
    """Return the date, the device, the machine and the versions of ``packages``."""
    return {
        "date": date.today().isoformat(),
        "device": _device(),
        "machine": machine(),
        "versions": {package: version_of(package) for package in packages},
    }


def last(name: str) -> dict[str, Any]:
    """Return the latest result of a benchmark, an empty dict if there is none."""
    path = FOLDER / f"{name}.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {}


def machine() -> str:
    """Return a description of this machine."""
    return f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}"


def _device() -> str:
    """Return the GPU that torch uses; a benchmark that has not imported torch runs on the CPU."""
    torch = sys.modules.get("torch")
    return str(torch.cuda.get_device_name()) if torch is not None and torch.cuda.is_available() else "cpu"


def version_of(package: str) -> str | None:
    """Return the installed version of a package, ``None`` if there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")
