"""The files below a folder: hidden files are ignored, links are followed, each folder is visited once."""

from __future__ import annotations

import os
from pathlib import Path

from lsa_whisper.system.failed_files import FailedFile

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
