"""Speaker turns from external diarization: RTTM, a Praat TextGrid, or a CHAT file.

Speaker names become CHAT codes: CHAT codes stay (``CHI``, ``MOT``, ``INV``), those of the Voice Type Classifier are
translated, and all others become ``PAR0``, ``PAR1`` ... in order of first appearance.

RTTM is read here and not by ``meeteval.io``, which rejects the other line types of the format, accepts times such as
``nan`` or ``-3``, and reports errors without the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats import textgrid
from lsa_whisper.formats.reading.speakers import ROLES
from lsa_whisper.timespan import TimeSpan

SUFFIXES = (".rttm", ".TextGrid", ".cha")
_VOICE_TYPES = {"KCHI": "CHI", "KEY_CHILD": "CHI", "FEMALE": "FEM", "MALE": "MAL"}
_NOT_A_SPEAKER = frozenset(("SPEECH", "SIL", "SP", "NON-SPEECH", "NOISE"))
_CODE = re.compile(r"[A-Z][A-Z0-9]{0,6}")
_NUMBERED = re.compile(r"PAR\d+")
_MAX_S = 1e6
_PARTS_OF_SPEECH = re.compile(r"\b(words?|phones?|phonemes|segments|syllables)$", re.IGNORECASE)
_SPEAKER_TIERS = frozenset(("speaker", "speakers", "diarization", "turns", "who"))


@dataclass(frozen=True)
class SpeakerTurns:
    """The speaker turns of a recording.

    Attributes:
        spans: Speaker code and time of each turn, in order of time.
        participants: Everyone with a turn, in order of first appearance.
        note: What a reader should know of how the speakers were named.
    """

    spans: tuple[tuple[str, TimeSpan], ...]
    participants: tuple[Participant, ...]
    note: str = ""


def one_speaker(code: str, duration_ms: int) -> SpeakerTurns:
    """Return the turns of a recording in which only ``code`` speaks.

    >>> one_speaker("CHI", 2000).participants[0].role
    'Target_Child'
    """
    return SpeakerTurns(((code, TimeSpan(0, duration_ms)),), (person_of(code),))


def find_turns(speakers: Path, audio: Path, *, alone: bool = True, ours: Container[Path] = ()) -> Path:
    """Return the file with the turns of a recording: ``speakers``, or the file with the same stem in that folder.

    Args:
        speakers: A file or a folder.
        audio: The recording.
        alone: Whether it is the only recording; a TextGrid or CHAT file covers one recording, an RTTM may cover many.
        ours: Resolved paths of the files that this run writes; they are not used as input.

    Raises:
        LsaWhisperError: There is no such file, or a folder contains several.
    """
    if speakers.is_file():
        if not alone and speakers.suffix.lower() != ".rttm" and speakers.stem != audio.stem:
            raise LsaWhisperError(
                f"{speakers}: covers one recording, not {audio.name}; name a folder with one file per recording"
            )
        return speakers
    if not speakers.is_dir():
        raise LsaWhisperError(f"{speakers}: no such file or folder; name an RTTM, TextGrid or CHAT file, or a folder")
    suffixes = {suffix.lower() for suffix in SUFFIXES}
    same = (path for path in sorted(speakers.iterdir()) if path.stem == audio.stem and path.is_file())
    files = [path for path in same if path.suffix.lower() in suffixes and path.resolve() not in ours]
    if len(files) == 1:
        return files[0]
    if files:
        raise LsaWhisperError(f"{speakers}: {' and '.join(path.name for path in files)} both have turns; keep one")
    raise LsaWhisperError(f"{speakers}: there are no speaker turns for {audio.name}; add {audio.stem}.rttm there")


def read_turns(path: Path, audio: Path, duration_ms: int, *, alone: bool = True) -> SpeakerTurns:
    """Return the turns in a file.

    Args:
        path: An RTTM, TextGrid or CHAT file.
        audio: The recording; its stem selects the lines of an RTTM.
        duration_ms: Its length; turns are cut there.
        alone: Whether an RTTM with one recording applies under any recording name: diarizers often write
            "audio" or a path. It also applies if the file has the recording's name.

    Raises:
        LsaWhisperError: The file cannot be read in the format of its suffix, or has no turn within the recording.
    """
    readers = {".rttm": _rttm, ".textgrid": _textgrid, ".cha": _chat}
    if path.suffix.lower() not in readers:
        raise LsaWhisperError(
            f"{path}: speaker turns are read from {', '.join(SUFFIXES)}; convert it, or rename the file"
        )
    rows, people = readers[path.suffix.lower()](path, audio, alone or path.stem == audio.stem)
    rows = [(name, span) for name, span in rows if name.upper() not in _NOT_A_SPEAKER]
    if not rows:
        raise LsaWhisperError(f"{path}: contains no speaker turn for {audio.name}; check that it is the right file")
    turns = named_turns(rows, duration_ms, people)
    if not turns.spans:
        raise LsaWhisperError(
            f"{path}: every turn starts after the end of {audio.name}; check that they belong together"
        )
    return turns


def named_turns(
    rows: Iterable[tuple[str, TimeSpan]], duration_ms: int, people: Iterable[Participant] = ()
) -> SpeakerTurns:
    """Return turns with CHAT codes in place of the names of a diarizer, cut at the end of the recording.

    Args:
        rows: Name and time of each turn, in any order.
        duration_ms: Length of the recording.
        people: What is known of those with such a name.

    >>> named_turns([("SPEAKER_01", TimeSpan(900, 1500)), ("SPEAKER_00", TimeSpan(0, 800))], 1000).spans
    (('PAR0', TimeSpan(start_ms=0, end_ms=800)), ('PAR1', TimeSpan(start_ms=900, end_ms=1000)))
    """
    in_order = sorted(rows, key=lambda row: row[1])
    codes = chat_codes(name for name, _ in in_order)
    inside = [(codes[name], here) for name, span in in_order if (here := span & TimeSpan(0, duration_ms))]
    by_code = {codes[person.code]: person for person in people if person.code in codes}
    participants = (person_of(code, by_code.get(code)) for code in dict.fromkeys(code for code, _ in inside))
    return SpeakerTurns(tuple(inside), tuple(participants))


def chat_codes(names: Iterable[str]) -> dict[str, str]:
    """Return a CHAT code for each name, in order.

    >>> chat_codes(["SPEAKER_01", "KCHI", "SPEAKER_00", "MOT", "PAR1"])
    {'SPEAKER_01': 'PAR0', 'KCHI': 'CHI', 'SPEAKER_00': 'PAR2', 'MOT': 'MOT', 'PAR1': 'PAR1'}
    """
    distinct = list(dict.fromkeys(names))
    codes = {name: code for name in distinct if (code := _own_code(name))}
    used, number = set(codes.values()), 0
    for name in distinct:
        if name not in codes:
            while f"PAR{number}" in used:
                number += 1
            codes[name] = f"PAR{number}"
            used.add(codes[name])
    return {name: codes[name] for name in distinct}


def _own_code(name: str) -> str | None:
    upper = name.upper()
    if upper in _VOICE_TYPES or upper in ROLES:
        return _VOICE_TYPES.get(upper, upper)
    return name if _CODE.fullmatch(name) and not name.startswith("SPEAKER") else None


def person_of(code: str, person: Participant | None = None) -> Participant:
    """Return who has a CHAT code: what is known, with the role that the code implies."""
    role = ROLES.get(code, "Participant" if _NUMBERED.fullmatch(code) else "Unidentified")
    return replace(person, code=code, role=person.role or role) if person else Participant(code, role)


_Read = tuple[list[tuple[str, TimeSpan]], list[Participant]]


def _rttm(path: Path, audio: Path, is_alone: bool) -> _Read:
    """Read NIST's Rich Transcription Time Marked: ``SPEAKER file channel begin duration <NA> <NA> name``."""
    turns: dict[str, list[tuple[str, TimeSpan]]] = {}
    for number, fields in _lines(path):
        if len(fields) < 8:
            message = f"a SPEAKER line has {len(fields)} fields, not 8 or more"
            raise LsaWhisperError(f"{path}:{number}: {message}; write the file again with the diarizer")
        begin_s, length_s = _seconds(fields[3]), _seconds(fields[4])
        if begin_s is None or length_s is None:
            message = f"{fields[3][:20]!r} and {fields[4][:20]!r} are not a start and a duration in seconds"
            raise LsaWhisperError(f"{path}:{number}: {message}; write the file again with the diarizer")
        span = TimeSpan(round(1000 * begin_s), round(1000 * (begin_s + length_s)))
        if span.duration_ms > 0:
            turns.setdefault(fields[1], []).append((fields[7], span))
    if audio.stem not in turns and len(turns) == 1 and is_alone:
        return next(iter(turns.values())), []
    return turns.get(audio.stem, []), []


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                fields = line.split()
                if fields and fields[0] == "SPEAKER":
                    yield number, fields
                elif fields and not line.startswith(";") and not fields[0].isupper():
                    raise LsaWhisperError(
                        f"{path}:{number}: {line[:20].strip()!r} is not the start of an RTTM line; check the file"
                    )
    except OSError as error:
        raise LsaWhisperError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise LsaWhisperError(f"{path}: is not UTF-8 text; write the file again with the diarizer") from error


def _seconds(field: str) -> float | None:
    try:
        value = float(field)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= _MAX_S else None


def _textgrid(path: Path, audio: Path, is_alone: bool) -> _Read:
    """Read one tier per speaker, or one tier called ``speaker`` whose labels are the names."""
    tiers = textgrid.read(path)
    for name, intervals in tiers.items():
        if name.lower() in _SPEAKER_TIERS:
            return [(label, span) for span, label in intervals], []
    words = ((name, span) for name, rows in tiers.items() if not _PARTS_OF_SPEECH.search(name) for span, _ in rows)
    return list(words), []


def _chat(path: Path, audio: Path, is_alone: bool) -> _Read:
    transcript = chat.read(path)
    turns = [
        (utterance.speaker, utterance.span)
        for utterance in transcript.utterances
        if utterance.span and utterance.span.duration_ms > 0
    ]
    return turns, list(transcript.participants.values())
