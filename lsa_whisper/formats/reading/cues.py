"""The cues of subtitles: their times and lines, and the speakers in brackets before their words.

Cues are read from files that no player would refuse, too. ``[MAN] Who is it?`` names a speaker where sounds stand in
brackets as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from lsa_whisper.formats.reading.names import PROPER_NAMES
from lsa_whisper.formats.reading.source import SpokenText
from lsa_whisper.formats.reading.tags import chat_of
from lsa_whisper.timespan import TimeSpan

_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,:](\d{1,3}))?"
_TIMES = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?")
_NOT_A_CUE = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)")
_OWNER = re.compile(r'\d+ "([^"<>]+)" \(\d*\)\s*')
"""The line above the time as Webex writes it, with the speaker: ``1 "Ann Smith" (123456)``."""
_MARKUP = re.compile(r"<[^<>]{0,200}>")
_WORD_TIME = re.compile(r"<\d{1,2}:[\d:]{2,5}\.\d{3}>")
_MAX_NAMED = 5
_MIN_ROLLING = 3
_FLASH_MS = 50
"""A cue as short as this cannot be read: it moves lines of captions that roll up."""
_CONSOLE = re.compile(
    r"^\[((?:\d{1,2}:)?\d{1,2}:\d{2}[.,]\d{3}) --> ((?:\d{1,2}:)?\d{1,2}:\d{2}[.,]\d{3})\][ \t]*|"
    r"^\[(\d{1,6}\.\d{1,3})s? -> (\d{1,6}\.\d{1,3})s?\][ \t]*",
    re.MULTILINE,
)
_CONSOLE_HEAD = re.compile(r"\s*(?:Detect(?:ing|ed) language.*\n\s*)*(?=\[\d)")
_FIRST_STAMP = re.compile(rf"(?:{_CONSOLE_HEAD.pattern})(?:{_CONSOLE.pattern})", re.MULTILINE)


class Cue(NamedTuple):
    """A cue: the number of its time line, its time if that line is whole, and its lines."""

    line: int
    span: TimeSpan | None
    lines: tuple[str, ...]


def cues_in(text: str, notes: list[str]) -> list[Cue]:
    """Return the cues in ``text``; damaged lines are named in ``notes``, and their text has no times."""
    cues: list[Cue] = []
    faults: dict[str, list[int]] = {}
    for number, block in _blocks(text):
        times = [at for at, line in enumerate(block) if "-->" in line]
        if not times:
            if cues and not _NOT_A_CUE.match(block[0]) and not (len(block) == 1 and block[0].strip().isdigit()):
                faults.setdefault("text behind an empty line belongs to the cue above it", []).append(number)
                cues[-1] = cues[-1]._replace(lines=(*cues[-1].lines, *block))
            continue
        for at, end in zip(times, [*times[1:], len(block)], strict=True):
            lines = block[at + 1 : end]
            if lines and at == times[0] and (owner := _OWNER.fullmatch(block[max(at - 1, 0)])):
                lines = [f"<v {owner[1]}>{lines[0]}", *lines[1:]]
            if end < len(block) and lines and lines[-1].strip().isdigit():
                lines = lines[:-1]
            if at != times[0]:
                faults.setdefault("a cue begins without an empty line above it", []).append(number + at)
            cue = Cue(number + at, _span(block[at]), tuple(lines))
            if cue.span is None:
                faults.setdefault("a time line cannot be read, and its cue has no times", []).append(cue.line)
            if not "".join(lines).strip():
                faults.setdefault("a cue has no text", []).append(cue.line)
            cues.append(cue)
    notes += [f"{fault}: {_lines(places)}" for fault, places in faults.items()]
    return cues


def with_speakers_above(turns: Sequence[SpokenText], notes: list[str]) -> list[SpokenText]:
    """Return ``turns``, of which those without a speaker go on with the speaker before them, and note how many."""
    names = [turn.speaker for turn in turns]
    count = names.count("") - next((at for at, name in enumerate(names) if name), len(names))
    if count:
        notes.append(f"texts without a speaker, which go on with the speaker above: {count}")
    speaker = ""
    return [replace(turn, speaker=(speaker := turn.speaker or speaker)) for turn in turns]


def printed_cues(text: str) -> str | None:
    r"""Return what Whisper's programs print, ``[00:00.000 --> 00:02.000] text``, as cues; ``None`` for other text.

    >>> printed_cues("[0.00s -> 62.50s] Hello.\n[62.50s -> 64.00s] Hi.\n")
    '0:00.000 --> 1:02.500\nHello.\n\n1:02.500 --> 1:04.000\nHi.\n'
    """
    if not _FIRST_STAMP.match(text):
        return None

    def times(match: re.Match[str]) -> str:
        clocks = [match[1], match[2]] if match[1] else [_clock(float(seconds)) for seconds in (match[3], match[4])]
        return f"\n{' --> '.join(clocks)}\n"

    return _CONSOLE.sub(times, _CONSOLE_HEAD.sub("", text, count=1)).lstrip("\n")


def _clock(seconds: float) -> str:
    minutes, ms = divmod(round(1000 * seconds), 60_000)
    return f"{minutes // 60}:{minutes % 60:02}:{ms / 1000:06.3f}" if minutes > 59 else f"{minutes}:{ms / 1000:06.3f}"


def _lines(places: Sequence[int]) -> str:
    more = f" and {len(places) - _MAX_NAMED} more" if len(places) > _MAX_NAMED else ""
    return f"line {', '.join(map(str, places[:_MAX_NAMED]))}{more}"


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each run of lines without an empty one, with the number of its first line.

    A line of spaces belongs to the text: YouTube writes one into cues. Only above a time line it ends a cue, too.
    """
    lines = [*text.split("\n"), ""]
    block: list[str] = []
    for number, line in enumerate(lines, start=1):
        if line and not (line.isspace() and any("-->" in after for after in lines[number : number + 2])):
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def _span(line: str) -> TimeSpan | None:
    match = _TIMES.fullmatch(line)
    if not match:
        return None
    times = match.groups("0")
    start_ms, end_ms = milliseconds(*times[:4]), milliseconds(*times[4:])
    return TimeSpan(start_ms, end_ms) if start_ms <= end_ms else None


def milliseconds(hours: str, minutes: str, seconds: str, fraction: str) -> int:
    """Return the time that a clock shows; ``fraction`` has up to three digits."""
    return 3_600_000 * int(hours) + 60_000 * int(minutes) + 1000 * int(seconds) + int(fraction.ljust(3, "0"))


def without_repeated_lines(cues: Sequence[Cue]) -> Iterator[Cue]:
    """Yield the cues with text; where captions roll up, without the lines that a cue repeats from the one above."""
    cues = [Cue(number, span, tuple(filter(str.strip, lines))) for number, span, lines in cues]
    bare = [[" ".join((_MARKUP.sub("", line) if "<" in line else line).split()) for line in cue.lines] for cue in cues]
    repeats = [0, *(_repeated(above, below) for above, below in pairwise(bare))]
    steps = sum(0 < count < len(lines) for count, lines in zip(repeats, bare, strict=True))
    timed = any("<" in line and _WORD_TIME.search(line) for cue in cues for line in cue.lines)
    flashes = any(
        count and cue.span and cue.span.duration_ms <= _FLASH_MS for cue, count in zip(cues, repeats, strict=True)
    )
    rolls = timed or flashes or (steps >= _MIN_ROLLING and 2 * steps >= len(cues))
    for cue, count in zip(cues, repeats, strict=True):
        if rolls and count:
            cue = cue._replace(lines=cue.lines[count:])
        if cue.lines:
            yield cue


def _repeated(above: Sequence[str], below: Sequence[str]) -> int:
    """Return how many lines of ``below`` are the last of ``above``."""
    if not below or below[0] not in above:
        return 0
    return next((size for size in range(min(len(above), len(below)), 0, -1) if above[-size:] == below[:size]), 0)


_LABEL = re.compile(
    r"^(\s*(?:(?:[-–—]|>{2,3})\s*)?)[\[(]([A-Za-z][\w .'#-]{0,30}?)\s*:?[\])]:?\s+(?=[^\s\[(])", re.MULTILINE
)
_ROLE = re.compile(
    r"(?:(?:young|old|older|little|male|female|the) )?"
    r"(?:(?:wo)?m[ae]n|boys?|girls?|(?:fe)?male|child(?:ren)?|kids?|baby|narrator|speaker|host|inter(?:viewer|viewee)|"
    r"reporter|announcer|teacher|students?|mother|father|mom|mum|dad|doctor|nurse|voice|both|all|together|participant|"
    r"examiner|investigator|clinician|therapist|patient|client|subject)(?: ?#?\d{1,2}| [a-z])?",
    re.IGNORECASE,
)
_SOUND = re.compile(r"(?:\w+ )*\w+(?:ing|ed|s|ter|music|noise|song|silence|applause)", re.IGNORECASE)
"""What descriptions of sounds end in; *James* and *Mr Jones* do, too, but are few."""
_SEVERAL = 2


def bracketed_speakers(texts: Iterable[str]) -> frozenset[str]:
    """Return what stands in brackets before words in ``texts`` and names who says them; nothing where one cue has it.

    >>> sorted(bracketed_speakers(["[MAN] Who is it?", "[WOMAN] Me.", "[laughs] No.", "[MUSIC] la", "[MUSIC] la"]))
    ['MAN', 'WOMAN']
    """
    counts = Counter(match[2] for text in texts for match in _LABEL.finditer(text))
    speakers = {label for label, count in counts.items() if _is_speaker(label, count)}
    return frozenset(speakers if sum(counts[label] for label in speakers) >= _SEVERAL else ())


def _is_speaker(label: str, count: int) -> bool:
    if chat_of(label):
        return False
    if _ROLE.fullmatch(label) or label.title().split()[0] in PROPER_NAMES:
        return True
    return count >= _SEVERAL and label[0].isupper() and not _SOUND.fullmatch(label)


def with_colons(text: str, speakers: Set[str]) -> str:
    """Return the text of a cue with ``MAN: `` for ``[MAN] ``, for each of ``speakers``.

    >>> with_colons("- [MAN] Who is it? [laughs]", {"MAN"})
    '- MAN: Who is it? [laughs]'
    """
    return _LABEL.sub(lambda match: f"{match[1]}{match[2]}: " if match[2] in speakers else match[0], text)
