"""Wheels for another machine: which are missing there, where they come from, and whether their versions fit."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.parser import Parser
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lsa_whisper.errors import LsaWhisperError

PYTHON = "3.12.3"
_GLIBC = ("manylinux2014", *(f"manylinux_2_{minor}" for minor in (17, 24, 26, 27, 28, 31, 34)))
_ENVIRONMENT = default_environment() | {
    "python_version": "3.12",
    "python_full_version": PYTHON,
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "extra": "",
}
OTHER_CUDA = re.compile(r"lib\w+_(?!cuda130\b|cpu\b)(cuda|rocm|xpu)\d+\.so$")
"""Libraries inside a wheel for other GPUs and other versions of CUDA."""


@dataclass
class Versions:
    """What the other machine has, and what this one brings.

    Attributes:
        there: Packages that are there, with the version if it is known.
        brought: Version of each wheel.
        problems: Requirements that a known version does not meet.
        unknown: Requirements on packages that are there in an unknown version.
    """

    there: Mapping[str, str | None]
    brought: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def check(self, needed: Requirement, by: str) -> bool:
        """Return whether a package is there or brought; note a version that does not fit."""
        name = canonicalize_name(needed.name)
        if name not in self.brought and name not in self.there:
            return False
        version = self.brought.get(name) or self.there[name]
        if version is None and str(needed.specifier):
            self.unknown.append(f"{by}: {needed}")
        elif version is not None and not needed.specifier.contains(version, prereleases=True):
            self.problems.append(f"{by} needs {needed}, but there is {version}")
        return True


def read_versions(path: Path) -> dict[str, str | None]:
    """Return the packages of a list of ``name`` or ``name==version``, the version ``None`` where it has none."""
    lines = (line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    pairs = (line.partition("==") for line in lines if line)
    return {canonicalize_name(name): version or None for name, _, version in pairs}


def applicable(requirements: Iterable[str], extras: Iterable[str] = ()) -> Iterator[Requirement]:
    """Yield the requirements that apply on the other machine.

    >>> [str(each) for each in applicable(["dill<0.4", "aifc; python_version > '3.12'", "x; extra == 'dev'"])]
    ['dill<0.4']
    """
    for text in requirements:
        needed = Requirement(text)
        if needed.marker is None or any(
            needed.marker.evaluate(_ENVIRONMENT | {"extra": extra}) for extra in ("", *extras)
        ):
            yield needed


def metadata(wheel: Path) -> Message:
    """Return the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def bring(roots: Iterable[str], versions: Versions, pins: Mapping[str, str | None], folder: Path) -> list[Path]:
    """Download every wheel that ``roots`` and their requirements need and that is not there.

    Args:
        roots: Requirements.
        versions: What is there; notes what is brought and what does not fit.
        pins: The version of each package.
        folder: Where the wheels go.

    Raises:
        LsaWhisperError: If there is no wheel for the other machine.
    """
    wheels, waiting = [], [(needed, "lsa-whisper") for needed in applicable(roots)]
    while waiting:
        needed, by = waiting.pop(0)
        if versions.check(needed, by):
            continue
        name = canonicalize_name(needed.name)
        wheel = fetch(f"{name}=={pins[name]}" if pins.get(name) else str(needed).partition(";")[0], folder)
        about = metadata(wheel)
        versions.brought[name] = about["Version"]
        versions.check(needed, by)
        if not SpecifierSet(about.get("Requires-Python") or "").contains(PYTHON):
            versions.problems.append(f"{name} needs Python {about['Requires-Python']}, but there is {PYTHON}")
        waiting += [(each, name) for each in applicable(about.get_all("Requires-Dist") or (), needed.extras)]
        wheels.append(wheel)
    return wheels


def fetch(requirement: str, folder: Path) -> Path:
    """Return the wheel of a requirement for the other machine; from its source if that gives a pure-Python one.

    Raises:
        LsaWhisperError: If there is neither.
    """
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    there = [f"--platform={glibc}_x86_64" for glibc in _GLIBC] + ["--python-version=3.12", "--implementation=cp"]
    there += [f"--abi={abi}" for abi in ("cp312", "abi3", "none")]
    into = folder / f".{re.sub('[^a-z0-9.-]', '_', requirement.lower())}"
    into.mkdir(parents=True, exist_ok=True)
    binary = [*pip, "download", "--no-deps", "--only-binary=:all:", *there, "--dest", str(into), requirement]
    source = [*pip, "wheel", "--no-deps", "--wheel-dir", str(into), requirement]
    environment = os.environ | {"DS_BUILD_OPS": "0", "DS_ACCELERATOR": "cpu"}  # DeepSpeed: without extensions
    for command in (binary, source):
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        found = list(into.glob("*.whl"))
        if found:
            break
    else:
        raise LsaWhisperError(f"{requirement}: pip finds neither a wheel nor its source: {done.stderr.strip()[-300:]}")
    if command is source and not found[0].name.endswith("-none-any.whl"):
        raise LsaWhisperError(f"{requirement}: there is no wheel for Python 3.12 on Linux, and its source compiles")
    wheel = found[0].replace(folder / found[0].name)
    into.rmdir()
    return without(wheel, OTHER_CUDA)


def without(wheel: Path, pattern: re.Pattern[str]) -> Path:
    """Remove the files of a wheel whose names match; return the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        if not any(map(pattern.search, names)):
            return wheel
        slim = wheel.with_suffix(".slim")
        with zipfile.ZipFile(slim, "w", zipfile.ZIP_DEFLATED) as out:
            for name in (name for name in names if not pattern.search(name)):
                content = archive.read(name)
                if name.endswith(".dist-info/RECORD"):
                    rows = [row for row in csv.reader(io.StringIO(content.decode())) if not pattern.search(row[0])]
                    content = "".join(f"{','.join(row)}\n" for row in rows).encode()
                out.writestr(archive.getinfo(name), content, zipfile.ZIP_DEFLATED)
    return slim.replace(wheel)


def metadata_wheel(name: str, version: str, requirements: Iterable[str], folder: Path) -> Path:
    """Write a wheel with nothing but metadata, for a package whose modules are found by ``PYTHONPATH``."""
    stem = f"{name.replace('-', '_')}-{version}"
    needs = "".join(f"Requires-Dist: {each}\n" for each in requirements)
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: benchmarks.gpu\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = "".join(f"{stem}.dist-info/{file},,\n" for file in (*files, "RECORD"))
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in (files | {"RECORD": rows}).items():
            archive.writestr(f"{stem}.dist-info/{file}", content)
    return path
