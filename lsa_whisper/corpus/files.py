"""The files of a corpus: hidden files are ignored, links are followed, each folder is visited once."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from lsa_whisper.audio import AUDIO_SUFFIXES
from lsa_whisper.errors import AudioError
from lsa_whisper.failed_files import FailedFile

CLEANED_TEXT = "cleaned text: filled pauses, cut-off words, repetitions and revisions were left out"
"""The comment of transcripts without disfluencies that ``transcribe --also-fluent`` writes; none is a session."""


def list_transcripts(folder: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the CHAT files below ``folder`` in order, and its unreadable folders."""
    files, unreadable_folders = list_files(folder)
    return [path for path in files if is_transcript(path)], unreadable_folders


def is_transcript(path: Path) -> bool:
    """Return whether ``path`` has the extension of a CHAT file."""
    return path.suffix.lower() == ".cha"


def list_files(root: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the files below ``root`` in order, and its unreadable folders.

    Links are followed, and each folder is visited once, because links may be circular. Hidden files and folders are
    ignored: macOS writes a ``._a.cha`` next to each ``a.cha`` that it copies.
    """
    seen: set[str] = set()
    found: list[Path] = []
    unreadable_folders: list[FailedFile] = []

    def cannot(error: OSError) -> None:
        reason = f"this folder cannot be read ({error.strerror}); its files are skipped"
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
    """Return ``name`` normalized for comparison: without folders, audio extension, case and Unicode form."""
    name = re.split(r"[\\/]", name)[-1]
    stem, dot, suffix = name.rpartition(".")
    if dot and "." + suffix.lower() in AUDIO_SUFFIXES:
        name = stem
    return unicodedata.normalize("NFC", name).casefold()


class RecordingIndex:
    """Recordings by normalized name; tracks which ones were paired."""

    def __init__(self, paths: Iterable[Path]):
        """Index those of ``paths`` with the extension of a recording."""
        self._by_name: dict[str, list[Path]] = {}
        self._taken: set[str] = set()
        for path in dict.fromkeys(path.absolute() for path in paths if path.suffix.lower() in AUDIO_SUFFIXES):
            self._by_name.setdefault(_fold(path.name), []).append(path)
        for paths_of_name in self._by_name.values():
            paths_of_name.sort(key=lambda path: (AUDIO_SUFFIXES.index(path.suffix.lower()), str(path)))

    def take(self, name: str, places: Iterable[Path]) -> list[Path]:
        """Return the recordings named ``name``, best format first, and mark them as paired; empty if there are none.

        Raises:
            AudioError: Several folders have one, and none of these is in ``places``.
        """
        found = self._by_name.get(_fold(name), [])
        here = next((hits for place in places if (hits := [path for path in found if path.parent == place])), found)
        if len({path.parent for path in here}) > 1:
            candidates = ", ".join(str(path) for path in here[:3])
            raise AudioError(
                f"several recordings are named {name!r} ({candidates}); put the right one next to the transcript"
            )
        self._taken.update(str(path) for path in found if path.parent in {hit.parent for hit in here})
        return here

    def unused(self) -> list[Path]:
        """Return the recordings without a transcript, in order."""
        return sorted(path for paths in self._by_name.values() for path in paths if str(path) not in self._taken)
