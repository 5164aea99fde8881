"""Times: the bullet of an utterance and the ``%wor`` tier with the times of its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TypeVar

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.chat.main_tier import BULLET, bullet, word_tier
from lsa_whisper.review.edits.change import EditError, line_end, put
from lsa_whisper.timespan import TimeSpan

_WOR = "%wor"
_MAX_MS = 10**9
Carried = TypeVar("Carried")
_SINGLE = re.compile(r"\x15\d+_\d+\x15")

WordSpans = list[TimeSpan | None]
"""The time of each spoken word of an utterance."""


def set_span(transcript: Transcript, number: int, start_ms: int, end_ms: int) -> Transcript:
    """Return the transcript with another bullet on utterance ``number``.

    Raises:
        EditError: The end is not after the start.
    """
    _verify(start_ms, end_ms)
    old = transcript.utterances[number] if number < len(transcript.utterances) else None
    if old is None or old.span == TimeSpan(start_ms, end_ms):
        return put(transcript, number, [old] if old else [])
    mark = bullet(TimeSpan(start_ms, end_ms))
    if len(BULLET.findall(old.main)) == 1 and _SINGLE.search(old.main):
        main = _SINGLE.sub(mark, old.main)
    else:
        body = BULLET.sub("", old.main).rstrip()
        main = f"{body} {mark}{line_end(old)}"
    return put(transcript.linked(), number, [replace(old, main=main)])


def set_word_span(transcript: Transcript, number: int, word: int, start_ms: int, end_ms: int) -> Transcript:
    """Return the transcript with another time for a spoken word, in ``%wor``.

    Raises:
        EditError: The end is not after the start, there is no such word, or the word would overlap its neighbors.
    """
    _verify(start_ms, end_ms)
    old = transcript.utterances[number]
    spans = old.word_spans()
    if not 0 <= word < len(spans):
        raise EditError(f"word {word}: the utterance has {len(spans)} spoken words; choose one of them")
    before = [span.end_ms for span in spans[:word] if span]
    behind = [span.start_ms for span in spans[word + 1 :] if span]
    if (before and start_ms < before[-1]) or (behind and end_ms > behind[0]):
        raise EditError("the word would overlap its neighbor; move the neighbor first")
    spans[word] = TimeSpan(start_ms, end_ms)
    return put(transcript, number, [with_word_spans(old, spans)])


def with_word_spans(utterance: Utterance, spans: Sequence[TimeSpan | None]) -> Utterance:
    """Return the utterance with a ``%wor`` tier for the words that have a time, in the place of the old tier."""
    words = utterance.reading.verbatim
    timed = [(word, span) for word, span in zip(words, spans, strict=True) if span]
    names = [tier.name for tier in utterance.tiers]
    at = names.index(_WOR) if _WOR in names else 0
    tiers = list(utterance.tiers)
    if _WOR in names:
        del tiers[at]
    if timed:
        tiers.insert(at, word_tier(timed, utterance.terminator, line_end(utterance)))
    return replace(utterance, tiers=tuple(tiers))


def carry_word_spans(old: Utterance, new: Utterance) -> Utterance:
    """Return ``new`` with the word times of ``old`` for the words that both have.

    A run of changed words keeps its times if it has as many words as before.
    """
    spans = old.word_spans()
    if not any(spans):
        return new
    return with_word_spans(new, carried(spans, old.reading.verbatim, new.reading.verbatim))


def carried(values: Sequence[Carried | None], old: Sequence[str], new: Sequence[str]) -> list[Carried | None]:
    """Return the value of each word of ``new``, taken from the words of ``old`` in the same place.

    >>> carried([TimeSpan(0, 1), TimeSpan(1, 2)], ["a", "b"], ["a", "x", "y", "b"])
    [TimeSpan(start_ms=0, end_ms=1), None, None, TimeSpan(start_ms=1, end_ms=2)]
    """
    new_values: list[Carried | None] = [None] * len(new)
    plain, plain_new = ([word.lower().strip("-") for word in words] for words in (old, new))
    for _, first, last, to, end in SequenceMatcher(None, plain, plain_new, autojunk=False).get_opcodes():
        if last - first == end - to:
            new_values[to:end] = values[first:last]
    return new_values


def _verify(start_ms: int, end_ms: int) -> None:
    if not 0 <= start_ms < end_ms <= _MAX_MS:
        raise EditError(f"{start_ms} to {end_ms} ms: the end must be after the start; drag it to the right")
