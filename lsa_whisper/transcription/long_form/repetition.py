"""Evidence that a repetition comes from the model and not from the speaker.

- *Time*: speaking the copies would take longer than the audio under them.
- *No end*: the length limit stopped the text while it was repeating.
- *No speech*: the same sentence is repeated where there is no speech.
- *Compression and probability*: zlib compresses the text to less than 1 / 2.4 (OpenAI's threshold), and the model
  either assigned it a very low probability, or wrote it with near certainty at more than half of the fastest speaking
  rate. Neither is evidence alone: people say "no" twenty times, and a good model is certain of it.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Sequence

from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow

SpeechIntervals = Sequence[tuple[float, float]]
"""Start and end of each stretch of speech in a window, in seconds from its start."""

_RUN = re.compile(r"(.{1,80}?)\1{3,}", re.DOTALL)  # four or more copies
_COPIES = 4
_MAX_PERIOD = 3  # sentences that repeat as a group
_WORDS_PER_S = 8.0
_LETTERS_PER_S = 25.0
MAX_COMPRESSION = 2.4
"""Compression ratio above which a text repeats itself (OpenAI's threshold)."""
_COPYING = -0.05
_TOLERANCE_S = 0.3  # error of a timestamp
_UNSPOKEN_SHARE = 0.5
"""Share of the shortest speaking time below which a copied sentence has no speech under it. With all of that time, 11
of 256 true copies were cut, those of six words in 0.76 s (``benchmarks/repetition_rules.py``)."""


def find_copies(segment: DecodedSegment) -> list[re.Match[str]]:
    """Return the runs of four or more copies inside a segment, of a person or of a loop; group 1 is the copy."""
    return list(_RUN.finditer(segment.text))


def find_loops(segment: DecodedSegment, result: DecodedWindow, speech: SpeechIntervals | None) -> list[re.Match[str]]:
    """Return the runs of copies inside a segment that are loops by time, or because the text has no end."""
    unending = not result.complete and segment is result.segments[-1]
    return [
        run
        for run in find_copies(segment)
        if min_speaking_s(run[0]) > speech_s(segment, speech)
        or (unending and run.end() >= len(segment.text) - len(run[1]))
    ]


def is_degenerate(segment: DecodedSegment) -> bool:
    """Return whether a segment with copies is a loop by its compression ratio and log-probability.

    >>> is_degenerate(DecodedSegment("no " * 24 + ".", 0, 8, avg_logprob=-0.02))
    False
    >>> is_degenerate(DecodedSegment("no " * 24, 0, 8, avg_logprob=-1.4))
    True
    """
    if compression_ratio(segment.text) <= MAX_COMPRESSION or not _RUN.search(segment.text):
        return False
    is_fast = 2 * min_speaking_s(segment.text) > segment.end_s - segment.start_s
    return segment.avg_logprob < LOGPROB_THRESHOLD or (is_fast and _COPYING < segment.avg_logprob < 0)


def repeated_segments(result: DecodedWindow, speech: SpeechIntervals | None) -> list[int]:
    """Return the indices of segments that repeat earlier ones where there is no speech.

    At least four copies in a row, of up to three sentences as a group; the first copy is not included.
    """
    if speech is None:
        return []
    texts = [" ".join(re.findall(r"\w+", segment.text.lower())) for segment in result.segments]
    copies = sorted(set(_copies(texts)))
    return [at for at in copies if _UNSPOKEN_SHARE * min_speaking_s(texts[at]) > speech_s(result.segments[at], speech)]


def _copies(texts: Sequence[str]) -> Iterator[int]:
    for period in range(1, _MAX_PERIOD + 1):
        start = 0
        while start + period < len(texts):
            end = start + period
            while end < len(texts) and texts[end] and texts[end] == texts[end - period]:
                end += 1
            if end - start >= _COPIES * period:
                yield from range(start + period, end)
            start = max(start + 1, end - period)


def copies_note(count: int, text: str) -> str:
    """Return the entry of :attr:`~lsa_whisper.decoding.decoder.DecodedWindow.removed` for copies of a text.

    >>> copies_note(1, "go away"), copies_note(36, "log")
    ('once "go away"', '36 times "log"')
    """
    return f'{"once" if count == 1 else f"{count} times"} "{text}"'


def compression_ratio(text: str) -> float:
    """Return the size of a text divided by its size after zlib compression.

    >>> compression_ratio("I want the red ball .") < 1 < compression_ratio("the dog " * 20)
    True
    """
    data = text.encode("utf-8", "surrogatepass")
    return len(data) / len(zlib.compress(data))


def min_speaking_s(text: str) -> float:
    """Return the shortest time in which ``text`` can be spoken; marks take no time."""
    words = re.sub(r"\[x? ?\d+\]|[^\w\s']", " ", text)
    letters = sum(character.isalnum() for character in words)
    return max(len(words.split()) / _WORDS_PER_S, letters / _LETTERS_PER_S, 1e-2)


def speech_s(segment: DecodedSegment, speech: SpeechIntervals | None) -> float:
    """Return the duration of a segment, at most the speech in and around it."""
    length_s = segment.end_s - segment.start_s
    if speech is None:
        return length_s
    return min(length_s, speech_between_s(speech, segment.start_s - _TOLERANCE_S, segment.end_s + _TOLERANCE_S))


def speech_between_s(speech: SpeechIntervals, first_s: float, last_s: float) -> float:
    """Return how much speech there is between two points in time, in seconds.

    >>> speech_between_s([(0.0, 1.0), (1.5, 4.0)], 0.5, 2.0)
    1.0
    """
    return sum(max(0.0, min(end, last_s) - max(start, first_s)) for start, end in speech)


def cut_speech(speech: SpeechIntervals, first_s: float, last_s: float = math.inf) -> SpeechIntervals:
    """Return the speech between two points in time, counted from the first of them.

    >>> cut_speech([(0.0, 1.0), (1.5, 4.0)], 2.0), cut_speech([(0.0, 1.0), (1.5, 4.0)], 0.5, 2.0)
    (((0.0, 2.0),), ((0.0, 0.5), (1.0, 1.5)))
    """
    before = [(start, min(end, last_s)) for start, end in speech if start < last_s]
    return tuple((max(start - first_s, 0.0), end - first_s) for start, end in before if end > first_s)
