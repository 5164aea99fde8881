"""The evidence by which a repetition is the model's and not the speaker's.

- *Time*: the copies take longer to say than the sound under them lasts.
- *No end*: the text was stopped by its limit of length while it repeated.
- *No speech*: the same sentence stands again and again over stretches where nobody speaks.
- *Compression and doubt*: a text that zlib packs to less than 1 / 2.4 (OpenAI's limit) and that the model was either
  very unsure of, or wrote with the certainty of copying at more than half of the fastest speed there is. Neither alone
  says anything: people say "no" twenty times, and a good model is sure of it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow

SpeechIntervals = Sequence[tuple[float, float]]
"""Where in a window somebody speaks, in seconds after its start."""

_RUN = re.compile(r"(.{1,80}?)\1{3,}", re.DOTALL)  # four copies or more
_COPIES = 4
_LONGEST_PERIOD = 3  # sentences that come round together
_WORDS_PER_S = 8.0
_LETTERS_PER_S = 25.0
_COMPRESSION = 2.4
_UNSURE = -1.0
_COPYING = -0.05
_AROUND_S = 0.3  # a timestamp may miss its sound by as much


def loops(segment: DecodedSegment, result: DecodedWindow, spoken: SpeechIntervals | None) -> list[re.Match[str]]:
    """Return the runs of copies inside a segment for which time, or a text without end, says loop."""
    unending = not result.complete and segment is result.segments[-1]
    return [
        run
        for run in _RUN.finditer(segment.text)
        if min_speaking_s(run[0]) > speech_s(segment, spoken)
        or (unending and run.end() >= len(segment.text) - len(run[1]))
    ]


def is_degenerate(segment: DecodedSegment) -> bool:
    """Tell whether compression and log-probability together say that a segment with copies is a loop.

    >>> is_degenerate(DecodedSegment("no " * 24 + ".", 0, 8, avg_logprob=-0.02))
    False
    >>> is_degenerate(DecodedSegment("no " * 24, 0, 8, avg_logprob=-1.4))
    True
    """
    if compression_ratio(segment.text) <= _COMPRESSION or not _RUN.search(segment.text):
        return False
    hurried = 2 * min_speaking_s(segment.text) > segment.end_s - segment.start_s
    return segment.avg_logprob < _UNSURE or (hurried and _COPYING < segment.avg_logprob < 0)


def repeated_segments(result: DecodedWindow, spoken: SpeechIntervals | None) -> list[int]:
    """Return the segments, by place, that say again what stands before them where nobody speaks.

    Four copies in a row or more, of up to three sentences that come round; the first copy is not among them.
    """
    if spoken is None:
        return []
    said = [" ".join(re.findall(r"\w+", segment.text.lower())) for segment in result.segments]
    again = sorted(set(_copies(said)))
    return [at for at in again if min_speaking_s(said[at]) > speech_s(result.segments[at], spoken)]


def _copies(said: Sequence[str]) -> Iterator[int]:
    for period in range(1, _LONGEST_PERIOD + 1):
        start = 0
        while start + period < len(said):
            end = start + period
            while end < len(said) and said[end] and said[end] == said[end - period]:
                end += 1
            if end - start >= _COPIES * period:
                yield from range(start + period, end)
            start = max(start + 1, end - period)


def compression_ratio(text: str) -> float:
    """Return how many bytes of a text go into one byte of its zlib packing.

    >>> compression_ratio("I want the red ball .") < 1 < compression_ratio("the dog " * 20)
    True
    """
    data = text.encode("utf-8", "surrogatepass")
    return len(data) / len(zlib.compress(data))


def min_speaking_s(text: str) -> float:
    """Return the least time in which somebody could say ``text``; marks, however they are spelled, take none."""
    words = re.sub(r"\[x? ?\d+\]|[^\w\s']", " ", text)
    letters = sum(character.isalnum() for character in words)
    return max(len(words.split()) / _WORDS_PER_S, letters / _LETTERS_PER_S, 1e-2)


def speech_s(segment: DecodedSegment, spoken: SpeechIntervals | None) -> float:
    """Return how long a segment lasts, only counting where somebody speaks in and around it."""
    length_s = segment.end_s - segment.start_s
    if spoken is None:
        return length_s
    first_s, last_s = segment.start_s - _AROUND_S, segment.end_s + _AROUND_S
    heard = sum(max(0.0, min(end, last_s) - max(start, first_s)) for start, end in spoken)
    return min(length_s, heard)
