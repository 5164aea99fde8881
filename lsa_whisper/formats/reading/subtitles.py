"""Subtitles: SubRip, WebVTT, YouTube's (``.srt``, ``.vtt``, ``.sbv``), Advanced SubStation Alpha (``.ass``, ``.ssa``).

Each cue is an utterance, or one per speaker; of a subtitle script, each dialogue line, with its speaker. A cue that is
damaged costs only its times, and a note names its line. In captions that roll up, as YouTube writes them, the lines
that a cue repeats from the one above are left out.

pysubs2 and srt are not used: pysubs2 joins a cue whose time line is damaged to the text of the cue above it without a
word, and loses WebVTT's voices; srt reads no WebVTT; both accept cues that end before they start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.cues import (
    Cue,
    bracketed_speakers,
    cues_in,
    milliseconds,
    with_colons,
    with_speakers_above,
    without_repeated_lines,
)
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.line_forms import UNKNOWN_SPEAKER, cut_before
from lsa_whisper.formats.reading.prefixes import has_speaker_prefixes, speakers_before, split_speaker
from lsa_whisper.formats.reading.source import Source, SpokenText, shared_spans
from lsa_whisper.formats.reading.tags import unescaped
from lsa_whisper.timespan import TimeSpan

SECOND_SPEAKER = "second speaker"
"""Who speaks behind a dash within a cue: subtitles say only that it is another speaker."""

_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]*)>(.*?)(?=<v[\s.]|$)", re.DOTALL)
_COMPOUND = re.compile(
    r"\b((?i:self|non|anti|mid|(?:mother|father|sister|brother|son)(?=-\s+in-law)"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?=-\s+(?:one|two|three|four|five|six|seven|eight|nine)\b)"
    r"|well(?=-\s+(?:known|being|done|made|[a-z]{2,}ed)\b))-)[^\S\n]*\n\s*(?=[a-z]{2})"
)
"""The hyphen of a compound at the end of a line; after any other word, it cuts the word off."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<[\d:.]+>|\{\\[^{}]*\}|\{/?[bius]\}")
_READING = re.compile(r"<rt\b[^<>]*>[^<>]*</rt>")
"""How the Japanese word before it is read: it is not spoken twice."""
_WORD_TIME = re.compile(r"<(?:(\d{1,2}):)?(\d{1,2}):(\d{2})\.(\d{3})>")
_SIGN = r"(?:[-‐–—－](?=\s|[^\W\d_]|[¿¡\"“„«'‘(\[…])|>{2,3})"
_TURN = re.compile(rf"^\s*{_SIGN}\s*|(?<=[.?!…;؟？！。])\s+[-–—]\s*(?=[^\W\d_]|[¿¡])|\s+>{{2,3}}\s*", re.MULTILINE)
_MAY_TURN = re.compile("[-‐–—－>:：]")
_DASH = re.compile(rf"^\s*{_SIGN}\s*")
_ASIDE = r"(?: \([^()\n]{1,30}\))?"
"""What stands between a name and its colon: *ANN (on the phone): Hello.*"""
_NAME = re.compile(
    rf"^\s*[*\[]?[^\W_][\w .'-]{{0,30}}?(?:, [A-ZÀ-Þ][\w .'-]{{0,30}}?)?\]?{_ASIDE}\s*(?::(?=\s)|：)", re.MULTILINE
)
_CAPITAL = "A-ZÀ-ÖØ-ÞĆČĎĘĚĞİŁŃŇŘŚŞŠŤŮŹŻŽА-ЯЁІЇЄҐΑ-Ω"
_CAPITAL_NAME = re.compile(rf"^\s*[{_CAPITAL}][{_CAPITAL}0-9 .'-]{{1,30}}{_ASIDE}:(?=\s)", re.MULTILINE)
"""A name before the words; where most cues have none, one in capitals only."""
_TITLE_NAME = re.compile(r"[A-Z][\w.'-]*(?: [A-Z0-9][\w.'-]*){0,3}:(?=\s)")
"""A name behind the sign of a turn."""
_SBV_TIMES = re.compile(r"^[ \t]*([\d:.]{7,}),([\d:.]{7,})[ \t]*$", re.MULTILINE)
_NOTE = re.compile(r"^NOTE[ \t\n]+(\S.*?)(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_LANGUAGE = re.compile(r"^Language:\s*([A-Za-z]{2,3})\b", re.MULTILINE)
_SCRIPT_CLOCK = re.compile(r"\s*(\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?\s*")
_SCRIPT_OVERRIDE = re.compile(r"\{[^{}]*\}")


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a subtitle file; lines whose times are damaged keep their text, and a note names them.

    Raises:
        FormatError: It has no time line, or, of a subtitle script, no list of fields or no dialogue.
    """
    if place.casefold().endswith((".ass", ".ssa")):
        return _parse_script(data, place)
    source = Source(Path(place).stem, notation="plain", has_segments=True)
    text = decode_bytes(data, place)
    if place.casefold().endswith(".sbv"):
        text = _SBV_TIMES.sub(r"\1 --> \2", text).replace("[br]", "\n")
    cues = cues_in(text, source.notes)
    if not cues:
        number = next((at for at, line in enumerate(text.split("\n"), 1) if line.strip()), 1)
        raise FormatError(
            f"{place}:{number}: no cue follows; a cue has a line such as '00:00:01,000 --> 00:00:02,500' above its text"
        )
    language = _LANGUAGE.search(text[:300]) if text.startswith("WEBVTT") else None
    source.language = language.group(1) if language else None
    source.comments = [" ".join(note.split()) for note in _NOTE.findall(text)]
    cues = list(without_repeated_lines(cues))
    has_names = has_speaker_prefixes([_plain(cue.lines[0]) for cue in cues], conventions)
    name = _NAME if has_names else _CAPITAL_NAME
    if has_names:
        lines = [line for cue in cues for line in cue.lines if _NAME.match(line)]
        names = speakers_before(lines, conventions, source.notes)
        if said := {split_speaker(line)[0] for line in lines} - names:
            name = re.compile(rf"^(?!\s*(?:{'|'.join(map(re.escape, said))})\s*[:：]){_NAME.pattern}", re.MULTILINE)
        cues = [cue._replace(lines=cut_before(names, cue.lines)) for cue in cues]
    speakers = bracketed_speakers(words for cue in cues if "[" in (words := "\n".join(cue.lines)) or "(" in words)
    if speakers:
        cues = [cue._replace(lines=(with_colons("\n".join(cue.lines), speakers),)) for cue in cues]
        name = re.compile(rf"{name.pattern}|^\s*(?:{'|'.join(map(re.escape, speakers))}):(?=\s)", re.MULTILINE)
    for cue in cues:
        source.spoken += _spoken(cue, f"{place}:{cue.line}", name)
    count = sum(turn.speaker == SECOND_SPEAKER for turn in source.spoken)
    if count:
        source.notes.append(f"cues with a second speaker, whom the file does not name: {count}")
    elif ((has_names and not speakers) or _VOICE.search(text)) and not UNKNOWN_SPEAKER.search(text):
        source.spoken = with_speakers_above(source.spoken, source.notes)  # Zoom and Teams name all, unlike subtitles
    return [source] if source.spoken else []


def _spoken(cue: Cue, place: str, name: re.Pattern[str]) -> list[SpokenText]:
    """Return the turns in a cue: by the voices that it names, or by two speakers whom dashes tell apart."""
    text = "\n".join(cue.lines)
    voices = [(name.strip(), words) for name, words in _VOICE.findall(text)] if "<" in text else []
    if not voices and "<" in text and _WORD_TIME.search(text) and cue.span:
        return _timed(text, cue.span, place)
    if not voices:
        return turns_in(_plain(text), cue.span, place, name=name)
    return _shared([(name, _plain(words)) for name, words in voices], cue.span, place)


def turns_in(
    text: str, span: TimeSpan | None, place: str, speaker: str = "", *, name: re.Pattern[str] = _CAPITAL_NAME
) -> list[SpokenText]:
    """Return the turns in the lines of a subtitle: those of ``speaker``, or of two whom dashes or names tell apart."""
    turns = _shared([(speaker, text)] if speaker else _turns(text, name), span, place)
    return [replace(turns[0], opens=True), *turns[1:]] if turns and _DASH.match(text) else turns


def _shared(turns: Sequence[tuple[str, str]], span: TimeSpan | None, place: str) -> list[SpokenText]:
    """Return turns with shares of the time by their lengths."""
    parts = [(name, " ".join(_COMPOUND.sub(r"\1", words).split())) for name, words in turns if words.strip()]
    spans = shared_spans(span, [words for _, words in parts]) if len(parts) > 1 else [span] * len(parts)
    return [SpokenText(name, words, at, place=place) for (name, words), at in zip(parts, spans, strict=True)]


def _plain(text: str) -> str:
    bare = _TAG.sub("", _READING.sub("", text)) if "<" in text or "{" in text else text
    return unescaped(UNKNOWN_SPEAKER.sub("", bare))


def _turns(text: str, name: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return the turns of a cue: ``- Hello.`` and ``- Hi there.`` below it are two speakers, as are two names."""
    if not _MAY_TURN.search(text):
        return [("", text)]
    starts = sorted({match.start() for pattern in (_TURN, name) for match in pattern.finditer(text)})
    bounds = [0, *(at for at in starts if text[:at].strip()), len(text)]
    turns: list[tuple[str, str]] = []
    for start, end in pairwise(bounds):
        sign = _DASH.match(text[start:end])
        part = text[start + (sign.end() if sign else 0) : end]
        if name.match(part) or (sign and ">" in sign[0] and _TITLE_NAME.match(part)):
            turns.append(split_speaker(part.strip()))
        elif part.strip():
            turns.append(("" if len(turns) % 2 == 0 else SECOND_SPEAKER, part))
    return turns


def _timed(text: str, span: TimeSpan, place: str) -> list[SpokenText]:
    """Return a cue whose words have times; a word ends where the next begins."""
    pieces: list[tuple[str, int]] = []
    start, at = span.start_ms, 0
    for match in (*_WORD_TIME.finditer(text), None):
        piece = " ".join(_plain(text[at : match.start() if match else len(text)]).split())
        if piece:
            pieces.append((piece, start))
        if match:
            start, at = milliseconds(*match.groups("0")), match.end()
    ends = [*(start for _, start in pieces[1:]), span.end_ms]
    runs = ((piece.split(), TimeSpan(at, max(at, end))) for (piece, at), end in zip(pieces, ends, strict=True))
    words = tuple(pair for words, at in runs for pair in zip(words, shared_spans(at, words), strict=True))
    return [SpokenText("", " ".join(word for word, _ in words), span, words, place=place)] if words else []


def _parse_script(data: bytes, place: str) -> list[Source]:
    source = Source(Path(place).stem, notation="plain", has_segments=True)
    columns: list[str] = []
    untimed: list[str] = []
    for number, line in enumerate(decode_bytes(data, place).split("\n"), start=1):
        kind, _, value = line.partition(":")
        if kind == "Format" and "text" in value.casefold():
            columns = [name.strip().casefold() for name in value.split(",")]
        elif kind in ("Dialogue", "Comment") and columns:
            row = dict(zip(columns, value.split(",", len(columns) - 1), strict=False))
            span = _script_span(row.get("start", ""), row.get("end", ""))
            lines = re.split(r"\\[Nn]", _SCRIPT_OVERRIDE.sub("", row.get("text", "")).replace("\\h", " "))
            text = "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
            if kind == "Comment":
                source.comments += [text.replace("\n", " ")] if text else []
                continue
            untimed += [] if span else [str(number)]
            if text:
                name = row.get("name", row.get("actor", "")).strip()
                source.spoken += turns_in(text, span, f"{place}:{number}", name)
    if not source.spoken:
        raise FormatError(
            f"{place}:1: has no line such as 'Dialogue: 0,0:00:01.00,0:00:02.50,...'; is it a subtitle script?"
        )
    if untimed:
        source.notes.append(f"a time cannot be read, and the dialogue has no times: line {', '.join(untimed[:5])}")
    return [source]


def _script_span(start: str, end: str) -> TimeSpan | None:
    times = [milliseconds(*at.groups("0")) for text in (start, end) if (at := _SCRIPT_CLOCK.fullmatch(text))]
    return TimeSpan(*times) if len(times) == 2 and times == sorted(times) else None
