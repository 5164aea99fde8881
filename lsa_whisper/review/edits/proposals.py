"""Proposals: a text that a person typed, corrected where CHAT's checks find a problem with one remedy."""

from __future__ import annotations

import re
from collections.abc import Callable

from lsa_whisper.chat import Problem, Transcript
from lsa_whisper.chat.filled_pauses import fillers
from lsa_whisper.labels.numbers import can_spell_numbers, spell_number
from lsa_whisper.review.edits.rules import text_problems
from lsa_whisper.review.edits.utterances import with_text

_ROUNDS = 6
_CUT_OFF = re.compile(r"(?<!\S)([^\W\d_]+)-(?!\S)")
_HASH = re.compile(r"(?<!\S)#+(?=\s|[^\W\d_])")
_COPIES = re.compile(r"(\S+)\s*\[x\s*(\d+)\s*\]", re.IGNORECASE)


def find_problems(transcript: Transcript, number: int, text: str) -> list[Problem]:
    """Return what CHAT's checks find in ``text`` as the text of utterance ``number``, columns counted in the text."""
    old = transcript.utterances[number]
    new = with_text(old, text)
    offset = len(new.main) - len(new.body)
    found = text_problems(transcript, new)
    return [Problem(None, 1, max(1, one.column - offset), one.code, one.message) for one in found]


def propose(transcript: Transcript, number: int, text: str) -> str | None:
    r"""Return a text without problems near ``text``; ``None`` if there is nothing to propose.

    >>> from lsa_whisper.chat import parse
    >>> propose(parse("@Languages:\teng\n*PAR:\tno .\n"), 0, "I see 2 dogs")
    'I see two dogs .'
    """
    made = text
    for _ in range(_ROUNDS):
        codes = [one.code for one in find_problems(transcript, number, made) if one.code in _REMEDIES]
        if not codes:
            break
        made = _REMEDIES[codes[0]](made, (transcript.languages or ["eng"])[0])
    if made == text or any(one.code in _REMEDIES for one in find_problems(transcript, number, made)):
        return None
    return made


def propose_marks(transcript: Transcript, text: str) -> str | None:
    r"""Return a valid text with the marks of CHAT in place of other notations; ``None`` if there are none.

    >>> from lsa_whisper.chat import parse
    >>> propose_marks(parse("@Languages:\teng\n*PAR:\tno .\n"), "um I wan- want # it #hey .")
    '&-um I &+wan want (.) it (.) hey .'
    """
    words = fillers((transcript.languages or ["eng"])[0])
    made = _CUT_OFF.sub(r"&+\1", _HASH.sub("(.) ", text))
    made = re.sub(
        r"(?<!\S)[^\W\d_]+(?!\S)", lambda one: f"&-{one[0].lower()}" if one[0].lower() in words else one[0], made
    )
    return None if made == text else made.replace("(.)  ", "(.) ")


def _terminated(text: str, _: str) -> str:
    return f"{text.rstrip(' ,;:-')} ."


def _one_terminator(text: str, _: str) -> str:
    """Remove terminators inside the text."""
    return re.sub(r"\s+[.?!](?=\s+\S*\w)", "", text)


def _apostrophes(text: str, _: str) -> str:
    return text.replace("’", "'").replace("‘", "'")


def _closed(text: str, _: str) -> str:
    """Close a group before the code that follows it, or take its sign away."""
    missing = text.count("<") - text.count(">")
    code = re.search(r"\s*\[/+-?\]", text)
    if missing > 0 and code and "<" in text[: code.start()]:
        return f"{text[: code.start()]}>{text[code.start() :]}"
    return text.replace("<", "").replace(">", "")


def _unmarked(text: str, _: str) -> str:
    """Take away a retrace code without words before or after it."""
    text = re.sub(r"\A\s*\[/+-?\]\s*", "", text)
    return re.sub(r"\s*\[/+-?\](?=\s*(?:&=\S+\s*)*(?:[.?!]|\+\S+|\Z))", "", text)


def _without_empty(text: str, _: str) -> str:
    return re.sub(r"(?:(?<=\s)|\A)&[-+~](?=\s|\Z)\s*", "", text)


def _untranscribed(text: str, _: str) -> str:
    return re.sub(r"\b([xyw])\1{1,5}\b", lambda found: found[1] * 3, text, flags=re.IGNORECASE).replace("XXX", "xxx")


def _spelled_numbers(text: str, language: str) -> str:
    if not can_spell_numbers(language):
        return text
    return re.sub(r"\b\d+(?:\.\d+)?\b", lambda found: spell_number(found[0], language=language), text)


def _copies(text: str, _: str) -> str:
    return _COPIES.sub(lambda found: " [/] ".join([found[1]] * min(int(found[2]), 20)), text)


_REMEDIES: dict[str, Callable[[str, str], str]] = {
    "no-terminator": _terminated,
    "inner-terminator": _one_terminator,
    "after-terminator": _one_terminator,
    "digits": _spelled_numbers,
    "apostrophe": _apostrophes,
    "unclosed-group": _closed,
    "opaque": _closed,
    "retrace-without-words": _unmarked,
    "retrace-without-repair": _unmarked,
    "empty-word": _without_empty,
    "untranscribed": _untranscribed,
    "obsolete-repetition": _copies,
    "obsolete-pause": lambda text, _: _HASH.sub("(.) ", text).replace("(.)  ", "(.) "),
    "unspecified-retrace": lambda text, _: text.replace("[/?]", "[/]"),
}
"""By the code of a problem: what corrects it, from the text and the language."""
