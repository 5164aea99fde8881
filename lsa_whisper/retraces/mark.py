"""Retrace codes set in the text of main tiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsa_whisper.retraces.retrace import Retrace, find_retraces
from lsa_whisper.retraces.tagger import CAREFUL, THRESHOLD, Tagger, tagger_for
from lsa_whisper.retraces.words import NOT_TAKEN_BACK, SpokenWord, marked_words, spoken_words
from lsa_whisper.timespan import TimeSpan


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
    both sides are known. So is whether a revision ``[//]`` is one: where the same words follow, it becomes ``[/]``, as
    CHAT defines it.

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
    """Return ``text`` with ``[/]`` for each ``[//]`` that the same words follow."""
    words = marked_words(text)
    for first in range(len(words) - 1, -1, -1):
        if words[first].retrace != "begin revision":
            continue
        inside = (at for at in range(first + 1, len(words)) if words[at].retrace != "inside revision")
        end = next(inside, len(words))
        if [word.text for word in words[first:end]] == [word.text for word in words[end : 2 * end - first]]:
            code = text.index("[//]", words[end - 1].start)
            text = f"{text[:code]}[/]{text[code + len('[//]') :]}"
    return text


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
