"""The files to convert: named files, and the readable files of named folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading import is_readable, nxt_files

_SIGNS = {".html": b'name="ts_', ".htm": b'name="ts_', ".tsv": b"start\tend\ttext"}
"""What tells transcripts from the many other pages and tables that a folder may hold."""
_SEARCHED_BYTES = 1 << 20


@dataclass(frozen=True)
class ConvertibleFile:
    """A file to convert, and its ``place``: the folder below the named one that it is in."""

    path: Path
    place: Path = Path()


def list_convertible(inputs: Sequence[Path], *, to: str, suffixes: Sequence[str] = ()) -> list[ConvertibleFile]:
    """Return the files of ``inputs``; of a meeting with one file for each speaker only the first.

    Args:
        inputs: Files and folders.
        to: The output format; CHAT files in folders are passed over when CHAT is written.
        suffixes: The extensions to read in folders, with or without a dot.

    Raises:
        FormatError: An input is missing, or a folder has no readable file.
    """
    allowed = tuple(f".{suffix.lower().lstrip('.')}" for suffix in suffixes)
    found: list[ConvertibleFile] = []
    for named in map(Path, inputs):
        if not named.exists():
            raise FormatError(f"{named}: no such file or folder; check the path")
        if named.is_dir():
            inside = list(_inside(named, to, allowed))
            if not inside:
                what = f"file of {', '.join(allowed)}" if allowed else "transcript of another format"
                raise FormatError(f"{named}: has no {what} that can be read; check the folder, or name the files")
            found += inside
        else:
            found.append(ConvertibleFile(named))
    return found


def _inside(folder: Path, to: str, allowed: tuple[str, ...]) -> Iterator[ConvertibleFile]:
    seen: set[Path] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(place, name) for name in sorted(names) if not name.startswith(".")):
            readable = path.name.lower().endswith(allowed) if allowed else path.suffix.lower() != f".{to}"
            if path in seen or not readable or not is_readable(path) or not path.is_file():
                continue
            if not allowed and not _has_sign(path):
                continue
            if path.name.lower().endswith(".words.xml"):
                seen.update(nxt_files(path))
            yield ConvertibleFile(path, path.parent.relative_to(folder))


def _has_sign(path: Path) -> bool:
    """Return whether a file in a folder is a transcript, where its extension alone does not say so."""
    sign = _SIGNS.get(path.suffix.lower())
    if sign is None:
        return True
    try:
        with path.open("rb") as file:
            return sign in file.read(_SEARCHED_BYTES).lower()
    except OSError:
        return True  # the error is reported with the file
