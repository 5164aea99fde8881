"""The recordings of a corpus, found by the names that transcripts give."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from lsa_whisper.audio import AUDIO_SUFFIXES
from lsa_whisper.chat.files import media_name
from lsa_whisper.errors import AudioError

CLEANED_TEXT = "cleaned text: filled pauses, cut-off words, repetitions and revisions were left out"
"""The comment of transcripts without disfluencies that ``transcribe --also-fluent`` writes; none is a session."""


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
        self._by_media_name: dict[str, list[Path]] = {}
        self._taken: set[str] = set()
        for path in dict.fromkeys(path.absolute() for path in paths if path.suffix.lower() in AUDIO_SUFFIXES):
            self._by_name.setdefault(_fold(path.name), []).append(path)
            self._by_media_name.setdefault(_fold(media_name(path.stem)), []).append(path)
        for paths_of_name in (*self._by_name.values(), *self._by_media_name.values()):
            paths_of_name.sort(key=lambda path: (AUDIO_SUFFIXES.index(path.suffix.lower()), str(path)))

    def take(self, name: str, places: Iterable[Path]) -> list[Path]:
        """Return the recordings named ``name``, best format first, and mark them as paired; empty if there are none.

        ``Anna_2`` is also the recording ``Anna (2).wav``, whose transcript ``transcribe`` writes under that name.

        Raises:
            AudioError: Several folders have one, and none of these is in ``places``.
        """
        paths = self._by_name.get(_fold(name)) or self._by_media_name.get(_fold(name), [])
        nearest = next((hits for place in places if (hits := [path for path in paths if path.parent == place])), paths)
        if len({path.parent for path in nearest}) > 1:
            candidates = ", ".join(str(path) for path in nearest[:3])
            raise AudioError(
                f"several recordings are named {name!r} ({candidates}); put the right one next to the transcript"
            )
        self._taken.update(str(path) for path in paths if path.parent in {hit.parent for hit in nearest})
        return nearest

    def unused(self) -> list[Path]:
        """Return the recordings without a transcript, in order."""
        return sorted(path for paths in self._by_name.values() for path in paths if str(path) not in self._taken)
