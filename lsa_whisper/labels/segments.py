"""The segments of speech recognizers, which end anywhere, as stretches of text that end with a sentence or a pause."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import ceil

from lsa_whisper.labels.sentence_marks import ends_sentence
from lsa_whisper.timespan import TimeSpan

MAX_PAUSE_MS = 1200
"""A pause of at least this length ends an utterance, with or without a mark. With OpenAI's base on 24 recordings of
real people, F1 of boundaries is .60 from .9 to 1.3 s, .59 with 1.5 s, and .58 with .8 s or without such a pause."""
_LEADING_WORDS = {
    "eng": "a an and are as at because but by for from i'm if is it's my of or our than that's the their to was were "
    "we're with you're your",
    "deu": "am aus bei das dass dem den der die ein eine einen einer für im in mein oder und vom von weil "
    "wenn zu zum zur",
    "fra": "à au aux avec c'est ce cette dans de des du en et la le les ma mes mon ou par pour que qui sa ses "
    "son sur un une",
    "spa": "a al con de del e el en la las los mi mis o para por porque que si su sus un una y",
    "ita": "a al alla che con da del della di e i il in la le lo mia mio o per se un una uno",
    "por": "a ao as com da de do e em meu minha na no o os ou para por porque que se um uma",
    "nld": "aan als dat de een en het in met mijn of om omdat op te van voor",
}
_LEADING_ON = {language: frozenset(words.split()) for language, words in _LEADING_WORDS.items()}
"""Words with which no utterance ends, by language."""
_MIN_MARKED = 0.3
"""Least share of texts with a final mark, in a recording or file whose marks tell anything: many captions have none."""
_MARK = re.compile(r"[^\s.][.?!。？！؟।]")
_NOT_SPOKEN = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|<[^<>]*>|[♩♪♫♬]+")
_DOTS = " .…"
_SNAP, _SNAP_SHARE = 2, 0.2
"""Letters, and share of a segment's letters, by which the words of a transcript may differ from the text of the segment
before its end: *5* is *five*."""


def groups_of_segments(
    texts: Sequence[str], spans: Sequence[TimeSpan | None], speakers: Sequence[object], language: str
) -> list[range]:
    """Return the runs of segments that are one stretch of text: text without a final mark goes on in the next one.

    A segment without times stands alone; ``speakers`` are compared only, and ``language`` is ISO 639-3.

    >>> spans = [TimeSpan(0, 1000), TimeSpan(1000, 2000), TimeSpan(2000, 3000)]
    >>> groups_of_segments(["there's nothing going", "else going on.", "Yes."], spans, [""] * 3, "eng")
    [range(0, 2), range(2, 3)]
    """
    marks = sum(map(bool, map(_MARK.search, texts)))
    if marks < _MIN_MARKED * len(texts):
        return [range(at, at + 1) for at in range(len(texts))]
    starts = [0] if texts else []
    spoken = [text[:1].isalnum() or any(map(str.isalnum, _NOT_SPOKEN.sub(" ", text))) for text in texts]
    for at, (before, after) in enumerate(pairwise(texts), start=1):
        left, right = spans[at - 1], spans[at]
        near = left is not None and right is not None and right.start_ms - left.end_ms < MAX_PAUSE_MS
        same = near and spoken[at - 1] and spoken[at] and speakers[at - 1] == speakers[at]
        if not same or not _is_unfinished(before, after, language):
            starts.append(at)
    return [range(*pair) for pair in pairwise([*starts, len(texts)])]


def joined(texts: Sequence[str]) -> str:
    """Return the text of segments that belong together; dots that lead a segment on are written once.

    >>> joined(["I want...", "...it."])
    'I want... it.'
    """
    return " ".join([texts[0], *(text.lstrip(_DOTS) for text in texts[1:])])


def _is_unfinished(before: str, after: str, language: str) -> bool:
    last, following = before.rsplit(maxsplit=1)[-1], after.split(maxsplit=1)[0]
    if last.rstrip("\"'”’»").endswith(("...", "…")):
        return following.startswith(("...", "…"))
    return last[-1] not in "♩♪♫♬–—" and not last.endswith("--") and not ends_sentence(last, following, language)


def runs_between_pauses(words: Sequence[tuple[str, TimeSpan | None]], language: str) -> list[range]:
    """Return the runs of ``words`` between pauses that end an utterance, whether or not a mark stands there.

    No utterance ends in *the* or *and*: speakers pause there, too, to find the next word.

    >>> times = [TimeSpan(0, 300), TimeSpan(2000, 2300), TimeSpan(4000, 4300)]
    >>> runs_between_pauses(list(zip(["yes", "the", "dog"], times)), "eng")
    [range(0, 1), range(1, 3)]
    """
    leading = _LEADING_ON.get(language, frozenset())
    starts = [0] if words else []
    end_ms: int | None = None
    for at, (_, span) in enumerate(words):
        pause_ms = span.start_ms - end_ms if span and end_ms is not None else 0
        if pause_ms >= MAX_PAUSE_MS and words[at - 1][0].casefold() not in leading:
            starts.append(at)
        end_ms = span.end_ms if span else end_ms
    return [range(*pair) for pair in pairwise([*starts, len(words)])]


def sentences_of(words: Sequence[str], language: str) -> list[range]:
    """Return the runs of ``words`` that are a sentence each, by their marks.

    >>> sentences_of(["Mr.", "Smith.", "Yes"], "eng")
    [range(0, 2), range(2, 3)]
    """
    around = zip(words, [*words[1:], ""], ["", *words[:-1]], strict=True)
    ends = (
        at for at, (word, after, before) in enumerate(around, start=1) if ends_sentence(word, after, language, before)
    )
    edges = sorted({0, *ends, len(words)})
    return [range(*pair) for pair in pairwise(edges)]


def part_spans(parts: Sequence[int], segments: Sequence[tuple[int, TimeSpan]]) -> list[TimeSpan]:
    """Return the times of the parts of a text by their lengths, within segments whose times are known.

    Of each part the number of letters is given, and of each segment that the text was joined from the number and the
    times.

    >>> part_spans([5, 10], [(10, TimeSpan(0, 1000)), (5, TimeSpan(3000, 4000))])
    [TimeSpan(start_ms=0, end_ms=500), TimeSpan(start_ms=500, end_ms=4000)]
    """
    borders = [0, *accumulate(length for length, _ in segments)]
    scale = borders[-1] / (sum(parts) or 1)
    spans = []
    for begin, end in pairwise([0.0, *(scale * edge for edge in accumulate(parts))]):
        first = min(_place_of(begin, borders), len(segments) - 1)
        last = _place_of(end, borders)
        at_ms = _time_at(begin, borders, segments, int(first))
        end_ms = _time_at(end, borders, segments, max(ceil(last) - 1, int(first)))
        spans.append(TimeSpan(at_ms, max(at_ms, end_ms)))
    return spans


def _place_of(edge: float, borders: Sequence[int]) -> float:
    """Return the index of the border between segments at an edge, or a half more than that of the segment around it."""
    nearest = min(range(len(borders)), key=lambda at: abs(borders[at] - edge))
    around = [later - earlier for earlier, later in pairwise(borders[max(nearest - 1, 0) : nearest + 2])]
    if abs(borders[nearest] - edge) <= min(_SNAP, _SNAP_SHARE * min(around)):
        return nearest
    return bisect_left(borders, edge) - 0.5


def _time_at(edge: float, borders: Sequence[int], segments: Sequence[tuple[int, TimeSpan]], at: int) -> int:
    length, span = segments[at]
    share = min(max((edge - borders[at]) / (length or 1), 0.0), 1.0)
    return span.start_ms + round(share * span.duration_ms)
