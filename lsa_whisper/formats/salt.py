"""SALT: mazes in parentheses, as the Systematic Analysis of Language Transcripts counts them.

SALT has one mark for all mazes, whole seconds, and no end times. Comment lines (``= *CHI: ...``), which SALT's programs
pass over, hold each utterance as CHAT, so that ``convert`` gives every mark and time back.
"""

from __future__ import annotations

import re
from itertools import groupby
from string import ascii_uppercase

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.chat.disfluencies import Family, classes_of
from lsa_whisper.formats.readable_text import dependent_tiers

_MAZE = classes_of(Family.ASIDE) | classes_of(Family.RETRACE)
_ENDS = {"?": "?", "!": "!", "+...": ">", "+..?": ">", "+/.": "^", "+/?": "^", "+//.": "^", "+//?": "^"}

_UNINTELLIGIBLE = {"xxx": "XX", "yyy": "XX", "www": "XX"}


def serialize(transcript: Transcript) -> str:
    """Return a SALT transcript: speakers by letter, utterances with mazes, times as ``- m:ss`` lines.

    Above each utterance a comment line holds it as CHAT, with its dependent tiers but ``%wor``.
    """
    letters = _letters(transcript)
    roles = {code: participant.role for code, participant in transcript.participants.items()}
    names = (_speaker_name(letter, roles.get(code, code)) for code, letter in letters.items())
    lines = ["$ " + ", ".join(names)] if letters else ["$"]
    lines += _facts(transcript)
    headers = (header for header in transcript.headers if header.name not in ("@UTF8", "@Begin", "@End"))
    lines += [f"= {header.name}:\t{header.value}" if header.value else f"= {header.name}" for header in headers]
    for utterance in transcript.utterances:
        span = utterance.span
        if span:
            seconds = span.start_ms // 1000
            lines.append(f"- {seconds // 60}:{seconds % 60:02}")
        bullet = f" \u2022{span.start_ms}_{span.end_ms}\u2022" if span else ""
        lines.append(f"= *{utterance.speaker}:\t{utterance.text}{bullet}")
        lines += [f"= {name}:\t{value}" for name, value in dependent_tiers(utterance).items()]
        lines.append(f"{letters[utterance.speaker]} {utterance_text(utterance)}")
    return "\n".join(lines) + "\n"


def _facts(transcript: Transcript) -> list[str]:
    """Return the lines with sex and age of the first child, or else of the first speaker who has them."""
    people = [participant for participant in transcript.participants.values() if participant.age or participant.sex]
    target = next((person for person in people if person.role.startswith("Target_")), people[0] if people else None)
    if not target:
        return []
    years, _, rest = target.age.partition(";")
    months, _, days = rest.partition(".")
    age = (
        f"{years};{int(months or 0)}{f'.{days}' if days else ''}" if years.isdigit() and months[:2].isdigit() else years
    )
    lines = [f"+ Gender: {target.sex[0].upper()}"] if target.sex else []
    return lines + ([f"+ CA: {age}"] if age else [])


def _speaker_name(letter: str, role: str) -> str:
    """Return what the ``$`` line calls a speaker: its first letter must be the speaker's."""
    name = role.removeprefix("Target_").replace("_", " ").replace(",", " ")
    return name if name[:1].upper() == letter[:1] else f"{letter} {name}"


def utterance_text(utterance: Utterance) -> str:
    """Return the utterance as SALT writes it; without words, what happened stands in braces.

    >>> from lsa_whisper.chat import utterance
    >>> utterance_text(utterance("CHI", "xxx the dog .")), utterance_text(utterance("CHI", "&=laughs ."))
    ('XX the dog.', '{laughs}.')
    """
    if utterance.verbatim():
        return mazes(utterance)
    description = re.sub(r"[{}\[\]<>()]", " ", utterance.text.removesuffix(utterance.terminator)).replace("&=", "")
    return f"{{{' '.join(description.split()) or 'nothing'}}}{_ENDS.get(utterance.terminator, '.')}"


def mazes(utterance: Utterance) -> str:
    """Return the words with mazes in parentheses, and cut-off words with ``*``.

    >>> from lsa_whisper.chat import utterance
    >>> mazes(utterance("CHI", "&-um and you [/] you can &+g go +..."))
    '(um) and (you) you can (g*) go>'
    """
    words = [f"{word[:-1]}*" if word[-1:] == "-" else _UNINTELLIGIBLE.get(word, word) for word in utterance.verbatim()]
    inside = {at for event in utterance.events() if event.kind in _MAZE for at in range(event.start, event.end)}
    text = []
    for in_maze, places in groupby(range(len(words)), inside.__contains__):
        phrase = " ".join(words[at] for at in places)
        text.append(f"({phrase})" if in_maze else phrase)
    return " ".join(text) + _ENDS.get(utterance.terminator, ".")


def _letters(transcript: Transcript) -> dict[str, str]:
    """Return a unique letter for each speaker, if possible the first of its code; SALT knows no digits there."""
    letters: dict[str, str] = {}
    for code in dict.fromkeys(utterance.speaker for utterance in transcript.utterances):
        capitals = (letter for letter in code.upper() + ascii_uppercase if letter in ascii_uppercase)
        letters[code] = next((letter for letter in capitals if letter not in letters.values()), code)
    return letters
