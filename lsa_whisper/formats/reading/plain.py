"""Plain text: an utterance or more a line, with or without the speaker before it (``NAME: text``), or turns with times.

Turns have a line or a beginning with speaker and time, as Otter, Zoom, Teams and Rev write them:

.. code-block:: text

    Speaker 1  0:01          [Ann] 10:02:03           00:00:01 Ann: Hello.        Ann (00:01): Hello.
    Hello.                   Hello.

A turn lasts until the next one begins; where the last one ends is unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise, takewhile
from pathlib import Path

from lsa_whisper.formats.reading import line_forms
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.cues import milliseconds
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.prefixes import has_speaker_prefixes, speakers_before, split_speaker, with_prefixes
from lsa_whisper.formats.reading.source import Source, SpokenText, shared_spans, span_of_seconds, without_damaged_times
from lsa_whisper.formats.reading.tab_rows import read_rows
from lsa_whisper.timespan import TimeSpan

_CLOCK = r"(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d{1,3}):(?P<seconds>\d{2})(?:[.,](?P<fraction>\d{1,3}))?"
_TIME = rf"[\[(]?{_CLOCK}(?:\s*(?:-->|-|–)\s*[\d:.,]+)?[\])]?"
_NAME = r"(?P<name>[^\W\d_](?:[\w .,'’&-]|\([^()]*\)){0,40}?)"
_CAPITAL = r"(?P<name>[A-ZÀ-Þ][\w.'’-]*(?: (?:[A-ZÀ-Þ0-9][\w.'’-]*|de|van|von|der|la)){0,4}(?<!\.))"
"""A name that nothing but a space parts from the time: its words are capital, unlike those of *we met at 7:00*."""
_HEADERS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\[{_NAME}\]\s+{_TIME}(?P<text>)",
        rf"\*?{_NAME}(?::?\s{{2,}}|:?\t|:\s)\s*{_TIME}(?P<text>(?:\t.*)?)",
        rf"\*?{_CAPITAL}\s{_TIME}(?P<text>)",
        rf"{_NAME}\s*[\[(]{_CLOCK}[\])]\s*:?\s*(?P<text>.*)",
        rf"{_TIME}\s*-?\s*{_NAME}\s*:\s*(?P<text>.*)",
        rf"{_CLOCK}\s+{_CAPITAL}(?P<text>)",
        rf"{_CAPITAL}\s[-–|•·]\s{_TIME}(?P<text>)",
        rf"{_CAPITAL}\s{{2,}}{_TIME}\s{{2,}}(?P<text>\S.*)",
        rf"{_TIME}\s*(?P<perhaps>[-–])\s*{_CAPITAL}(?:\s*\([^()]*\))?(?P<text>)",
        rf"\[{_CLOCK}\]\s*(?P<name>(?:Speaker|SPEAKER|Participant|Interviewer) ?\d{{1,2}})(?P<text>)",
        rf"[\[(]{_CLOCK}[\])]\s*(?P<name>)(?P<text>.*)",
        r"(?P<hours>\d{1,2}):(?P<minutes>\d{2}):(?P<seconds>\d{2})(?:[.,](?P<fraction>\d{1,3}))?(?P<name>)(?P<text>)",
    )
)
_NO_SPEAKERS = ("", "date", "time", "place", "location", "title", "project", "file", "recording", "duration", "topic")
"""Names of facts above a transcript."""
_FOOTER = re.compile(
    r"(?i)transcribed by (?:https?://)?[\w.-]+\.\w+/?|(?:\w+ ended after [\d:]{5,}|this editable transcript was).*"
    r"|[\w .'-]{1,40} st(?:art|opp)ed transcription"
)
"""What Otter, Meet, Teams and others write above or below."""
_MIN_SHARE = 0.15
"""Least share of lines with a header: a turn of Otter has seldom more than six lines."""

_MAX_PREAMBLE = 10
"""Otter writes a title, a date, keywords and speakers above the first turn."""

_TIME_OF_DAY_MS = 3_600_000
"""No recording begins with an hour without speech: a later first time is one of the day."""

_TIME_ALONE = re.compile(r"\[?\d{1,2}:[0-5]\d:[0-5]\d\]?")
_BULLET = re.compile(r"(?<=[.?!])[ \t]*\x15?(\d{1,9})_(\d{2,9})\x15?[ \t]*$", re.MULTILINE)
"""The times of CHAT, with or without their control characters."""
_Turn = tuple[int, str, int, list[str]]


def turns_with_headers(lines: Sequence[tuple[int, str]], place: str) -> list[SpokenText]:
    """Return the turns in numbered ``lines``; nothing if the text has no headers with times.

    >>> turns = turns_with_headers([(1, "Ann  0:01"), (2, "Hello."), (3, "Bob  0:03"), (4, "Hi.")], "a.txt")
    >>> [(turn.speaker, turn.text, turn.span) for turn in turns]
    [('Ann', 'Hello.', TimeSpan(start_ms=1000, end_ms=3000)), ('Bob', 'Hi.', None)]
    """
    turns: list[_Turn] = []
    counts: Counter[str] = Counter()  # speakers without a time of their own
    perhaps: set[int] = set()  # what stands behind a dash is said, if nothing stands below it
    for number, line in lines:
        match = next((hit for header in _HEADERS if (hit := header.fullmatch(line))), None)
        if match:
            text = match["text"].strip()
            start = milliseconds(*(match[name] or "0" for name in ("hours", "minutes", "seconds", "fraction")))
            turns.append((number, match["name"].strip(), start, [text] if text else []))
            if match.groupdict().get("perhaps"):
                perhaps.add(number)
            counts[match["name"].strip()] += 2
        elif turns:
            turns[-1][3].append(line)
            counts[split_speaker(line)[0]] += 1
    turns = [
        (number, "", start, [name]) if number in perhaps and not texts else (number, name, start, texts)
        for number, name, start, texts in turns
    ]
    starts = [start for _, _, start, _ in turns]
    named = len(turns) > 1 and all(name for _, name, _, _ in turns)
    if not lines or len(turns) < max(1, _MIN_SHARE * len(lines)) or not (named or starts == sorted(starts)):
        return []
    first = turns[0][0]
    before = [SpokenText("", line, place=f"{place}:{number}") for number, line in lines if number < first]
    if len(before) > max(len(turns), _MAX_PREAMBLE * named):
        return []
    return [
        *before,
        *_timed(_from_the_beginning(turns), {name for name, count in counts.items() if name and count > 1}, place),
    ]


def _from_the_beginning(turns: Sequence[_Turn]) -> Sequence[_Turn]:
    """Return the turns with times that count from the first, where the file has times of day, as Zoom writes them."""
    first = turns[0][2]
    if first < _TIME_OF_DAY_MS:
        return turns
    return [(number, name, start - first, texts) for number, name, start, texts in turns]


def _timed(turns: Sequence[_Turn], names: Set[str], place: str) -> list[SpokenText]:
    ends = [*(start for _, _, start, _ in turns[1:]), None]
    ordered = all(end is None or end >= start for (_, _, start, _), end in zip(turns, ends, strict=True))
    entries = []
    speaker = ""
    for (number, name, start, texts), end in zip(turns, ends, strict=True):
        speaker = name or speaker
        span = TimeSpan(start, end) if ordered and end is not None and end > start else None
        parts = _parts(speaker, texts, names) if speaker else [("", text) for text in _by_speaker(texts)]
        for (owner, text), share in zip(parts, shared_spans(span, [text for _, text in parts]), strict=True):
            entries.append(SpokenText(owner, text, share, place=f"{place}:{number}"))
    return entries


def _parts(speaker: str, lines: Sequence[str], names: Set[str]) -> list[tuple[str, str]]:
    """Return the lines of a turn as one text, or several where they name other speakers."""
    parts: list[tuple[str, str]] = []
    for line in lines:
        name, text = split_speaker(line)
        if name in names:
            parts.append((name, text))
        else:
            before, so_far = parts.pop() if parts else (speaker, "")
            parts.append((before, f"{so_far} {line}".strip()))
    return parts


def _by_speaker(lines: Sequence[str]) -> list[str]:
    """Return the ``lines`` below one time as a text, or one for each speaker, as Google Meet writes them."""
    if not has_speaker_prefixes(lines, Conventions()):
        return [" ".join(lines)] if lines else []
    speakers = speakers_before(lines, Conventions(), [])
    texts: list[str] = []
    for line in lines:
        if texts and not split_speaker(line, speakers)[0]:
            line = f"{texts.pop()} {line}"
        texts.append(line)
    return texts


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a text file; a line without a speaker belongs to the speaker above it.

    Raises:
        FormatError: It is not text.
    """
    text = decode_bytes(data, place)
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    source = Source(Path(place).stem)
    if tiers := line_forms.chat_tiers(_BULLET.sub(" \x15\\1_\\2\x15", text), place):
        source.spoken, source.notation = tiers, "chat"
        return [source]
    if read_rows(lines, place, source, conventions):
        return [source]
    lines = line_forms.in_one_form(lines)
    source.comments = [line for _, line in lines if _FOOTER.fullmatch(line)]
    lines = line_forms.without_numbers(
        [(number, line) for number, line in lines if not _FOOTER.fullmatch(line)], source.notes
    )
    source.spoken = turns_with_headers(lines, place)
    if not any(turn.speaker for turn in source.spoken):
        source.spoken = with_prefixes(source.spoken, conventions, source.notes)
    if any(turn.speaker for turn in source.spoken):
        above = [turn.text for turn in takewhile(lambda turn: not turn.speaker, source.spoken)]
        source.spoken = source.spoken[_note_preamble(above, source) :]
    if source.spoken:
        source.notation = "plain"
        untimed = sum(turn.span is None for turn in source.spoken)
        if untimed:
            source.notes.append(f"turns without an end, which have no times: {untimed}")
        return [source]
    lines, times = _without_times(lines)
    lines = line_forms.unwrapped(lines, lambda line: bool(split_speaker(line_forms.with_colon(line))[0]), source.notes)
    has_names = has_speaker_prefixes([line for _, line in lines], conventions)
    if not has_names:
        rows = [(number, line_forms.with_colon(line)) for number, line in lines]
        has_names = has_speaker_prefixes([line for _, line in rows], conventions)
        lines = rows if has_names else lines
    names: frozenset[str] = frozenset()
    if has_names:
        lines = _without_slips(lines)
        names = speakers_before([line for _, line in lines], conventions, source.notes)
        lines = _without_preamble(lines, names, source)
        lines = [(number, part) for number, line in lines for part in line_forms.cut_before(names, [line])]
        names |= speakers_before([line for _, line in lines], conventions, [])  # in capitals behind a sentence
    speaker = ""
    with without_damaged_times(source.notes):
        for number, line in lines:
            name, text = split_speaker(line, names)
            speaker, here = name or speaker, f"{place}:{number}"
            if text:
                at = _BULLET.search(text)
                span = span_of_seconds(int(at[1]) / 1000, int(at[2]) / 1000, here) if at else None
                dated = (("%tim", times[number]),) if number in times else ()
                source.spoken.append(SpokenText(speaker, _BULLET.sub("", text), span, tiers=dated, place=here))
    return [source] if source.spoken else []


def _without_times(lines: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], dict[int, str]]:
    """Return ``lines`` without those that are a time only, and each such time by the number of the line below it.

    Google Meet writes one every five minutes: too few for the times of turns.

    >>> _without_times([(1, "00:05:00"), (2, "A: Yes."), (3, "A: No.")])
    ([(2, 'A: Yes.'), (3, 'A: No.')], {2: '00:05:00'})
    """
    times = {
        number: (below, f"{line.strip('[]'):0>8}")
        for (number, line), (below, text) in pairwise(lines)
        if _TIME_ALONE.fullmatch(line) and not _TIME_ALONE.fullmatch(text)
    }
    return [line for line in lines if line[0] not in times], dict(times.values())


def _without_slips(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return ``lines`` in which speakers that stand before colons elsewhere do not stand before a semicolon.

    >>> _without_slips([(1, "D: hi"), (2, "D; so"), (3, "P; no")])
    [(1, 'D: hi'), (2, 'D: so'), (3, 'P; no')]
    """
    if not any(";" in line for _, line in lines):
        return lines
    names = {re.escape(name) for _, line in lines if (name := split_speaker(line)[0])}
    slip = re.compile(rf"\A({'|'.join(names)})\s?;(?=\s)")
    return [(number, slip.sub(r"\1:", line)) for number, line in lines]


def _without_preamble(lines: list[tuple[int, str]], names: Set[str], source: Source) -> list[tuple[int, str]]:
    """Return ``lines`` from the first of the speakers ``names`` on; titles and facts above it become comments."""
    before = (split_speaker(line, names)[0].casefold() for _, line in lines)
    first = next((at for at, name in enumerate(before) if name not in _NO_SPEAKERS), 0)
    return lines[_note_preamble([line for _, line in lines[:first]], source) :]


def _note_preamble(above: Sequence[str], source: Source) -> int:
    source.comments += above
    if above:
        source.notes.append(f"lines above the first speaker, which stand in @Comment: {len(above)}")
    return len(above)
