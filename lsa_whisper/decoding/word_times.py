"""Token times -> word times, in order and inside their utterance.

Decoded text and transcript differ: codes are not words, numbers are spelled out, broken labels are repaired. So letters
are aligned, and a word has the time of its letters; a word without an aligned letter has no time. A word with a block
or a prolonged first sound begins with the sign for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.chat import Utterance
from lsa_whisper.decoding.decoder import TimedToken
from lsa_whisper.labels import is_onset, letters_of, without_codes
from lsa_whisper.timespan import TimeSpan

TimedWord = tuple[str, TimeSpan]
_FRAME_MS = 20


def align_words(
    utterances: Sequence[Utterance], timed: Sequence[TimedToken], begin_ms: int = 0
) -> list[list[TimedWord]]:
    """Return the words of each utterance that have a time.

    The utterances are those of a segment, ``timed`` the tokens of its text, whose times begin at ``begin_ms``.

    >>> from lsa_whisper.chat import utterance
    >>> times = [("u", 0.1, 0.2), ("m", 0.2, 0.4), (" I", 0.5, 0.9), (".", 1, 1)]
    >>> tokens = [TimedToken(*each) for each in times]
    >>> align_words([utterance("PAR", "&-um I .")], tokens)
    [[('um', TimeSpan(start_ms=100, end_ms=400)), ('I', TimeSpan(start_ms=500, end_ms=900))]]
    """
    if not timed:
        return [[] for _ in utterances]
    from rapidfuzz.distance import Indel

    letters, tokens = _letters(timed)
    words = [(number, word) for number, utterance in enumerate(utterances) for word in utterance.verbatim()]
    text = "".join(letters_of(word) for _, word in words)
    token_of: dict[int, int] = {}
    for part in Indel.opcodes(letters, text):
        if part.tag == "equal":
            token_of |= dict(zip(range(part.dest_start, part.dest_end), tokens[part.src_start :], strict=False))
    result: list[list[TimedWord]] = [[] for _ in utterances]
    at = 0
    for number, word in words:
        end = at + len(letters_of(word))
        matched = [token_of[letter] for letter in range(at, end) if letter in token_of]
        if matched:
            begin = matched[0] - (matched[0] > 0 and is_onset(timed[matched[0] - 1].text))
            first, last = timed[begin], timed[matched[-1]]
            span = TimeSpan(begin_ms + round(1000 * first.start_s), begin_ms + round(1000 * last.end_s))
            result[number].append((word, span))
        at = end
    return result


def _letters(timed: Sequence[TimedToken]) -> tuple[str, list[int]]:
    """Return the letters that are spoken, and the token of each."""
    texts = [letters_of(text) for text in without_codes([token.text for token in timed])]
    return "".join(texts), [number for number, text in enumerate(texts) for _ in text]


def adjacent_spans(spans: Sequence[TimeSpan], words: Sequence[Sequence[TimedWord]]) -> list[TimeSpan]:
    """Return adjacent spans, each starting with its first word if that has a time.

    >>> adjacent_spans([TimeSpan(0, 500), TimeSpan(500, 1000)], [[], [("hi", TimeSpan(820, 900))]])
    [TimeSpan(start_ms=0, end_ms=820), TimeSpan(start_ms=820, end_ms=1000)]
    """
    edges = [spans[0].start_ms] if spans else []
    for number in range(1, len(spans)):
        begin = words[number][0][1].start_ms if words[number] else spans[number].start_ms
        edges.append(max(edges[-1], min(begin, spans[-1].end_ms)))
    return [TimeSpan(*edge) for edge in zip(edges, [*edges[1:], spans[-1].end_ms], strict=True)] if spans else []


def spans_of_words(spans: Sequence[TimeSpan], words: Sequence[Sequence[TimedWord]]) -> list[TimeSpan]:
    """Return spans from the first to the last word of each utterance; one without a timed word keeps its span.

    >>> spans_of_words([TimeSpan(0, 500), TimeSpan(500, 9000)], [[], [("hi", TimeSpan(820, 900))]])
    [TimeSpan(start_ms=0, end_ms=500), TimeSpan(start_ms=820, end_ms=900)]
    """
    return [
        TimeSpan(timed[0][1].start_ms, timed[-1][1].end_ms) if timed else span
        for span, timed in zip(spans, words, strict=True)
    ]


def fit_words(words: Sequence[TimedWord], span: TimeSpan) -> list[TimedWord]:
    """Return the words moved into ``span``, in order and without overlap; none if the span is too short.

    A word without duration gets one encoder frame, or its share if the span is too short for that.

    >>> fit_words([("a", TimeSpan(0, 300)), ("b", TimeSpan(250, 250)), ("c", TimeSpan(990, 2000))], TimeSpan(100, 1000))
    [('a', TimeSpan(start_ms=100, end_ms=300)), ('b', TimeSpan(start_ms=300, end_ms=320)),
     ('c', TimeSpan(start_ms=980, end_ms=1000))]
    """
    if span.duration_ms < len(words):
        return []
    result: list[TimedWord] = []
    free, least = span.start_ms, min(_FRAME_MS, span.duration_ms // max(1, len(words)))
    for number, (word, at) in enumerate(words):
        last = span.end_ms - least * (len(words) - 1 - number)  # room for the words that follow
        start = min(max(at.start_ms, free), last - least)
        end = min(max(at.end_ms, start + least), last)
        result.append((word, TimeSpan(start, end)))
        free = end
    return result
