"""Retraces that the grammar shows, where the words that were taken back are too rare for a tagger to learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.retraces.word_kinds import CLOSED_CLASSES, word_kind
from lsa_whisper.retraces.words import SpokenWord

FRAME_CONFIDENCE = 0.33
"""How sure these are: annotators marked 8 of the 24 in 28 meetings, and left most of the others without any type."""

_SUBJECTS = frozenset(["i", "you", "he", "she", "it", "we", "they"])
_BE = frozenset(CLOSED_CLASSES["be"].split())
_VERBS = ("be", "have", "do", "modal", "verb", "verb-s", "past")
_NOT_A_VERB = "like"
_MAX_FRAME = 4


def frames(words: Sequence[SpokenWord]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of what was taken back.

    These are a subject with its verb before the same verb with another subject (*he went – she went*), and a form of
    *be* with a bare verb before a verb in the past (*was go – wanted*).

    >>> [list(frames([SpokenWord(word) for word in text.split()])) for text in ("he went she went", "it was go wanted")]
    [[(0, 1)], [(1, 2)]]
    """
    texts = [word.text for word in words]
    if _BE.isdisjoint(texts) and len(_SUBJECTS.intersection(texts)) < 2:
        return
    kinds = list(map(word_kind, texts))
    for first in range(len(words) - 2):
        if kinds[first] == "be":
            length = 2 if kinds[first + 1 : first + 3] == ["verb", "past"] else 0
        else:
            length = _length_of_frame(texts[first : first + 2 * _MAX_FRAME], kinds[first + 1])
        if length and not any(word.cut_off for word in words[first : first + 3]):
            yield first, first + length - 1


def _length_of_frame(texts: Sequence[str], kind: str) -> int:
    """Return how many of the words from a subject on are repeated behind another subject; 0 for none.

    Args:
        texts: The words, of which the first may be the subject.
        kind: The kind of the second one.
    """
    if texts[0] not in _SUBJECTS or kind not in _VERBS or texts[1] == _NOT_A_VERB:
        return 0
    for length in range(min(_MAX_FRAME, len(texts) // 2), 1, -1):
        subject = texts[length]
        if subject in _SUBJECTS and subject != texts[0] and texts[1:length] == texts[length + 1 : 2 * length]:
            return length
    return 0
