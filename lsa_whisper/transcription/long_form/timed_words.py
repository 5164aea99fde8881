"""The words of a decoded segment with their tokens and times."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from lsa_whisper.decoding.decoder import DecodedSegment
from lsa_whisper.labels import begins_word, letters_of


@dataclass(frozen=True)
class PlacedWord:
    """A spoken word with the marks after it: tokens ``first`` to ``end`` of a segment, and its time in the window."""

    segment: int
    first: int
    end: int
    start_s: float
    end_s: float


def timed_words(segment: DecodedSegment, number: int = 0) -> list[PlacedWord]:
    """Return the words of a segment in order; without token times it counts as one word.

    >>> from lsa_whisper.decoding.decoder import TimedToken
    >>> timed = (TimedToken(" the", 0.0, 0.4), TimedToken(" [/]", 0.4, 0.5), TimedToken(" the", 0.8, 1.0))
    >>> words = timed_words(DecodedSegment("the [/] the", 0.0, 2.0, timed=timed))
    >>> [(word.first, word.end, word.end_s) for word in words]
    [(0, 2, 0.4), (2, 3, 1.0)]
    """
    if not segment.timed:
        return [PlacedWord(number, 0, 0, segment.start_s, segment.end_s)]
    texts = [token.text for token in segment.timed]
    begins = [at for at, begins in enumerate(begins_word(texts)) if begins]
    words = []
    for first, end in pairwise([0, *begins[1:], len(texts)]):
        tokens = [token for token in segment.timed[first:end] if letters_of(token.text)]
        if tokens:
            words.append(PlacedWord(number, first, end, tokens[0].start_s, tokens[-1].end_s))
    return words
