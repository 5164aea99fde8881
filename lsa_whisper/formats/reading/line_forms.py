"""Lines of plain text in the forms of several programs, rewritten in one: ``NAME: text`` and ``[0:01:02] NAME: text``.

- f4 and MAXQDA write ``#00:01:02-5#``: f4 where a paragraph ends, MAXQDA where it begins.
- Descript and Sonix write the time behind the name: ``Ann: [00:01:02] Hello.``
- Markdown has bold names: ``**Ann:** Hello.``
- Some write the speaker in brackets: ``[Ann] Hello.``; whisper.cpp writes ``(speaker 0)``.
- Descript writes a name above each paragraph, and transcripts of hearings ``Q.`` and ``A.`` before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from itertools import pairwise

from lsa_whisper import chat
from lsa_whisper.formats.reading.cues import bracketed_speakers, with_colons
from lsa_whisper.formats.reading.prefixes import NO_NAMES
from lsa_whisper.formats.reading.source import SpokenText
from lsa_whisper.formats.reading.tags import chat_of

NumberedLines = Sequence[tuple[int, str]]
"""The lines of a text with their numbers."""

_HASHED = re.compile(r"#(\d{1,2}:\d{2}:\d{2})(?:[-.,](\d{1,3}))?#")
_HASHED_END = re.compile(rf"(?P<text>.*\S)\s*{_HASHED.pattern}")
_BOLD_NAME = re.compile(r"(?:\*\*|__)([^\W\d_][^*_:]{0,40})(?::(?:\*\*|__)|(?:\*\*|__)\s?:)\s*(?=\S)")
_TIME_BEHIND = re.compile(
    r"([^\W\d_][\w .'-]{0,40}):\s*([\[(](?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?[\])])\s*(\S.*)"
)
_CLOCK = re.compile(r"(?:\d{1,2}:)?\d{1,2}:\d{2}")
_BARE_TIME = re.compile(r"((?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?)\s+(\S.*)")
_NAME_ALONE = re.compile(r"(?:<([^\W\d_][\w .'-]{0,30})>\s+|([^\W\d_][\w .'-]{0,30})\t\s*)(?=\S)")
_SPAN = re.compile(r"(\d+[:;][\d:;]+?(?:[.,]\d{1,3})?)(?:(?<=[:;]\d\d[:;]\d\d)[:;]\d\d)?\s*(?:-->|-)\s*[\d:;.,]+")
"""Also with frames, as Premiere writes them: ``00;00;01;12 - 00;00;02;05``."""
_PERSON = re.compile(r"[A-ZÀ-Þ][\w.'’,-]*(?: [A-ZÀ-Þ0-9(][\w.'’)-]*){0,4}|[^\W\d_]{2,15} \d{1,2}")
UNKNOWN_SPEAKER = re.compile(r"\(speaker \?\)\s*")
"""What whisper.cpp writes where both channels speak."""
_QUESTION = re.compile(r"([QA])\.\s+(?=\S)")
_SEVERAL = 2
_MIN_NUMBERED = 3
_PREFIXED = re.compile(r"[^\W\d_][\w .'-]{0,30}:\s")


def in_one_form(lines: NumberedLines) -> list[tuple[int, str]]:
    """Return ``lines`` with speakers and times as most programs write them.

    >>> in_one_form([(1, "**Ann:** Hello."), (2, "B: [00:02] Hi."), (3, "(speaker ?) Hm.")])
    [(1, 'Ann: Hello.'), (2, 'B: [00:02] Hi.'), (3, 'Hm.')]
    >>> in_one_form([(1, "I: Hello. #00:00:03-5#"), (2, "B: Hi. #00:00:08-1#")])
    [(1, '[00:00:00] I: Hello.'), (2, '[00:00:03.5] B: Hi.'), (2, '[00:00:08.1]')]
    >>> in_one_form([(1, "Ann"), (2, "Hello."), (4, "Bob"), (5, "Hi."), (7, "Ann"), (8, "So."), (9, "Yes.")])
    [(2, 'Ann: Hello.'), (5, 'Bob: Hi.'), (8, 'Ann: So.'), (9, 'Yes.')]
    """
    lines = _with_questions(_with_names_above(_with_names_first(_with_names_beside_times(lines))))
    plain_lines = [(number, UNKNOWN_SPEAKER.sub("", _BOLD_NAME.sub(r"\1: ", line, count=1))) for number, line in lines]
    return _with_colons(_with_times_first(_with_bare_times(_with_hashed_times(plain_lines))))


def _with_names_first(lines: NumberedLines) -> list[tuple[int, str]]:
    """Return ``lines`` with the name below each time and end on one line with them, as Teams writes them apart."""
    rows: list[tuple[int, str]] = []
    for (number, line), (_, below) in zip(lines, [*lines[1:], (0, "")], strict=False):
        time = _SPAN.fullmatch(rows[-1][1]) if rows else None
        clock = re.sub(r"(?<![\d.,])\d(?!\d)", r"0\g<0>", time[1].replace(";", ":")) if time else ""
        if time and _PERSON.fullmatch(line) and below and not _SPAN.fullmatch(below):
            rows[-1] = (rows[-1][0], f"[{line}]  {clock}")
            continue
        if time:
            rows[-1] = (rows[-1][0], f"[{clock}]")
        rows.append((number, line))
    return rows


def _with_names_beside_times(lines: NumberedLines) -> NumberedLines:
    """Return ``lines`` with the name above (Zoom) or below each time that stands alone on one line with the time."""
    clocks = [at for at, (_, line) in enumerate(lines) if _CLOCK.fullmatch(line)]
    if len(clocks) > 1 and all(later - at > 2 for at, later in pairwise([*clocks, len(lines) + 1])):
        for step in (-1, 1):
            names = {at: lines[at + step][1] for at in clocks if at + step >= 0}
            if len(names) == len(clocks) and all(n[-1:].isalnum() and _PERSON.fullmatch(n) for n in names.values()):
                rows = [
                    (number, f"{names[at]}  {line}" if at in names else line) for at, (number, line) in enumerate(lines)
                ]
                return [row for at, row in enumerate(rows) if at - step not in names]
    return lines


def _with_names_above(lines: NumberedLines) -> NumberedLines:
    """Return ``lines`` with the name that stands alone above each paragraph before its first line.

    Paragraphs stand between empty lines. There are two names at least, of which one comes again.
    """
    starts = [0, *(at for at in range(1, len(lines)) if lines[at][0] - lines[at - 1][0] > 1), len(lines)]
    names = [lines[start][1] for start in starts[:-1]] if lines else []
    if not (1 < len(set(names)) < len(names)) or any(end - start < 2 for start, end in pairwise(starts)):
        return lines
    if not all(name[-1:].isalnum() and _PERSON.fullmatch(name) and name.casefold() not in NO_NAMES for name in names):
        return lines
    above = {start + 1: lines[start][1] for start in starts[:-1]}
    return [
        (number, f"{above[at]}: {line}" if at in above else line)
        for at, (number, line) in enumerate(lines)
        if at + 1 not in above
    ]


def _with_questions(lines: NumberedLines) -> NumberedLines:
    """Return ``lines`` with ``Q:`` and ``A:`` for ``Q.`` and ``A.``, if one of both begins most of them."""
    begins = [match[1] for _, line in lines if (match := _QUESTION.match(line))]
    if len(set(begins)) < _SEVERAL or 2 * len(begins) <= len(lines):
        return lines
    return [(number, _QUESTION.sub(r"\1: ", line)) for number, line in lines]


def _with_hashed_times(lines: NumberedLines) -> list[tuple[int, str]]:
    """Return lines with f4's times in brackets; of lines that end in them, each begins where the one before ends."""
    ends = [_HASHED_END.fullmatch(line) for _, line in lines]
    rows, before = [], "00:00:00"
    for (number, line), end in zip(lines, ends, strict=True):
        if end and 2 * sum(map(bool, ends)) >= len(lines):
            rows.append((number, f"[{before}] {end['text']}"))
            before = _HASHED.sub(_clock, line[end.end("text") :].strip())
        else:
            rows.append((number, _HASHED.sub(lambda match: f"[{_clock(match)}]", line)))
    return [*rows, (lines[-1][0], f"[{before}]")] if before != "00:00:00" else rows


def _clock(match: re.Match[str]) -> str:
    return f"{match[1]}.{match[2]}" if match[2] else match[1]


def _with_bare_times(lines: NumberedLines) -> list[tuple[int, str]]:
    """Return lines with the time in brackets, if each begins with one and has text behind it, or below it."""
    clocks = [_CLOCK.fullmatch(line) is not None for _, line in lines]
    if clocks[:2] == [True, False] and clocks.count(True) > 1:  # as YouTube shows them
        return [(number, f"[{line}]" if clock else line) for (number, line), clock in zip(lines, clocks, strict=True)]
    times = [_BARE_TIME.fullmatch(line) for _, line in lines]
    if len(lines) < _MIN_NUMBERED or not all(times):
        return list(lines)
    return [(number, f"[{time[1]}] {time[2]}") for (number, _), time in zip(lines, times, strict=True) if time]


def _with_times_first(lines: NumberedLines) -> list[tuple[int, str]]:
    """Return lines with the time before the name, if each line with a name has it behind."""
    behind = [_TIME_BEHIND.fullmatch(line) for _, line in lines]
    if sum(map(bool, behind)) < sum(_PREFIXED.match(line) is not None for _, line in lines):
        return list(lines)
    return [
        (number, f"{match[2]} {match[1]}: {match[3]}" if match else line)
        for (number, line), match in zip(lines, behind, strict=True)
    ]


def _with_colons(lines: NumberedLines) -> list[tuple[int, str]]:
    """Return lines with ``Ann: `` for ``[Ann] ``, if most of them have it: sounds stand in brackets, too."""
    speakers = bracketed_speakers(line for _, line in lines if line[:1] in ("[", "("))
    rows = [(number, with_colons(line, speakers)) for number, line in lines]
    changes = sum(before != after for before, after in zip(lines, rows, strict=True))
    return rows if 2 * changes > len(lines) else list(lines)


def cut_before(names: Set[str], lines: Iterable[str]) -> tuple[str, ...]:
    """Return ``lines``, of which those with one of ``names`` behind a sentence are cut before it.

    If one of them is in capitals, any name in capitals is one.

    >>> cut_before({"Ann", "Bob"}, ["Ann: Hello. Bob: Hi.", "Bob: She said: no."])
    ('Ann: Hello.', 'Bob: Hi.', 'Bob: She said: no.')
    """
    pattern = "|".join(map(re.escape, sorted(filter(None, names))))
    pattern += r"|[A-Z][A-Z .]{1,20}" if any(len(name) > 1 and name.isupper() for name in names) else ""
    titles = r"(?<!\b[A-Z]\.)(?<!\b(?:[DM][Rr]|M[Ss]|S[RrTt])\.)(?<!\b(?:M[Rr][Ss]|S[Rr][Aa]|S[Tt][Aa])\.)"
    inside = re.compile(rf"(?<=[.?!…\"”)\]]){titles}\s+(?=(?:{pattern}):\s)")
    return tuple(part for line in lines for part in inside.split(line)) if pattern else tuple(lines)


def without_numbers(lines: list[tuple[int, str]], notes: list[str]) -> list[tuple[int, str]]:
    """Return ``lines`` without their own numbers, which count them from the first on, and note it."""
    matches = [re.match(r"(\d{1,5})(?:[.)]|(?=\s))\s+(?=\S)", line) for _, line in lines]
    numbers = [int(match[1]) for match in matches if match]
    counts = (list(range(first, first + len(lines))) for first in (0, 1))
    if len(lines) < _MIN_NUMBERED or numbers not in counts:
        return lines
    notes.append(f"numbers of lines, which are left out: {len(numbers)}")
    return [(at, line[match.end() :]) for (at, line), match in zip(lines, matches, strict=True) if match]


def with_colon(line: str) -> str:
    r"""Return a line whose speaker stands before a tab, or alone in angle brackets, as ``NAME: text``.

    >>> with_colon("<Ann> Hello."), with_colon("Ann\tHello."), with_colon("<pause> Hello.")
    ('Ann: Hello.', 'Ann: Hello.', '<pause> Hello.')
    """
    match = _NAME_ALONE.match(line)
    return line if match is None or chat_of(match[1] or "") else f"{match[1] or match[2]}: {line[match.end() :]}"


_BEGIN = re.compile(r"(?:\A|[.?!…][\"'”’»)]*\s+)[\"'“‘«(¿¡]*([^\W\d_])")
_UNFINISHED = re.compile(r".*[\w,'’]")
_MIN_MARKED, _MIN_FULL, _MIN_WIDTH = 0.8, 0.9, 40


def unwrapped(lines: NumberedLines, has_name: Callable[[str], bool], notes: list[str]) -> list[tuple[int, str]]:
    """Return ``lines``, of which those that end within a sentence are one with the next, and note it.

    Such a line has no final mark, and the next one begins with a small letter; or with any, where lines are as long as
    the page is wide. It has no speaker (``has_name``), and no empty line stands between. Where sentences seldom begin
    with a capital letter, or paragraphs seldom end with a mark, each line is an utterance.

    >>> unwrapped([(1, "Yes. Then we"), (2, "went home."), (4, "So"), (5, "Did you?")], lambda line: False, [])
    [(1, 'Yes. Then we went home.'), (4, 'So'), (5, 'Did you?')]
    """
    begins = [
        letter for letter in _BEGIN.findall("\n".join(line for _, line in lines)) if letter.upper() != letter.lower()
    ]
    width = max((len(line) for _, line in lines), default=0)
    ends, pairs = [], {}
    for at, ((number, line), (below, after)) in enumerate(pairwise([*lines, (-1, "")]), start=1):
        unfinished = _UNFINISHED.fullmatch(line) is not None
        if below - number != 1 or has_name(after):
            ends.append(not unfinished)
        elif unfinished and after[0].isalpha():
            pairs[at] = len(line) + len(after.split()[0]) >= width
    if any(sum(marked) < _MIN_MARKED * max(len(marked), 1) for marked in (ends, [*map(str.isupper, begins)])):
        return list(lines)
    wide = width >= _MIN_WIDTH and sum(pairs.values()) >= _MIN_FULL * len(pairs)
    rows: list[tuple[int, str]] = []
    for at, (number, line) in enumerate(lines):
        if at in pairs and (line[0].islower() or (wide and pairs[at])):
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line}")
        else:
            rows.append((number, line))
    if len(rows) < len(lines):
        notes.append(f"lines that end within a sentence, which go on in the next one: {len(lines) - len(rows)}")
    return rows


_CHAT_TIERS = re.compile(r"\s*\*[A-Z][A-Z0-9]+:\s.*?^%[a-z]+:\s", re.DOTALL | re.MULTILINE)


def chat_tiers(text: str, place: str) -> list[SpokenText]:
    """Return the utterances of CHAT without headers; none if no dependent tier shows that ``text`` is CHAT."""
    return [
        SpokenText(turn.speaker, turn.text, turn.span, tuple(turn.word_times), tiers, f"{place}:{turn.line}")
        for turn in (chat.parse(text).utterances if _CHAT_TIERS.match(text) else ())
        for tiers in [tuple((tier.name, tier.value) for tier in turn.tiers if tier.name != "%wor")]
    ]
