"""The files below a folder as a corpus is looked through: hidden ones passed over, links followed, each folder once."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from lsa_whisper.audio import AUDIO_SUFFIXES
from lsa_whisper.errors import AudioError
from lsa_whisper.failed_files import FailedFile


def list_transcripts(folder: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the CHAT files below ``folder`` in order, and the folders there that cannot be looked into."""
    files, unreadable_folders = list_files(folder)
    return [path for path in files if is_transcript(path)], unreadable_folders


def is_transcript(path: Path) -> bool:
    """Tell by its ending whether ``path`` is a CHAT file."""
    return path.suffix.lower() == ".cha"


def list_files(root: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the files below ``root`` in order, and the folders there that cannot be looked into.

    Links are followed, each folder is seen once (links may run in circles), and hidden files and folders are passed
    over: macOS leaves a ``._a.cha`` beside each ``a.cha`` that it copies.
    """
    seen: set[str] = set()
    found: list[Path] = []
    unreadable_folders: list[FailedFile] = []

    def cannot(error: OSError) -> None:
        reason = f"this folder cannot be looked into ({error.strerror}); what is in it is left out"
        unreadable_folders.append(FailedFile(Path(error.filename), reason))

    for place, folders, files in os.walk(root, followlinks=True, onerror=cannot):
        real = os.path.realpath(place)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(place, name) for name in files if not name.startswith(".")]
    return sorted(found), unreadable_folders


def _fold(name: str) -> str:
    """Return ``name`` as it is compared: without folders, audio ending, case and Unicode form."""
    name = re.split(r"[\\/]", name)[-1]
    stem, dot, suffix = name.rpartition(".")
    if dot and "." + suffix.lower() in AUDIO_SUFFIXES:
        name = stem
    return unicodedata.normalize("NFC", name).casefold()


class RecordingIndex:
    """The recordings found, by folded name; remembers which ones were taken."""

    def __init__(self, paths: Iterable[Path]):
        """Take those of ``paths`` that end as recordings do."""
        self._by_name: dict[str, list[Path]] = {}
        self._taken: set[str] = set()
        for path in dict.fromkeys(path.absolute() for path in paths if path.suffix.lower() in AUDIO_SUFFIXES):
            self._by_name.setdefault(_fold(path.name), []).append(path)
        for paths_of_name in self._by_name.values():
            paths_of_name.sort(key=lambda path: (AUDIO_SUFFIXES.index(path.suffix.lower()), str(path)))

    def take(self, name: str, places: Iterable[Path]) -> list[Path]:
        """Return the recordings called ``name``, best first; empty without any.

        Raises:
            AudioError: Several folders have one and none of them is in ``places``.
        """
        found = self._by_name.get(_fold(name), [])
        here = next((hits for place in places if (hits := [path for path in found if path.parent == place])), found)
        if len({path.parent for path in here}) > 1:
            candidates = ", ".join(str(path) for path in here[:3])
            raise AudioError(f"several recordings are called {name!r} ({candidates}); put the right one beside it")
        self._taken.update(str(path) for path in found if path.parent in {hit.parent for hit in here})
        return here

    def unused(self) -> list[Path]:
        """Return the recordings that no transcript took, in order."""
        return sorted(path for paths in self._by_name.values() for path in paths if str(path) not in self._taken)
