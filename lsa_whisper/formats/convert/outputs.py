"""The output folder: what an earlier call wrote may be replaced, everything else is kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.disk import convert_disk_errors
from lsa_whisper.system.own_files import read_own, verify_inside

_LIST = ".converted.json"


class OutputFolder:
    """Writes files below ``folder``; a hidden list there has the fingerprint of each file that was written."""

    def __init__(self, folder: Path):
        """Write below ``folder``, which is made with the first file."""
        self._folder = folder
        self._sources: dict[Path, Path] = {}
        self._known: dict[str, str] = {}
        try:
            found = plain_json.read(folder / _LIST)
        except (OSError, ValueError):  # absent or damaged: then no file may be replaced
            found = {}
        if isinstance(found, dict):
            self._known = {str(name): str(digest) for name, digest in found.items()}

    def write(self, place: Path, text: str, *, source: Path) -> Path:
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
        data = text.encode(errors="replace")
        digest = hashlib.sha256(data).hexdigest()
        verify_inside(path, self._folder)
        if path.is_dir():
            raise LsaWhisperError(f"{path}: is a folder; choose another output folder")
        old = hashlib.sha256(read_own(path)).hexdigest() if path.exists() else None
        if old not in (None, digest, self._known.get(place.as_posix())):
            raise LsaWhisperError(
                f"{path}: was not written by convert, or was changed since; move it, or choose another output folder"
            )
        with convert_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        if old != digest:
            write_atomic(data, path)
        self._known[place.as_posix()] = digest
        return path

    def save(self) -> None:
        """Write the list of fingerprints, if a file was written."""
        if self._sources and self._folder.is_dir():
            write_atomic(plain_json.serialize(self._known) + "\n", self._folder / _LIST)
