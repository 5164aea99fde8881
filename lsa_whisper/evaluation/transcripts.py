"""The transcripts to score: CHAT, or the output of any recognizer that can be read."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Transcript
from lsa_whisper.formats.reading import FoundTranscript, ReadingOptions, read_transcripts


def transcript_at(path: str, key: str) -> Transcript:
    """Return the transcript of the recording ``key`` in the file at ``path``; plain words get no marks here.

    Raises:
        FormatError: The file is damaged.
    """
    if path.lower().endswith(".cha"):
        return chat.read(path)
    found = _found(path)
    name = Path(key).name
    return next((each.transcript for each in found if each.name == name), found[0].transcript)


@lru_cache(maxsize=2)
def _found(path: str) -> list[FoundTranscript]:
    """Return all transcripts of a file, which is parsed once for all recordings that it covers."""
    return read_transcripts(path, ReadingOptions(infer_marks=False))
