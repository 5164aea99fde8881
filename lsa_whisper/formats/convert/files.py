"""The files to convert, named or in named folders, and the output folder.

What an earlier call wrote may be replaced there, everything else is kept.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.errors import FormatError, LsaWhisperError
from lsa_whisper.formats.reading import is_readable, nxt_files
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.disk import convert_disk_errors
from lsa_whisper.system.own_files import read_own, verify_inside

_SIGNS = {".html": b'name="ts_', ".htm": b'name="ts_', ".tsv": b"start\tend\ttext"}
"""What tells transcripts from the many other pages and tables that a folder may hold."""
_SEARCHED_BYTES = 1 << 20


@dataclass(frozen=True)
class ConvertibleFile:
    """A file to convert, and its ``place``: the folder below the named one that it is in."""

    path: Path
    place: Path = Path()


def list_convertible(inputs: Sequence[Path], *, format: str, suffixes: Sequence[str] = ()) -> list[ConvertibleFile]:
    """Return the files of ``inputs``; of a meeting with one file for each speaker only the first.

    CHAT files in folders are passed over when CHAT is written; else files beside a CHAT file of the same name are.
    ``suffixes`` are the extensions to read in folders, with or without a dot.

    Raises:
        FormatError: An input is missing, or a folder has no readable file.
    """
    extensions = tuple(f".{suffix.lower().lstrip('.')}" for suffix in suffixes)
    if unknown := [extension for extension in extensions if not is_readable(Path(f"a{extension}"))]:
        raise FormatError(f"`from_={unknown[0]}`: no transcripts of such files can be read; choose slt, eaf, json ...")
    files: list[ConvertibleFile] = []
    for path in map(Path, inputs):
        if not path.exists():
            raise FormatError(f"{path}: no such file or folder; check the path")
        if path.is_dir():
            inside = list(_inside(path, format, extensions))
            if not inside:
                kind = f"file of {', '.join(extensions)}" if extensions else "transcript of another format"
                raise FormatError(f"{path}: has no {kind} that can be read; check the folder, or name the files")
            files += inside
        else:
            files.append(ConvertibleFile(path))
    if not files:
        raise FormatError("no transcript is named; name files or folders")
    return files


def _inside(folder: Path, format: str, extensions: tuple[str, ...]) -> Iterator[ConvertibleFile]:
    seen: set[Path] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(place, name) for name in sorted(names) if not name.startswith(".")):
            readable = path.name.lower().endswith(extensions) if extensions else path.suffix.lower() != f".{format}"
            if path in seen or not readable or not is_readable(path) or not path.is_file():
                continue
            if not extensions and not _has_sign(path):
                continue
            if not (extensions or format == "cha" or path.suffix == ".cha") and f"{path.stem}.cha" in names:
                continue  # transcribe writes other formats beside CHAT, which holds all that they do
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


_LIST = ".converted.json"


class OutputFolder:
    """Writes files below ``folder``; a hidden list there has the fingerprint of each file that was written."""

    def __init__(self, folder: Path):
        """Write below ``folder``, which is made with the first file."""
        self._folder = folder
        self._sources: dict[Path, Path] = {}
        self._digests: dict[str, str] = {}
        try:
            digests = plain_json.read(folder / _LIST)
        except (OSError, ValueError):  # absent or damaged: then no file may be replaced
            digests = {}
        if isinstance(digests, dict):
            self._digests = {str(name): str(digest) for name, digest in digests.items()}

    def write(self, place: Path, text: str | bytes, *, source: Path) -> Path:
        """Write ``text`` to the file at ``place`` below the folder, and return its path.

        Raises:
            LsaWhisperError: Another source gave the same file in this call, a person made or changed it, or it cannot
                be written.
        """
        path = self._folder / place
        if path in self._sources:
            raise LsaWhisperError(
                f"{source}: gives {path}, as {self._sources[path].name} did; read one with `from_`, or rename it"
            )
        if path.exists() and path.resolve() == source.resolve():
            raise LsaWhisperError(f"{source}: would be written over; choose another output folder")
        self._sources[path] = source
        data = text if isinstance(text, bytes) else text.encode(errors="replace")
        digest = hashlib.sha256(data).hexdigest()
        verify_inside(path, self._folder)
        if path.is_dir():
            raise LsaWhisperError(f"{path}: is a folder; choose another output folder")
        earlier = hashlib.sha256(read_own(path)).hexdigest() if path.exists() else None
        if earlier not in (None, digest, self._digests.get(place.as_posix())):
            raise LsaWhisperError(
                f"{path}: was not made from {source}, or was changed since; move it, or choose another output folder"
            )
        with convert_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        if earlier != digest:
            write_atomic(data, path)
        self._digests[place.as_posix()] = digest
        return path

    def update(self, place: Path, text: str, *, source: Path) -> Path:
        """Write as :meth:`write`, but leave what a person has made of the file since the same ``text`` was written."""
        path, digest = self._folder / place, hashlib.sha256(text.encode(errors="replace")).hexdigest()
        if path in self._sources or digest != self._digests.get(place.as_posix()) or not path.is_file():
            return self.write(place, text, source=source)
        verify_inside(path, self._folder)
        self._sources[path] = source
        return path

    def save(self) -> None:
        """Write the list of fingerprints, if a file was written."""
        if self._sources and self._folder.is_dir():
            write_atomic(plain_json.serialize(self._digests) + "\n", self._folder / _LIST)
