"""Retrace codes set in the text of main tiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsa_whisper.retraces.retrace import Retrace, find_retraces
from lsa_whisper.retraces.tagger import CAREFUL, THRESHOLD, Tagger, tagger_for
from lsa_whisper.retraces.words import NOT_TAKEN_BACK, SpokenWord, marked_words, spoken_words
from lsa_whisper.timespan import TimeSpan

_CODE = re.compile(r"\[(?:/{1,3}|/-)\]")
_GROUP = re.compile(r"<([^<>]*)>$")
"""The words before a code, in a group at the end."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A retrace code that was set: its ``words`` as written, its ``code``, and its ``confidence`` (0 to 1)."""

    words: str
    code: str
    confidence: float


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A main tier with retrace codes, and what was set."""

    text: str
    marks: tuple[Mark, ...] = ()


def mark_retraces(
    text: str, *, language: str = "eng", threshold: float = THRESHOLD, times: Sequence[TimeSpan] = ()
) -> MarkedText:
    """Return a main tier's ``text`` with retrace codes; nothing else in it changes.

    Args:
        text: The main tier without its speaker code; fillers are ``&-um``, cut-off words ``&+sto``.
        language: ISO 639-3. Text in a language without a model comes back as it is.
        threshold: The least probability of a word in a retrace, 0 to 1.
        times: The time span of each word, if known: as many as the tier has words, fillers left out.

    A tier that already has retraces or groups comes back as it is: they are a person's.

    >>> mark_retraces("I want &-um I want the &+sto story .").text
    '<I want> [/] &-um I want the &+sto story .'
    """
    tagger = tagger_for(language)
    words = spoken_words(text) if tagger else None
    if not tagger or not words:
        return MarkedText(text)
    if len(times) == len(words):
        words = [replace(word, span=span) for word, span in zip(words, times, strict=True)]
    found = find_retraces(words, tagger, threshold)
    return MarkedText(_set_all(text, words, found), tuple(_mark(text, words, retrace) for retrace in found))


def add_retraces(text: str, tagger: Tagger, threshold: float = CAREFUL) -> str:
    """Return a main tier's ``text`` with the retrace codes that it lacks; those that it has stay.

    A model that writes from left to right has to set a code before it has heard what follows, and leaves many out; here
    both sides are known. So is whether a revision ``[//]`` is one: where the same words stand before and after it, it
    becomes ``[/]``, as CHAT defines it.

    Args:
        text: The main tier without its speaker code, as :func:`lsa_whisper.labels.decode` makes it.
        tagger: A trained model.
        threshold: The least probability of a word in a retrace, 0 to 1.

    >>> add_retraces("the [/] the dog I want &-um I want it .", tagger_for("eng"))
    'the [/] the dog <I want> [/] &-um I want it .'
    >>> add_retraces("a [//] a bear .", tagger_for("eng"))
    'a [/] a bear .'
    """
    text = _repetitions(text)
    words = marked_words(text)
    missing = [
        retrace
        for retrace in find_retraces(words, tagger, threshold)
        if all(word.retrace == NOT_TAKEN_BACK for word in words[retrace.first : retrace.last + 1])
    ]
    return _set_all(text, words, missing)


def _repetitions(text: str) -> str:
    """Return ``text`` with ``[/]`` for each code that the same words precede and follow.

    >>> _repetitions("the dog [//] the dog ran <to the> [/-] to the tree .")
    '<the dog> [/] the dog ran <to the> [/] to the tree .'
    """
    words = marked_words(text)
    for first in range(len(words) - 1, -1, -1):
        position, _, kind = words[first].retrace.partition(" ")
        if position != "begin":
            continue
        inside = (at for at in range(first + 1, len(words)) if words[at].retrace != f"inside {kind}")
        end = next(inside, len(words))
        begin = _same_words_begin(words, first, end)
        if begin is not None:
            text = _as_repetition(text, words, begin, end)
    return text


def _same_words_begin(words: Sequence[SpokenWord], first: int, end: int) -> int | None:
    """Return where words begin that include those from ``first`` to before ``end`` and that stand after these again."""
    texts = [None if word.cut_off else word.text for word in words]
    for begin in range(first, max(-1, 2 * end - len(words) - 1), -1):
        if begin < first and words[begin].retrace != NOT_TAKEN_BACK:
            return None
        if None not in texts[begin:end] and texts[begin:end] == texts[end : 2 * end - begin]:
            return begin
    return None


def _as_repetition(text: str, words: Sequence[SpokenWord], begin: int, end: int) -> str:
    """Return ``text`` with the retraced words from ``begin`` to before ``end`` as a repetition, in one group."""
    start, code = words[begin].start, _CODE.search(text, words[end - 1].start)
    inside = text[start : code.start() if code else None].rstrip()
    grouped = text[:start].endswith("<") and inside.endswith(">")
    group = inside.removesuffix(">") if grouped else _GROUP.sub(r"\1", inside)
    if code is None or "<" in group or ">" in group:
        return text  # groups within groups
    written = f"<{group}>" if begin + 1 < end else group
    return f"{text[: start - grouped]}{written} [/]{text[code.end() :]}"


def _set_all(text: str, words: Sequence[SpokenWord], found: Sequence[Retrace]) -> str:
    for retrace in reversed(found):
        text = _set(text, words, retrace)
    return text


def _mark(text: str, words: Sequence[SpokenWord], retrace: Retrace) -> Mark:
    inside = text[words[retrace.first].start : words[retrace.last].end]
    return Mark(" ".join(inside.split()), retrace.code, round(retrace.confidence, 3))


def _set(text: str, words: Sequence[SpokenWord], retrace: Retrace) -> str:
    start, end = words[retrace.first].start, words[retrace.last].end
    inside = text[start:end]
    alone = retrace.first == retrace.last and "[" not in inside
    return f"{text[:start]}{inside if alone else f'<{inside}>'} {retrace.code}{text[end:]}"
