"""SALT transcripts: the lines of the file; :mod:`lsa_whisper.formats.reading.salt_text` reads the utterances.

The first character of a line says what it is: ``$`` the speakers, ``+`` facts about the sample, ``=`` a comment, ``-``
a time, ``;`` a pause within a speaker's turn, ``:`` one between speakers, a speaker's letter an utterance. A line that
begins with a space or a tab continues the one above. A time line dates the utterance below it (``%tim``); SALT has no
end times. A line that is none of these becomes a comment, and a note names it. Of the facts, ages, sexes and the
language become fields of ``@ID``; all others stay comments.

Lines that :mod:`lsa_whisper.formats.salt` wrote as comments (``= *CHI: ...``) give the exact marks and times back, as
long as the utterance line below them has not been changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Utterance
from lsa_whisper.errors import FormatError
from lsa_whisper.formats import salt as salt_writing
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.salt_text import salt_to_chat, with_overlap_codes
from lsa_whisper.formats.reading.source import Source, SpokenText

_FACT = re.compile(r"\+\s*([A-Za-z ]{1,30}?)\s*[:=]\s*(.*)")
_SEXES = {"m": "male", "male": "male", "boy": "male", "f": "female", "female": "female", "girl": "female"}
_AGE = re.compile(
    r"(\d{1,2})\s*(?:[;:,-]|years?,?)\s*(\d{1,2})?(?:\s*[.;,]\s*(\d{1,2}))?(?:\s*months?)?", re.IGNORECASE
)
_DATE = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})")
_LANGUAGES = {"english": "eng", "spanish": "spa", "french": "fra", "german": "deu", "dutch": "nld", "italian": "ita"}
_TARGETS = ("child", "client", "patient", "student", "participant", "subject")


def read_fact(line: str, facts: dict[str, str], source: Source) -> None:
    """Read one line with ``+``: into ``facts`` what ``@ID`` holds, the others into the comments of ``source``."""
    match = _FACT.fullmatch(line)
    name, value = (match.group(1).casefold(), match.group(2).strip()) if match else ("", "")
    if name in ("gender", "sex") and value.casefold() in _SEXES:
        facts["sex"] = _SEXES[value.casefold()]
    elif name in ("ca", "age", "current age", "chronological age") and (age := chat_age(value)):
        facts["age"] = age
    elif name == "language" and (code := _LANGUAGES.get(value.casefold())):
        source.language = code
    elif line[1:].strip():
        facts.update({name: value} if name in ("dob", "doe") else {})
        source.comments.append(line[1:].strip())


def chat_age(text: str) -> str:
    """Return a SALT age as CHAT writes it, empty if it is none.

    >>> [chat_age(text) for text in ("5;2", "4;11.03", "6;", "5 years, 2 months", "old")]
    ['5;02.', '4;11.03', '6;', '5;02.', '']
    """
    match = _AGE.fullmatch(text.strip())
    if not match or int(match.group(2) or 0) > 12 or int(match.group(3) or 0) > 31:
        return ""
    years, months, days = match.groups()
    return f"{years};" if months is None else f"{years};{int(months):02}.{f'{int(days):02}' if days else ''}"


def describe_target(facts: Mapping[str, str], source: Source) -> None:
    """Give the facts to the child or client of the sample, or else to the first speaker."""
    fields = {name: facts[name] for name in ("age", "sex") if name in facts}
    if "age" not in fields and (age := _age_between(facts.get("dob", ""), facts.get("doe", ""))):
        fields["age"] = age
    letters = [letter for letter, role in source.roles.items() if role.casefold() in _TARGETS] or list(source.roles)
    if fields and letters:
        source.people[letters[0]] = fields


def _age_between(birth: str, recording: str) -> str:
    """Return the age on the day of the recording; SALT writes the month first."""
    days = []
    for text in (birth, recording):
        match = _DATE.fullmatch(text)
        if not match:
            return ""
        month, day, year = map(int, match.groups())
        try:
            days.append(date(year, month, day))
        except ValueError:
            return ""
    first, last = days
    months = 12 * (last.year - first.year) + last.month - first.month - (last.day < first.day)
    return f"{months // 12};{months % 12:02}." if months >= 0 else ""


_TIME = re.compile(r"-\s*(?:(?:(\d{1,3}):)?(\d{1,4})?:)?(\d{1,2})(?:\.\d+)?")
_PAUSE = re.compile(r"[;:]\s*(?:(\d{1,3})?:)?(\d{1,2})?(?:\.\d+)?")
_UTTERANCE = re.compile(r"([A-Za-z]|[A-Z][A-Z0-9]{1,6})(?:\s+|:\s*)(\S.*)")
_KEPT = re.compile(r"= ([*%@][^\s:]*)(:\t| )?(.*)")
_PAUSE_BEFORE = re.compile(r"^(pause (?:of \d+ s )?)before(?= the utterance$)")
_NAMED = 3
"""So many strange lines are named in the note; all stand in the transcript."""
_BULLET = re.compile(r"•(\d{1,14})_(\d{1,14})•")


@dataclass
class _State:
    """What the lines before the next utterance say about it; what holds for the file.

    Attributes:
        tiers: Dependent tiers of the next utterance.
        chat_lines: Its CHAT, from comments that this program wrote.
        codes: How often each letter spoke with each CHAT code.
        strange: The lines that are not understood, with their numbers.
    """

    tiers: list[tuple[str, str]] = field(default_factory=list)
    chat_lines: list[str] = field(default_factory=list)
    codes: Counter[tuple[str, str]] = field(default_factory=Counter)
    strange: list[tuple[int, str]] = field(default_factory=list)


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a SALT file.

    Raises:
        FormatError: No line is an utterance.
    """
    source = Source(Path(place).stem, notation="chat")
    state = _State()
    facts: dict[str, str] = {}
    for number, line in _logical_lines(decode_bytes(data, place)):
        if line[0] == "$":
            source.roles.update(_speakers(line))
        elif line[0] == "+":
            read_fact(line, facts, source)
        elif line[0] == "=":
            _comment(line, source, state)
        elif tier := _time_or_pause(line):
            state.tiers.append(tier)
        elif spoken := _spoken(line, state, f"{place}:{number}", source):
            source.spoken.append(spoken)
            state.tiers, state.chat_lines = [], []
        else:
            state.strange.append((number, line))
            state.tiers.append(("%com", line))
    if not source.spoken and state.strange:
        number, line = state.strange[0]
        raise FormatError(
            f"{place}:{number}: {line[:40]!r} begins with no speaker of the '$' line, nor does another; is it SALT?"
        )
    describe_target(facts, source)
    _finish(source, state)
    return [source] if source.spoken else []


def _finish(source: Source, state: _State) -> None:
    """Give what stands behind the last utterance to it, note strange lines, and restore CHAT's speaker codes."""
    if source.spoken and state.tiers:
        behind = tuple(
            ("%com", _PAUSE_BEFORE.sub(r"\1after", value) if name == "%com" else f"at the end: {value}")
            for name, value in state.tiers
        )
        last = source.spoken[-1]
        source.spoken[-1] = replace(last, tiers=(*last.tiers, *behind))
    if state.strange:
        first = ", ".join(f"line {number} {line[:30]!r}" for number, line in state.strange[:_NAMED])
        more = f" and {len(state.strange) - _NAMED} more" if len(state.strange) > _NAMED else ""
        source.notes.append(f"lines that are not SALT's stand in comments: {len(state.strange)} ({first}{more})")
    texts = with_overlap_codes((turn.speaker, turn.text) for turn in source.spoken)
    source.spoken = [replace(turn, text=text) for turn, text in zip(source.spoken, texts, strict=True)]
    if source.headers:
        _restore_codes(source, state.codes)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number; lines that begin with space continue the one above."""
    pending: tuple[int, str] | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.rstrip()
        if not line.strip():
            continue
        if line[0] in " \t" and pending:
            pending = (pending[0], f"{pending[1]} {line.strip()}")
            continue
        if pending:
            yield pending
        pending = (number, line.strip())
    if pending:
        yield pending


def _speakers(line: str) -> dict[str, str]:
    """Return the role of each letter: ``$ Child, Examiner`` gives C and E.

    >>> _speakers("$ Child, Examiner, A Mother")
    {'C': 'Child', 'E': 'Examiner', 'A': 'Mother'}
    """
    names = [name.strip() for name in line[1:].split(",") if name.strip()[:1].isalpha()]
    return {name[0].upper(): re.sub(r"^\w ", "", name) for name in names}


def _comment(line: str, source: Source, state: _State) -> None:
    match = _KEPT.fullmatch(line)
    if match and match.group(1).startswith("@"):
        source.headers.append(line[2:])
    elif match:
        state.chat_lines.append(line[2:])
    elif source.spoken:
        state.tiers.append(("%com", line[1:].strip()))
    else:
        source.comments.append(line[1:].strip())


def _time_or_pause(line: str) -> tuple[str, str] | None:
    """Return the dependent tier that a line with a time or a pause gives the next utterance."""
    if match := _TIME.fullmatch(line):
        hours, minutes, rest = (int(part or 0) for part in match.groups())
        seconds = 3600 * hours + 60 * minutes + rest
        return "%tim", f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if match := _PAUSE.fullmatch(line):
        seconds = 60 * int(match.group(1) or 0) + int(match.group(2) or 0)
        return "%com", f"pause of {seconds} s before the utterance" if seconds else "pause before the utterance"
    return None


def _spoken(line: str, state: _State, place: str, source: Source) -> SpokenText | None:
    """Return the utterance in ``line``; ``None`` if it has no text or no speaker of the ``$`` line."""
    match = _UTTERANCE.fullmatch(line)
    if not match or (source.roles and match.group(1).upper()[:1] not in source.roles):
        return None
    letter, text = match.groups()
    letter = letter.upper() if letter.upper() in source.roles else letter
    original = _kept_utterance(state.chat_lines)
    if original is not None:
        state.codes[letter, original.speaker] += 1
        tiers = tuple((tier.name, tier.value) for tier in original.tiers)
        if salt_writing.utterance_text(original) == text:
            return SpokenText(letter, original.text, original.span, tuple(original.word_times), tiers, place)
        chat_text, comments = salt_to_chat(text, source.language or "eng")
        return SpokenText(letter, chat_text, original.span, (), (*tiers, *_coms(comments)), place)
    if not re.search(r"\w", text):  # "C ." has neither words nor a comment
        return None
    chat_text, comments = salt_to_chat(text, source.language or "eng")
    return SpokenText(letter, chat_text, None, (), (*state.tiers, *_coms(comments)), place)


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
    source.spoken = [replace(turn, speaker=best.get(turn.speaker, turn.speaker)) for turn in source.spoken]
