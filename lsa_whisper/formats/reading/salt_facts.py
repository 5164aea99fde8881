"""The facts about a sample in a SALT file's lines with ``+``, as fields of ``@ID`` where CHAT has one.

Ages, sexes and the language move there; all other facts stay comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from lsa_whisper.formats.reading.source import Source

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


def _age_between(born: str, recorded: str) -> str:
    """Return the age on the day of the recording; SALT writes the month first."""
    days = []
    for text in (born, recorded):
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
