"""The files below a folder, and those that could not be processed: what every verb keeps of them, and its exit code.

A file that cannot be processed costs only itself: the others are processed, and the summary lists it with the reason.
Where each input has an output of its own (``transcribe``), the exit code counts the inputs without one. Where all
inputs make one result (``prepare``), the exit code is 0 when that result was written; it lists the files left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError

_MAX_EXIT_CODE = 100  # codes above 125 have a meaning of their own in a shell


@dataclass(frozen=True)
class FailedFile:
    """A file that could not be processed.

    ``path`` may be a folder that cannot be searched. ``reason`` is one sentence; ``took_s`` is how long the attempt
    took.
    """

    path: Path
    reason: str
    took_s: float = field(default=0.0, compare=False)


def paths_of(places: Sequence[Path | str] | Path | str) -> list[Path]:
    """Return several files or folders, or a single one, as paths.

    >>> paths_of("visit") == paths_of(["visit"]) == [Path("visit")]
    True

    Raises:
        LsaWhisperError: One is empty, or something else, such as samples.
    """
    listed = list(places) if isinstance(places, Iterable) and not isinstance(places, str) else [places]
    for place in listed:
        if not isinstance(place, str | os.PathLike):
            raise LsaWhisperError(
                f"give the path of a file or folder, not {type(place).__name__}; write samples to a file first: "
                "soundfile.write('visit.wav', samples, rate_hz)"
            )
        if not os.fspath(place):
            raise LsaWhisperError("a path is empty; name a file or folder, such as '.' for this one")
    return [Path(place) for place in listed]


def path_of(place: Path | str) -> Path:
    """Return a file or folder as a path; raise the errors of ``paths_of``."""
    return paths_of([place])[0]


class WithFailures:
    """What a command did with several inputs, where each has an output of its own; ``failed`` are those without one."""

    failed: Sequence[FailedFile]

    @property
    def exit_code(self) -> int:
        """The number of failed inputs, at most 100."""
        return min(len(self.failed), _MAX_EXIT_CODE)


_DOCUMENTS = """
.cha .csv .doc .docx .eaf .htm .html .json .odt .pdf .rtf .sbv .slt .srt .textgrid .tsv .txt .vtt .xlsx .yaml .yml
"""
DOCUMENT_SUFFIXES = frozenset(_DOCUMENTS.split())
"""What the names of texts and tables end in: they are neither recordings nor folders."""


def list_files(root: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the files below ``root`` in order, and its unreadable folders.

    Links are followed, and each folder is visited once, because links may be circular. Hidden files and folders are
    ignored: macOS writes a ``._a.cha`` next to each ``a.cha`` that it copies.
    """
    seen: set[str] = set()
    paths: list[Path] = []
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
        paths += [Path(place, name) for name in files if not name.startswith(".")]
    return sorted(paths), unreadable_folders
