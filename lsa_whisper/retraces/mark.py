"""Retrace codes set in the text of main tiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsa_whisper.retraces.retrace import Retrace, find_all_retraces, find_retraces
from lsa_whisper.retraces.tagger import CAREFUL, KINDS, THRESHOLD, Tagger, tagger_for
from lsa_whisper.retraces.words import NOT_TAKEN_BACK, SpokenWord, hide_codes, marked_words, spoken_words
from lsa_whisper.timespan import TimeSpan

_CODE = re.compile(r"\[(?:/{1,3}|/-)\]")
_GROUP = re.compile(r"<([^<>]*)>$")
"""The words before a code, in a group at the end."""

_IN_GROUP = 0.5
"""The least probability of a word in the group of a code that is written already."""


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
    return mark_all_retraces([text], language=language, threshold=threshold, times=[times])[0]


def mark_all_retraces(
    texts: Sequence[str],
    *,
    language: str = "eng",
    threshold: float = THRESHOLD,
    times: Sequence[Sequence[TimeSpan]] | None = None,
) -> list[MarkedText]:
    """Return what :func:`mark_retraces` makes of each of ``texts``, in less time for each."""
    tagger = tagger_for(language)
    if tagger is None:
        return [MarkedText(text) for text in texts]
    utterances = [spoken_words(text) or [] for text in texts]
    for at, spans in enumerate(times or ()):
        if len(spans) == len(utterances[at]):
            utterances[at] = [word._replace(span=span) for word, span in zip(utterances[at], spans, strict=True)]
    results = []
    for text, words, retraces in zip(texts, utterances, find_all_retraces(utterances, tagger, threshold), strict=True):
        marks = tuple(_mark(text, words, retrace) for retrace in retraces)
        results.append(MarkedText(_set_all(text, words, retraces), marks))
    return results


def add_retraces(text: str, tagger: Tagger, threshold: float = CAREFUL) -> str:
    """Return a main tier's ``text`` with the retrace codes that it lacks; those that it has stay.

    A model that writes from left to right has to set a code before it has heard what follows, and leaves many out; here
    both sides are known. So is what a code takes back. Where the same words stand before and after a revision ``[//]``,
    it becomes ``[/]``, as CHAT defines it. For other codes, a tagger that was trained to do so finds where the words
    that were taken back begin, and whether it is a revision, a reformulation or a false start. The text is a main tier
    as :func:`lsa_whisper.labels.decode` makes it, without its speaker code. ``threshold`` is the least probability of a
    word in a retrace, 0 to 1.

    >>> add_retraces("the [/] the dog I want &-um I want it .", tagger_for("eng"))
    'the [/] the dog <I want> [/] &-um I want it .'
    >>> add_retraces("a [//] a bear .", tagger_for("eng"))
    'a [/] a bear .'
    """
    text = _repetitions(text)
    words = marked_words(text)
    missing = [
        retrace
        for retrace in find_retraces(hide_codes(words), tagger, threshold)
        if all(word.retrace == NOT_TAKEN_BACK for word in words[retrace.first : retrace.last + 1])
    ]
    return _whole_groups(_set_all(text, words, missing), tagger)


def _whole_groups(text: str, tagger: Tagger) -> str:
    """Return ``text`` with all words in the group of each revision that were taken back, and with the code of its kind.

    A code of a kind that ``tagger`` does not know stays.
    """
    words = marked_words(text) if tagger.sees_codes else []
    if not any(word.before_code for word in words):
        return text
    for retrace in reversed(find_retraces(words, tagger, _IN_GROUP)):
        end = retrace.last + 1
        first = next((at for at in range(retrace.first, end) if words[at].retrace != NOT_TAKEN_BACK), end)
        if first < end and words[end - 1].before_code and _end_of_group(words, first) == end:
            kind = words[first].retrace.partition(" ")[2]
            code = retrace.code if kind in tagger.kinds else KINDS[kind]
            text = _regroup(text, words, retrace.first, end, code)
    return text


def _repetitions(text: str) -> str:
    """Return ``text`` with ``[/]`` for each code that the same words precede and follow.

    >>> _repetitions("the dog [//] the dog ran <to the> [/-] to the tree .")
    '<the dog> [/] the dog ran <to the> [/] to the tree .'
    """
    words = marked_words(text)
    for first in range(len(words) - 1, -1, -1):
        if not words[first].retrace.startswith("begin"):
            continue
        end = _end_of_group(words, first)
        begin = _same_words_begin(words, first, end)
        if begin is not None:
            text = _regroup(text, words, begin, end, "[/]")
    return text


def _end_of_group(words: Sequence[SpokenWord], first: int) -> int:
    """Return where the retraced words end that begin at ``first``, exclusive."""
    inside = words[first].retrace.replace("begin", "inside")
    return next((at for at in range(first + 1, len(words)) if words[at].retrace != inside), len(words))


def _same_words_begin(words: Sequence[SpokenWord], first: int, end: int) -> int | None:
    """Return where words begin that include those from ``first`` to before ``end`` and that stand after these again."""
    texts = [None if word.cut_off else word.text for word in words]
    for begin in range(first, max(-1, 2 * end - len(words) - 1), -1):
        if begin < first and words[begin].retrace != NOT_TAKEN_BACK:
            return None
        if None not in texts[begin:end] and texts[begin:end] == texts[end : 2 * end - begin]:
            return begin
    return None


def _regroup(text: str, words: Sequence[SpokenWord], begin: int, end: int, new_code: str) -> str:
    """Return ``text`` with the words from ``begin`` to before ``end``, whose last have a code, in one group."""
    start, code = words[begin].start, _CODE.search(text, words[end - 1].start)
    inside = text[start : code.start() if code else None].rstrip()
    in_group = text[:start].endswith("<") and inside.endswith(">")
    group = inside.removesuffix(">") if in_group else _GROUP.sub(r"\1", inside)
    if code is None or "<" in group or ">" in group:
        return text  # groups within groups
    body = f"<{group}>" if begin + 1 < end else group
    return f"{text[: start - in_group]}{body} {new_code}{text[code.end() :]}"


def _set_all(text: str, words: Sequence[SpokenWord], retraces: Sequence[Retrace]) -> str:
    """Return ``text`` with the codes of ``retraces``, which are in order and without overlaps."""
    pieces: list[str] = []
    position = 0
    for retrace in retraces:
        start, end = words[retrace.first].start, words[retrace.last].end
        inside = text[start:end]
        alone = retrace.first == retrace.last and "[" not in inside
        pieces.append(f"{text[position:start]}{inside if alone else f'<{inside}>'} {retrace.code}")
        position = end
    return "".join([*pieces, text[position:]])


def _mark(text: str, words: Sequence[SpokenWord], retrace: Retrace) -> Mark:
    inside = text[words[retrace.first].start : words[retrace.last].end]
    return Mark(" ".join(inside.split()), retrace.code, round(retrace.confidence, 3))
