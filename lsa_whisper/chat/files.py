"""The CHAT files below a folder, and the names of recordings that CLAN can read in ``@Media``.

CLAN rejects blanks, brackets, apostrophes, quotation marks and commas there, and takes what follows a dot for the
ending of the file where it is one.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from lsa_whisper.chat.codes import MEDIA_EXTENSIONS
from lsa_whisper.system.files import FailedFile, list_files


def list_transcripts(folder: Path) -> tuple[list[Path], list[FailedFile]]:
    """Return the CHAT files below ``folder`` in order, and its unreadable folders."""
    files, unreadable_folders = list_files(folder)
    return [path for path in files if is_transcript(path)], unreadable_folders


def is_transcript(path: Path) -> bool:
    """Return whether ``path`` has the extension of a CHAT file."""
    return path.suffix.lower() == ".cha"


_REJECTED = frozenset("()[]{}<>'\"‘’“”‚„«»,`")
_EXTENSION = re.compile(rf"\.({'|'.join(MEDIA_EXTENSIONS)})$", re.IGNORECASE)


def media_name(stem: str) -> str:
    """Return the name to use in ``@Media`` for a recording called ``stem``: itself wherever CLAN can read it.

    >>> media_name("my file (1)"), media_name("O'Hara"), media_name("visite-é_2"), media_name("visit.mp3")
    ('my_file_1', 'O_Hara', 'visite-é_2', 'visit_mp3')
    """
    if not any(_is_rejected(character) for character in stem) and not _EXTENSION.search(stem):
        return stem
    name = "".join("_" if _is_rejected(character) else character for character in _EXTENSION.sub(r"_\1", stem))
    return re.sub("_{2,}", "_", name).strip("_") or "recording"


def corpus_of(folder: str) -> str:
    """Return the corpus for ``@ID`` of recordings in a folder of this name; empty where nothing is left of it.

    >>> corpus_of("Visits 2024 | pilot")
    'Visits_2024_pilot'
    """
    return re.sub(r"[^\w-]+", "_", folder).strip("_")


def _is_rejected(character: str) -> bool:
    # Names that are not UTF-8 contain surrogates; no CHAT file can hold those, so they are rejected elsewhere.
    return character in _REJECTED or unicodedata.category(character) in ("Cc", "Cf", "Zs", "Zl", "Zp")
