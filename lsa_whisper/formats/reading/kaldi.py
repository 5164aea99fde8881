"""Kaldi's data folders: ``wav.scp``, ``text``, and, where the folder has them, ``segments`` and ``utt2spk``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.files import decode_bytes, read_bytes
from lsa_whisper.formats.reading.manifests import name_apart
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.timespan import TimeSpan

_RECORDINGS, _TEXT, _SEGMENTS, _SPEAKERS = "wav.scp", "text", "segments", "utt2spk"
_Table = Mapping[str, tuple[str, str]]
"""Key -> the rest of its line, and the line's place."""


def is_kaldi(folder: Path) -> bool:
    """Return whether ``folder`` is a Kaldi data folder."""
    return (folder / _RECORDINGS).is_file() and (folder / _TEXT).is_file()


def kaldi_sources(folder: Path) -> list[Source]:
    """Return one source for each recording; without ``segments``, an utterance is a whole recording and has no times.

    Raises:
        FormatError: A line is damaged, or an utterance has no recording.
    """
    recordings, segments = _table(folder / _RECORDINGS), _table(folder / _SEGMENTS)
    speakers = _table(folder / _SPEAKERS)
    found: dict[str, Source] = {}
    for utterance, (text, here) in _table(folder / _TEXT).items():
        recording, span = _segment(segments[utterance]) if utterance in segments else (utterance, None)
        if (segments and utterance not in segments) or recording not in recordings:
            missing = _SEGMENTS if segments and utterance not in segments else _RECORDINGS
            raise FormatError(f"{here}: {utterance} has no line in {missing}; add it, or remove the utterance")
        source = found.setdefault(
            recording, Source(Path(recording).name, recording=_path(*recordings[recording]), shares_times=False)
        )
        speaker = speakers[utterance][0] if utterance in speakers else ""
        source.spoken.append(SpokenText(speaker, text, span, place=here))
    name_apart(found.values())
    return list(found.values())


def _table(path: Path) -> _Table:
    """Return the lines of a file by their first column; empty without the file."""
    if not path.is_file():
        return {}
    found = {}
    for number, line in enumerate(decode_bytes(read_bytes(path), str(path)).split("\n"), start=1):
        key, _, rest = line.strip().partition(" ")
        if not key:
            continue
        if key in found:
            raise FormatError(f"{path}:{number}: {key} is there twice; remove one of the lines")
        found[key] = (rest.strip(), f"{path}:{number}")
    return found


def _segment(row: tuple[str, str]) -> tuple[str, TimeSpan | None]:
    columns, here = row[0].split(), row[1]
    if len(columns) != 3:
        raise FormatError(f"{here}: has {len(columns) + 1} columns; segments has utterance, recording, start, end")
    return columns[0], span_of_seconds(columns[1], columns[2], here)


def _path(text: str, here: str) -> str:
    if not text or text.endswith("|"):
        raise FormatError(f"{here}: is a command or empty; write the path of the recording, for commands are not run")
    return text
