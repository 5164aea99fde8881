"""Checks of lines: the tab after the colon, and which headers there are, their order and their values."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator

from lsa_whisper.chat import codes
from lsa_whisper.chat.checks.context import value_place
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.model import Transcript

_NAMED = re.compile(r"\ufeff?[@*%][^:\r\n\t]*:")
_CONTINUED = re.compile(r"(?:\r\n?|\n)\t")


def layout_problems(transcript: Transcript) -> Iterator[Problem]:
    """Yield the lines whose colon is not followed by one tab, and tabs within lines."""
    for block in transcript.blocks:
        if isinstance(block, Line):
            yield from _line(transcript.path, block)
            continue
        yield from _line(transcript.path, Line(block.main, block.line or 1))
        for tier in block.tiers:
            yield from _line(transcript.path, tier if tier.number else Line(tier.raw, block.line or 1))


def _line(path: str | None, line: Line) -> Iterator[Problem]:
    match = _NAMED.match(line.raw)
    start = match.end() if match else 0
    rest = line.raw[start:]
    if match and rest.strip() and not rest.startswith("\t"):
        separator = "a space" if rest.startswith(" ") else "no tab"
        yield Problem(path, *line.place(start), "no-tab", f"{separator} follows the colon")
    if "\t" in rest:
        bare = _CONTINUED.sub(lambda match: " " * len(match[0]), rest[1:] if rest.startswith("\t") else rest)
        if "\t" in bare:
            offset = start + bare.index("\t") + rest.startswith("\t")
            yield Problem(path, *line.place(offset), "extra-tab", "a tab within a line")


_ORDER = {"@Languages": 0, "@Participants": 1, "@Options": 2, "@ID": 3, "@Birth of": 4, "@Birthplace of": 4}
_ORDER["@L1 of"] = 4
_LATER = 5
_DATE = re.compile(r"(\d\d)-([A-Z]{3})-(\d{4})")
_CLOCK = r"(?:\d{1,2}:)?[0-5]?\d:[0-5]\d"
_TIMES = {"@Time Start": re.compile(_CLOCK), "@Time Duration": re.compile(rf"{_CLOCK}(?:-{_CLOCK})?")}


def header_problems(transcript: Transcript) -> Iterator[Problem]:
    """Yield the problems of the headers other than participants and media."""
    yield from _obligatory(transcript)
    yield from _order(transcript)
    yield from _gems(transcript)
    speakers = transcript.participants
    for line in transcript.headers:
        yield from _form(transcript.path, line)
        for code, text, message in _value(line):
            yield Problem(transcript.path, *value_place(line, text), code, message)
        base = header_name(line)
        if base in codes.PARTICIPANT_HEADERS and line.name[len(base) :].strip() not in speakers:
            yield Problem(transcript.path, line.number, 1, "speaker", f"{line.name!r} names no participant")


def header_name(line: Line) -> str:
    """Return the name of a header without the speaker code that ``@Birth of CHI`` ends in."""
    return next((base for base in codes.PARTICIPANT_HEADERS if line.name.startswith(f"{base} ")), line.name)


def _obligatory(transcript: Transcript) -> Iterator[Problem]:
    path, names = transcript.path, [line.name for line in transcript.headers]
    if transcript.blocks and (not isinstance(transcript.blocks[0], Line) or names[:1] != ["@UTF8"]):
        yield Problem(path, 1, 1, "first-line", "the first line must be @UTF8")
    for name in ("@Begin", "@Languages", "@Participants", "@End"):
        if name not in names:
            yield Problem(path, 1, 1, f"no-{name[1:].lower()}", f"{name} is missing")
    for name in codes.UNIQUE_HEADERS:
        for again in [line for line in transcript.headers if line.name == name][1:]:
            yield Problem(path, again.number, 1, "second-header", f"a second {name}")
    end = next((line for line in transcript.headers if line.name == "@End"), None)
    if end and transcript.blocks[-1] is not end:
        yield Problem(path, end.number, 1, "after-end", "nothing may follow @End")


def _order(transcript: Transcript) -> Iterator[Problem]:
    begun, latest = False, -1
    for block in transcript.blocks:
        if not isinstance(block, Line):
            latest = _LATER
            continue
        name = header_name(block)
        if name == "@Begin":
            begun = True
        elif not begun and name not in codes.LEADING_HEADERS and name.startswith("@"):
            yield Problem(transcript.path, block.number, 1, "header-order", f"{name} stands before @Begin")
        elif begun and name.startswith("@"):
            place = _ORDER.get(name, _LATER)
            if place < latest or (begun and name in codes.LEADING_HEADERS):
                yield Problem(transcript.path, block.number, 1, "header-order", f"{name} stands too late")
            latest = max(latest, place)


def _gems(transcript: Transcript) -> Iterator[Problem]:
    open_gems: list[Line] = []
    for line in transcript.headers:
        if line.name == "@Bg":
            open_gems.append(line)
        elif line.name == "@Eg":
            start = next((gem for gem in reversed(open_gems) if _label(gem) == _label(line)), None)
            if start:
                open_gems.remove(start)
            else:
                yield Problem(transcript.path, line.number, 1, "gem-end", f"@Eg {_label(line)!r} has no @Bg")
    for line in open_gems:
        yield Problem(transcript.path, line.number, 1, "gem-begin", f"@Bg {_label(line)!r} has no @Eg")


def _label(line: Line) -> str:
    return line.value if ":" in line.raw else ""


def _form(path: str | None, line: Line) -> Iterator[Problem]:
    """Yield problems of a header's name and colon."""
    name, colon = header_name(line), ":" in line.raw
    headers = (codes.VALUE_HEADERS, codes.OPTIONAL_VALUE, codes.PARTICIPANT_HEADERS, codes.EMPTY_HEADERS)
    valid = any(name in names for names in headers)
    if not valid:
        yield Problem(path, line.number, 1, "unknown-header", f"{line.name or line.raw.strip()!r} is not a CHAT header")
    elif name in codes.EMPTY_HEADERS:
        if colon or line.raw.lstrip("\ufeff").strip() != name:
            yield Problem(path, line.number, 1, "header-text", f"{name} takes no text")
    elif not colon and name not in codes.OPTIONAL_VALUE:
        yield Problem(path, line.number, 1, "missing-colon", f"{name} needs a colon and text")
    elif colon and not line.value:
        yield Problem(path, line.number, 1, "missing-text", f"no text follows {line.name}:")


def _value(line: Line) -> Iterator[tuple[str, str, str]]:
    """Yield code, text and message for each wrong part of a header's value."""
    name, value = header_name(line), line.value if ":" in line.raw else ""
    if not value:
        return
    parts = [part.strip() for part in value.split(",")]
    if name == "@Languages":
        for part in parts:
            if not re.fullmatch("[a-z]{3}", part):
                yield "language", part, f"{part!r} is not a language code of three letters"
    elif name == "@Options":
        for part in parts:
            if part not in codes.OPTIONS:
                yield "option", part, f"{part!r} is not an option of CHAT"
    elif name in codes.HEADER_VALUES:
        for part in parts:
            if part not in codes.HEADER_VALUES[name]:
                yield "header-value", part, f"{name} is one of {', '.join(codes.HEADER_VALUES[name])}, not {part!r}"
    elif name in ("@Date", "@Birth of") and not is_date(value):
        yield "date", value, f"{value!r} is not a date like 28-JUN-2001"
    elif name in _TIMES and not _TIMES[name].fullmatch(value):
        yield "time", value, f"{value!r} is not a time like 8:30:31"
    elif name == "@Page" and not value.isdigit():
        yield "page", value, f"@Page is {value!r}, which is not a number"
    elif name == "@Types" and (len(parts) != 3 or not all(parts)):
        yield "header-value", value, "@Types has three values: design, activity, group"


def is_date(text: str) -> bool:
    """Return whether ``text`` is a date as CHAT writes it.

    >>> [is_date(text) for text in ("29-FEB-1996", "29-FEB-1997", "1-JAN-2000", "01-Jan-2000")]
    [True, False, False, False]
    """
    match = _DATE.fullmatch(text)
    if not match or match[2] not in codes.MONTHS:
        return False
    _, days = calendar.monthrange(int(match[3]), codes.MONTHS.index(match[2]) + 1)
    return 1 <= int(match[1]) <= days
