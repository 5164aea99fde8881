"""The order in which utterances were spoken, where that of the transcript differs from it a little.

People write a short answer after the long sentence that it interrupted. Such an utterance matches nothing at its own
place, and a run of unmatched words close by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsa_whisper.align.matching import DecodedWord, Matches
from lsa_whisper.align.text import TextWord
from lsa_whisper.chat import Utterance
from lsa_whisper.scoring.align import UNALIGNED

_FAR = 3  # utterances
_MIN_WORDS = 3  # "the dog" is spoken everywhere
_EQUAL = 0.75  # of the words, where free transcription has an utterance


def spoken_order(
    utterances: Sequence[Utterance], words: Sequence[TextWord], decoded: Sequence[DecodedWord], matches: Matches
) -> list[int]:
    """Return the indices of the utterances as they were spoken; bullets fix the order that they have.

    Args:
        utterances: of the transcript.
        words: their words.
        decoded: the words of free transcription.
        matches: which words were recognized where, in the order of the transcript.
    """
    count = len(utterances)
    if any(each.span for each in utterances):
        return list(range(count))
    own: list[list[int]] = [[] for _ in utterances]
    for index, word in enumerate(words):
        if not word.disfluent:
            own[word.utterance].append(index)
    recognized = [[at for index in each if (at := _recognized(index, words, decoded, matches)) >= 0] for each in own]
    firm = {at for at in range(count) if own[at] and len(recognized[at]) >= len(own[at]) / 2}
    taken = {place for at in firm for place in recognized[at]}
    places = {at: recognized[at][0] for at in firm}
    for at in sorted(set(range(count)) - firm):
        around = [places[near] for near in firm if abs(near - at) <= _FAR]
        keys = [words[index].key for index in own[at]]
        if len(keys) >= _MIN_WORDS and around:
            found = list(_runs(keys, decoded, range(min(around), max(around) + 1), taken))
            places |= {at: found[0]} if len(found) == 1 else {}
    return _sorted(count, places, firm)


def _recognized(index: int, words: Sequence[TextWord], decoded: Sequence[DecodedWord], matches: Matches) -> int:
    at = int(matches.alignment.to_hypothesis[index])
    return at if at != UNALIGNED and decoded[at].key == words[index].key else -1


def _runs(keys: Sequence[str], decoded: Sequence[DecodedWord], starts: range, taken: set[int]) -> Iterator[int]:
    for start in starts:
        run = range(start, min(start + len(keys), len(decoded)))
        equal = sum(decoded[at].key == key for at, key in zip(run, keys, strict=False) if at not in taken)
        if equal >= _EQUAL * len(keys):
            yield start


def _sorted(count: int, places: dict[int, int], firm: set[int]) -> list[int]:
    """Return the utterances by place; one without a place stays behind the one before it."""
    keys, last = [], -1
    for at in range(count):
        last = places[at] if at in firm else last
        keys.append((places.get(at, last), at))
    return [at for _, at in sorted(keys)]


def renumbered(words: Sequence[TextWord], order: Sequence[int]) -> list[TextWord]:
    """Return the words of utterances in another order, each with the index of its utterance in the transcript."""
    return [replace(word, utterance=order[word.utterance]) for word in words]
