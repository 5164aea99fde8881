"""Retraces in an utterance: groups of words that were taken back, each with its code and a confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lsa_whisper.retraces.tagger import KINDS, THRESHOLD, Tagger, WordProbabilities
from lsa_whisper.retraces.words import SpokenWord

EMPHATIC = frozenset(("very", "really", "bye", "no", "yeah", "yes", "ha", "so", "night", "there", "knock", "choo"))
"""Words that fluent speakers repeat for emphasis."""


@dataclass(frozen=True, slots=True)
class Retrace:
    """Words ``first`` to ``last`` (inclusive) were taken back; ``code`` says how, ``confidence`` how likely."""

    first: int
    last: int
    code: str
    confidence: float


def find_retraces(words: Sequence[SpokenWord], tagger: Tagger, threshold: float = THRESHOLD) -> list[Retrace]:
    """Return the retraces of an utterance in order; they do not overlap.

    Args:
        words: The utterance, from :func:`~lsa_whisper.retraces.words.spoken_words`.
        tagger: A trained model.
        threshold: The least probability of a word in a retrace, 0 to 1. Higher values give fewer and surer marks.

    A group at the end of an utterance is not a retrace, because nothing takes its place; neither are cut-off words
    alone, which CHAT marks by ``&+``, and words such as *very* that speakers repeat on purpose.
    """
    found = tagger.probabilities(words)
    return [
        part
        for first, last in _groups(found, threshold)
        if last + 1 < len(words)
        for part in _copies(words, _retrace(found, first, last))
        if not all(word.cut_off for word in words[part.first : part.last + 1]) and not _is_emphasis(words, part)
    ]


def _is_emphasis(words: Sequence[SpokenWord], retrace: Retrace) -> bool:
    word, after = words[retrace.first], words[retrace.last + 1]
    return retrace.code == "[/]" and word.text in EMPHATIC and retrace.first == retrace.last and not after.after_filler


def _groups(found: Sequence[WordProbabilities], threshold: float) -> Iterator[tuple[int, int]]:
    """Yield runs of likely words; a new run starts where a retrace probably begins."""
    first = None
    for at, word in enumerate(found):
        likely = word.taken_back >= threshold
        if first is not None and (not likely or word.begins > word.taken_back / 2):
            yield first, at - 1
            first = None
        if likely and first is None:
            first = at
    if first is not None:
        yield first, len(found) - 1


def _retrace(found: Sequence[WordProbabilities], first: int, last: int) -> Retrace:
    inside = found[first : last + 1]
    kind = max(inside[0].kinds, key=lambda name: sum(word.kinds[name] for word in inside))
    return Retrace(first, last, KINDS[kind], sum(word.taken_back for word in inside) / len(inside))


def _copies(words: Sequence[SpokenWord], retrace: Retrace) -> list[Retrace]:
    """Split ``I I I`` before a further *I* into single repetitions, as CHAT writes them: ``I [/] I [/] I [/] I``."""
    texts = [word.text for word in words]
    parts: list[Retrace] = []
    at = retrace.first
    while at <= retrace.last:
        room = retrace.last + 1 - at
        length = next((n for n in range(1, room) if _same_again(texts, at, n)), room)
        code = "[/]" if _same_again(texts, at, length) else "[//]" if retrace.code == "[/]" else retrace.code
        parts.append(replace(retrace, first=at, last=at + length - 1, code=code))
        at += length
    return parts


def _same_again(texts: Sequence[str], at: int, length: int) -> bool:
    return texts[at : at + length] == texts[at + length : at + 2 * length]
