"""Marking words as disfluencies: functions of the text of a main tier; a second use of a mark takes it away."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lsa_whisper.chat import Transcript
from lsa_whisper.chat.disfluencies import RETRACE_CODES, Disfluency, SignPlace
from lsa_whisper.chat.filled_pauses import fillers
from lsa_whisper.chat.scan import Token, scan
from lsa_whisper.chat.word import read_word
from lsa_whisper.review.edits.change import EditError
from lsa_whisper.review.edits.utterances import set_text
from lsa_whisper.review.edits.words import chosen_words

_PREFIX = re.compile(r"&[-+~=]")
_ONSET = re.compile(r"[^\W\d_aeiouyAEIOUY]+|[^\W\d_]")
_VOWELS = re.compile(r"[aeiouy]+", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_RETRACES = tuple(code for code, kind in RETRACE_CODES.items() if kind.row.key)
_RETRACE_MARKS = frozenset(kind.value for kind in RETRACE_CODES.values())
_BESIDE_SPEECH = ("pause", "event", "unintelligible")
"""Marks that events and omitted words may have, too."""
_CODE = re.compile(r"\s*\[(?!/)[^\[\]]*\]")
_PAUSES = ("", "(.)", "(..)", "(...)")


class _Marking(Protocol):
    def __call__(self, text: str, words: list[Token]) -> str: ...


@dataclass(frozen=True)
class KeyedMark:
    """A mark of the review page: its ``key``, its English ``label``, and how it changes the text."""

    key: str
    label: str
    change: _Marking


def mark_words(transcript: Transcript, number: int, first: int, last: int, mark: str) -> Transcript:
    """Return the transcript with the written words ``first`` to ``last`` of an utterance marked, or no longer marked.

    ``mark`` is one of :data:`MARKS`.

    Raises:
        EditError: There is no such mark or word, or the words cannot be marked so.
    """
    if mark not in MARKS:
        raise EditError(f"mark {mark!r} is not known; choose one of {', '.join(MARKS)}")
    text = transcript.utterances[number].text
    words = chosen_words(text, first, last)
    silent = [word.text for word in words if not read_word(word.text).verbatim]
    if silent and mark not in _BESIDE_SPEECH and not (mark in _RETRACE_MARKS and len(silent) < len(words)):
        raise EditError(f"{silent[0]!r} is not a spoken word; choose words")
    return set_text(transcript, number, MARKS[mark].change(text, words))


def question_about(transcript: Transcript, number: int, first: int, last: int, mark: str) -> str:
    """Return what to ask before words are marked, or an empty text: a filled pause is seldom any other word.

    Words that are marked already, from which the mark would be taken away, need no question.
    """
    if mark != "filled_pause" or not 0 <= number < len(transcript.utterances):
        return ""
    language = (transcript.languages or ["eng"])[0]
    words = [word.text for word in chosen_words(transcript.utterances[number].text, first, last)]
    bare = {_PREFIX.sub("", word).replace(":", "").lower() for word in words if not word.startswith("&-")}
    other = ", ".join(map(repr, sorted(bare - fillers(language))))
    return f"{other}: not a filled pause of {language}; press the key again to mark it" if other else ""


def _prefixed(prefix: str) -> _Marking:
    def change(text: str, words: list[Token]) -> str:
        """Write the words as one with a prefix, or take the prefix away."""
        start, end = words[0].offset, words[-1].offset + len(words[-1].text)
        inside = text[start:end]
        if len(words) == 1 and inside.startswith(prefix):
            new = inside.removeprefix(prefix).replace("_", " ")
        else:
            other = any(token.kind not in ("word", "space") for token in scan(inside))
            if other or (len(words) > 1 and "@" in inside):
                raise EditError(f"{inside!r}: only neighboring words without other marks can become one")
            new = prefix + "_".join(_PREFIX.sub("", word.text, count=1) for word in words)
        return text[:start] + (new.rstrip("-") if prefix == "&+" else new) + text[end:]

    return change


def _retraced(code: str) -> _Marking:
    def change(text: str, words: list[Token]) -> str:
        """Put the code behind the words, in ``<...>`` if there are several; replace or remove a code that is there."""
        start, end = _with_group(text, words[0].offset, words[-1].offset + len(words[-1].text))
        if not _retrace_at(text, end):
            start, end = _with_codes(text, start, end)
        inside, behind = text[start:end], text[end:]
        if present := _retrace_at(text, end):
            behind = behind[behind.index("[") + len(present) :]
            if present == code:
                is_group = inside.startswith("<") and inside.endswith(">") and not _CODE.match(behind)
                return f"{text[:start]}{inside[1:-1] if is_group else inside}{behind}"
        if len(words) > 1 and not (inside.startswith("<") and inside.endswith(">")):
            inside = f"<{inside}>"
        return f"{text[:start]}{inside} {code}{behind}"

    return change


def _retrace_at(text: str, at: int) -> str:
    """Return the retrace code behind ``at``, or an empty text."""
    return next((mark for mark in _RETRACES if re.match(rf"\s*{re.escape(mark)}(?=[\s>]|\Z)", text[at:])), "")


def _with_codes(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range with the other codes of its last word, and the group around both; a group stays as it is."""
    at = end
    while code := _CODE.match(text, at):
        at = code.end()
    return (start, end) if at == end or text[start] == "<" else _with_group(text, start, at)


def _with_group(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range, wider by the ``<`` and ``>`` that belong to it.

    Raises:
        EditError: A group begins inside and ends outside, or the other way round.
    """
    tokens = [token for token in scan(text) if token.kind in ("open", "close")]
    for _ in tokens:
        balance = [text[at.offset] for at in tokens if start <= at.offset < end]
        outside = (start > 0 and text[start - 1] == "<", end < len(text) and text[end] == ">")
        missing = balance.count("<") - balance.count(">")
        if missing > 0 and outside[1]:
            end += 1
        elif missing < 0 and outside[0]:
            start -= 1
        elif missing == 0 and all(outside):
            start, end = start - 1, end + 1
        else:
            break
    inside = [text[at.offset] for at in tokens if start <= at.offset < end]
    if inside.count("<") != inside.count(">"):
        raise EditError("the words stand partly inside a group <...>; choose all of its words or none")
    return start, end


def _each(change: Callable[[str], str]) -> _Marking:
    def changed(text: str, words: list[Token]) -> str:
        """Change each word by itself."""
        for word in reversed(words):
            text = text[: word.offset] + change(word.text) + text[word.offset + len(word.text) :]
        return text

    return changed


def _lengthened(word: str) -> str:
    """Return the word with its first vowel lengthened, or without any lengthening.

    >>> _lengthened("story"), _lengthened("sto:ry")
    ('sto:ry', 'story')
    """
    word, at, marker = word.partition("@")
    if at:
        return f"{_lengthened(word)}@{marker}"
    if ":" in word:
        return word.replace(":", "")
    prefix = _PREFIX.match(word)
    begin = prefix.end() if prefix else 0
    match = _VOWELS.search(word, begin) or _LETTER.search(word, begin)
    return f"{word[: match.end()]}:{word[match.end() :]}" if match else word


def _blocked(word: str) -> str:
    prefix = match[0] if (match := _PREFIX.match(word)) else ""
    rest = word.removeprefix(prefix)
    return f"{prefix}{rest.removeprefix('≠') if rest.startswith('≠') else f'≠{rest}'}"


def _repeated_part(word: str) -> str:
    """Return the word with its first sound repeated once; a second time adds a repetition, a fourth removes all.

    >>> _repeated_part("ball"), _repeated_part("↫b↫ball"), _repeated_part("↫b-b-b↫ball")
    ('↫b↫ball', '↫b-b↫ball', 'ball')
    """
    if match := re.match(r"↫([^↫]*)↫", word):
        parts = match.group(1).split("-")
        rest = word[match.end() :]
        return rest if len(parts) > 2 else f"↫{'-'.join([*parts, parts[0]])}↫{rest}"
    onset = _ONSET.match(word)
    if not onset:
        raise EditError(f"{word!r} begins with no sound that could be repeated; choose a word")
    return f"↫{onset.group()}↫{word}"


def _paused(text: str, words: list[Token]) -> str:
    """Put a pause behind the words; a longer one if there is one, none after the longest."""
    end = words[-1].offset + len(words[-1].text)
    while end < len(text) and text[end] in ">":
        end += 1
    while code := re.match(r"\s*\[[^\[\]]*\]", text[end:]):
        end += code.end()
    match = re.match(r"\s*(\(\.{1,3}\))", text[end:])
    pause = match.group(1) if match else ""
    behind = text[end + (match.end() if match else 0) :]
    new = _PAUSES[(_PAUSES.index(pause) + 1) % len(_PAUSES)]
    return f"{text[:end]}{' ' if new else ''}{new}{behind}"


def _unintelligible(text: str, words: list[Token]) -> str:
    start, end = words[0].offset, words[-1].offset + len(words[-1].text)
    if any(token.kind in ("open", "close") for token in scan(text[start:end])):
        raise EditError("the words stand partly inside a group <...>; choose words inside it only")
    return f"{text[:start]}xxx{text[end:]}"


_CHANGES: dict[SignPlace, Callable[[str], _Marking]] = {
    SignPlace.PREFIX: _prefixed,
    SignPlace.AFTER_WORDS: _retraced,
    SignPlace.AFTER_SOUND: lambda _: _each(_lengthened),
    SignPlace.BEFORE_WORD: lambda _: _each(_blocked),
    SignPlace.AROUND_COPIES: lambda _: _each(_repeated_part),
    SignPlace.BETWEEN_WORDS: lambda _: _paused,
}
MARKS: dict[str, KeyedMark] = {
    **{
        kind.value: KeyedMark(kind.row.key, kind.row.name, _CHANGES[kind.row.place](kind.row.sign))
        for kind in sorted(Disfluency, key=lambda kind: kind.row.place)
        if kind.row.key
    },
    "unintelligible": KeyedMark("x", "unintelligible", _unintelligible),
    "event": KeyedMark("e", "event such as &=laughs", _prefixed("&=")),
}
"""The marks by class, with the key of the page for each."""
