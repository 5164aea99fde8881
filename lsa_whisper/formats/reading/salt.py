"""SALT transcripts: the lines of the file; :mod:`lsa_whisper.formats.reading.salt_text` reads the utterances.

The first character of a line says what it is: ``$`` the speakers, ``+`` facts about the sample, ``=`` a comment, ``-``
a time, ``;`` a pause between utterances, a speaker's letter an utterance. A line that begins with a space or a tab
continues the one above. A time line dates the utterance below it (``%tim``); SALT has no end times.

Lines that :mod:`lsa_whisper.formats.salt` wrote as comments (``= *CHI: ...``) give the exact marks and times back, as
long as the utterance line below them has not been changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Utterance
from lsa_whisper.errors import FormatError
from lsa_whisper.formats import salt as salt_writing
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.salt_text import has_words, salt_to_chat
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.timespan import TimeSpan

_TIME = re.compile(r"-\s*(?:(\d{1,4})?:)?(\d{1,2})(?:\.\d+)?")
_PAUSE = re.compile(r";\s*(?:(\d{1,3})?:(\d{1,2}))?")
_UTTERANCE = re.compile(r"([A-Za-z][A-Za-z0-9]{0,6})(?:\s+|:\s*)(\S.*)")
_KEPT = re.compile(r"= ([*%@][^\s:]*)(:\t| )?(.*)")
_BULLET = re.compile(r"•(\d{1,14})_(\d{1,14})•")


@dataclass
class _State:
    """What the lines before the next utterance say about it."""

    tiers: list[tuple[str, str]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a SALT file.

    Raises:
        FormatError: A line is none of SALT's.
    """
    source = Source(Path(place).stem, notation="chat")
    state = _State()
    codes: Counter[tuple[str, str]] = Counter()
    known: set[str] = set()
    for number, line in _logical_lines(decode_bytes(data, place)):
        at, sign = f"{place}:{number}", line[0]
        if sign == "$":
            source.roles.update(_speakers(line))
            known = set(source.roles)
        elif sign == "+":
            source.comments.append(line[1:].strip())
        elif sign == "=":
            _comment(line, source, state)
        elif sign == "-":
            state.tiers.append(("%tim", _clock(line, at)))
        elif sign == ";":
            state.tiers.append(("%com", _pause(line, at)))
        else:
            source.spoken.append(_spoken(line, state, at, codes, known))
            state = _State()
    if source.headers:
        _restore_codes(source, codes)
    return [source] if source.spoken else []


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number; lines that begin with space continue the one above."""
    held: tuple[int, str] | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip()
        if not line.strip():
            continue
        if line[0] in " \t" and held:
            held = (held[0], f"{held[1]} {line.strip()}")
            continue
        if held:
            yield held
        held = (number, line.strip())
    if held:
        yield held


def _speakers(line: str) -> dict[str, str]:
    """Return the role of each letter: ``$ Child, Examiner`` gives C and E.

    >>> _speakers("$ Child, Examiner, A Mother")
    {'C': 'Child', 'E': 'Examiner', 'A': 'Mother'}
    """
    names = [name.strip() for name in line[1:].split(",") if name.strip()[:1].isalpha()]
    return {name[0].upper(): re.sub(r"^\w ", "", name) for name in names}


def _comment(line: str, source: Source, state: _State) -> None:
    kept = _KEPT.fullmatch(line)
    if kept and kept.group(1).startswith("@"):
        source.headers.append(line[2:])
    elif kept:
        state.kept.append(line[2:])
    elif source.spoken:
        state.tiers.append(("%com", line[1:].strip()))
    else:
        source.comments.append(line[1:].strip())


def _clock(line: str, place: str) -> str:
    match = _TIME.fullmatch(line)
    if not match:
        raise FormatError(f"{place}: {line[:40]!r} is not a time; write minutes and seconds, such as '- 1:30'")
    seconds = 60 * int(match.group(1) or 0) + int(match.group(2))
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _pause(line: str, place: str) -> str:
    match = _PAUSE.fullmatch(line)
    if not match:
        raise FormatError(f"{place}: {line[:40]!r} is not a pause; write seconds, such as '; :03'")
    seconds = 60 * int(match.group(1) or 0) + int(match.group(2) or 0)
    return f"pause of {seconds} s before the utterance" if seconds else "pause before the utterance"


def _spoken(line: str, state: _State, place: str, codes: Counter[tuple[str, str]], known: set[str]) -> SpokenText:
    match = _UTTERANCE.fullmatch(line)
    if not match or (known and match.group(1).upper()[:1] not in known):
        raise FormatError(
            f"{place}: {line[:40]!r} begins with no speaker of the '$' line and no sign of SALT's ($ + - = ;)"
        )
    letter, text = match.groups()
    kept = _kept_utterance(state.kept)
    if kept is not None:
        codes[letter, kept.speaker] += 1
        tiers = tuple((tier.name, tier.value) for tier in kept.tiers)
        if salt_writing.utterance_text(kept) == text:
            return SpokenText(letter, kept.text, kept.span, kept_words(kept), tiers, place)
        chat_text, comments = salt_to_chat(text)
        return SpokenText(letter, chat_text, kept.span, (), (*tiers, *_coms(comments)), place)
    if not has_words(text):
        raise FormatError(f"{place}: the utterance has no text behind its speaker; complete it, or delete the line")
    chat_text, comments = salt_to_chat(text)
    return SpokenText(letter, chat_text, None, (), (*state.tiers, *_coms(comments)), place)


def kept_words(kept: Utterance) -> tuple[tuple[str, TimeSpan], ...]:
    """Return the words with times of an utterance that was kept in comments."""
    return tuple(kept.word_times)


def _coms(comments: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple(("%com", comment) for comment in comments)


def _kept_utterance(lines: list[str]) -> Utterance | None:
    """Return the utterance in comment lines, with its dependent tiers."""
    if not lines:
        return None
    text = _BULLET.sub("\x15\\1_\\2\x15", "\n".join(lines)) + "\n"
    return next(iter(chat.parse(text).utterances), None)


def _restore_codes(source: Source, codes: Counter[tuple[str, str]]) -> None:
    """Give each letter the CHAT code that most of its utterances had when the file was written."""
    source.roles.clear()
    best: dict[str, str] = {}
    for (letter, code), _ in codes.most_common():
        best.setdefault(letter, code)
    source.spoken = [
        SpokenText(best.get(each.speaker, each.speaker), each.text, each.span, each.words, each.tiers, each.place)
        for each in source.spoken
    ]
