"""The CHAT files below a folder."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper.system.failed_files import FailedFile
from lsa_whisper.system.listing import list_files


def list_transcripts(folder: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the CHAT files below ``folder`` in order, and its unreadable folders."""
    files, unreadable_folders = list_files(folder)
    return [path for path in files if is_transcript(path)], unreadable_folders


def is_transcript(path: Path) -> bool:
    """Return whether ``path`` has the extension of a CHAT file."""
    return path.suffix.lower() == ".cha"
