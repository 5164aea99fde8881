"""Transcripts of other formats as CHAT.

Each module reads one format; :func:`read_transcripts` chooses it by the file's extension. Text that is not CHAT yet
becomes CHAT by the rules of its notation (:mod:`lsa_whisper.formats.reading.notation`,
:mod:`lsa_whisper.formats.reading.salt_text`), times are taken as they are, and nothing that has a counterpart is lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Transcript
from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.cues import printed_cues
from lsa_whisper.formats.reading.files import decode_bytes, read_bytes
from lsa_whisper.formats.reading.lost_words import lost_words
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.to_transcript import ReadingOptions, to_transcript

__all__ = ["READABLE", "FoundTranscript", "ReadingOptions", "is_readable", "nxt_files", "read_transcripts"]

READABLE = {
    ".cha": "chat",
    ".slt": "salt",
    ".eaf": "eaf",
    ".textgrid": "textgrid",
    ".srt": "subtitles",
    ".vtt": "subtitles",
    ".sbv": "subtitles",
    ".txt": "plain",
    ".ctm": "nist",
    ".stm": "nist",
    ".json": "asr_json",
    ".jsonl": "asr_json",
    ".json3": "asr_json",
    ".words.xml": "nxt",
    ".tsv": "tab_rows",
    ".html": "html_words",
    ".htm": "html_words",
    ".otr": "html_words",
    ".ttml": "ttml",
    ".dfxp": "ttml",
    ".trs": "trs",
    ".ass": "subtitles",
    ".ssa": "subtitles",
}
"""The reader of each file extension."""

_SUBTITLES = re.compile(r"\s*(?:WEBVTT\b|\d+\n\s*[\d:.,]+ --> [\d:.,]+)")
"""How subtitles begin that are saved as text, as those of Zoom."""
_CHAT = re.compile(r"\s*(?:@UTF8|@Begin)\s")
_SALT = re.compile(r"\s*\$ ?[^\W\d_][^\n,]*,[^\n]*\n(?:[^\n]*\n){0,40}?[A-Z] \S")
"""How CHAT and SALT begin; editors add ``.txt`` to their names."""

NOTATIONS = ("auto", "chat", "plain", "salt")


@dataclass(frozen=True)
class FoundTranscript:
    """One transcript in a file.

    Attributes:
        name: The recording's name.
        transcript: The transcript as CHAT.
        notes: What a person should know of it, in sentences, and what was left out.
        losses: What was left out.
        texts: The number of texts in the file; ``None`` of a CHAT file.
        words: The number of words in them.
        times: The number of texts with times.
        lost_words: The number of words that the transcript has nowhere.
        lost_place: Where the first of these stands.
    """

    name: str
    transcript: Transcript
    notes: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    texts: int | None = None
    words: int = 0
    times: int = 0
    lost_words: int = 0
    lost_place: str = ""


def is_readable(path: Path) -> bool:
    """Return whether the file's extension is one of :data:`READABLE`.

    >>> is_readable(Path("a.TextGrid")), is_readable(Path("EN2001a.A.words.xml")), is_readable(Path("a.wav"))
    (True, True, False)
    """
    return _suffix(path) is not None


def read_transcripts(path: Path | str, options: ReadingOptions | None = None) -> list[FoundTranscript]:
    """Return the transcripts in the file at ``path``: one, or one for each recording that it covers (CTM, STM).

    Raises:
        FormatError: The file is damaged, has no words, or is not of the format that its extension says.
        ChatSyntaxError: A CHAT file cannot be opened.
    """
    path, options = Path(path), options or ReadingOptions()
    suffix = _suffix(path)
    if suffix is None:
        suffixes = ", ".join(READABLE)
        raise FormatError(f"{path}: transcripts are read from {suffixes}; save it as text first, or rename it")
    text = decode_bytes(read_bytes(path), str(path), options.language) if suffix == ".txt" else ""
    if suffix == ".cha" or _CHAT.match(text):
        transcript = chat.read(path)
        if not transcript.utterances:
            raise FormatError(f"{path}: contains no utterance; a main tier begins with * and a speaker code")
        return [FoundTranscript(path.stem.removesuffix(".cha"), transcript)]
    transcripts = [_found(source, path, options) for source in read_sources(path, options)]
    if not transcripts:
        raise FormatError(f"{path}: contains no words; is it the right file?")
    return transcripts


def read_sources(path: Path, options: ReadingOptions) -> list[Source]:
    """Return what the reader of the file's format finds, one source for each recording.

    Raises:
        FormatError: The file is damaged, or not of the format that its extension says.
    """
    data, reader = read_bytes(path), READABLE[_suffix(path) or ""]
    notes: list[str] = []
    if reader not in ("eaf", "nxt", "trs", "ttml"):  # which name their encoding
        data = decode_bytes(data, str(path), options.language, notes).encode()
    if reader == "plain":
        text = decode_bytes(data, str(path))
        if cues := printed_cues(text):
            data = cues.encode()
        reader = "subtitles" if cues or _SUBTITLES.match(text) else "salt" if _SALT.match(text) else reader
    module = import_module(f"lsa_whisper.formats.reading.{reader}")
    sources: list[Source] = module.parse(data, str(path), options.conventions)
    for source in sources:
        source.notes += notes
    if _suffix(path) == ".words.xml":  # the other speakers of the meeting have files of their own
        for other in nxt_files(path)[1:]:
            for more in module.parse(read_bytes(other), str(other), options.conventions):
                sources[0].spoken += more.spoken
    return sources


def nxt_files(path: Path) -> list[Path]:
    """Return the files of the meeting whose NXT words stand in ``path``, one for each speaker, ``path`` first."""
    meeting = path.name.partition(".")[0]
    files = (file for file in path.parent.iterdir() if file.name.startswith(f"{meeting}."))
    return [path, *sorted(file for file in files if _suffix(file) == ".words.xml" and file != path)]


def _headers(source: Source, headers: Path) -> list[str]:
    path = headers / f"{source.name}.cha" if headers.is_dir() else headers
    lines = chat.read(path).headers
    return [f"{line.name}:\t{line.value}" if line.value else line.name for line in lines]


def _found(source: Source, path: Path, options: ReadingOptions) -> FoundTranscript:
    if options.headers:
        source.headers = _headers(source, options.headers)
    transcript = to_transcript(source, options)
    if not transcript.utterances:
        raise FormatError(f"{path}: contains no words{f' of {source.name}' if source.name else ''}; is it complete?")
    transcript.path = str(path)
    words, missing, place = lost_words(source, transcript)
    times = sum(turn.span is not None for turn in source.spoken)
    notes, left_out = (*source.notes, *source.losses), tuple(source.losses)
    return FoundTranscript(source.name, transcript, notes, left_out, len(source.spoken), words, times, missing, place)


def _suffix(path: Path) -> str | None:
    name = path.name.lower()
    return next((suffix for suffix in READABLE if name.endswith(suffix)), None)
