"""Decode again across the border of two windows where an utterance may have been cut.

Windows are cut in silence, but a pause inside an utterance can be longer than the silence between two utterances. An
utterance that is cut is recognized in neither window: the model ends each half as if it were whole, and the pause is
lost. Therefore the last segment before a border and the first one after it are also decoded as one window, where they
are close together and the model is not sure of both. The result replaces them if the model is surer of it, or if it
has all their words and a passage more: a model that skips a passage is surer of the rest than of the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.partial import WindowResult
from lsa_whisper.decoding.text_limits import NEARLY_RIGHT_LOGPROB
from lsa_whisper.labels.token_words import without_codes
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.long_form.repair import mean_logprob

_FARTHEST_MS = 1500
"""More silence than this between two segments is taken for the end of an utterance."""
_SURE_LOGPROB = -0.15
"""Mean log-probability above which a segment is taken for whole: what is cut is less probable."""
_SURER = 0.03
"""By how much the mean log-probability of the tokens has to rise."""
_PASSAGE = 3
"""Words that a model skips together; fewer may be invented."""
_MARGIN_MS = 200


@dataclass(frozen=True)
class _Border:
    """The last segment of a window, the first one of the next, and the span that is decoded again."""

    left: int
    before: DecodedSegment
    after: DecodedSegment
    span: TimeSpan


def decode_across_borders(
    windows: Sequence[WindowResult],
    decode: Callable[[Sequence[TimeSpan]], Sequence[DecodedWindow]],
    *,
    context_s: float,
    at_once: int,
) -> list[WindowResult]:
    """Return the windows, those with a cut utterance replaced: it is then the last of the left window.

    ``decode`` decodes spans of the recording, ``at_once`` of them together, which does not affect the result; no window
    of the decoder is longer than ``context_s``.
    """
    merged = list(windows)
    pairs = enumerate(pairwise(windows))
    borders = [border for left, pair in pairs if (border := _border(left, *pair, context_s))]
    replaced = -1  # the window whose first segment belongs to an utterance that was joined
    for first in range(0, len(borders), at_once):
        batch = borders[first : first + at_once]
        for border, result in zip(batch, decode([border.span for border in batch]), strict=True):
            (left_span, left), (right_span, right) = merged[border.left : border.left + 2]
            only = replaced == border.left and len(windows[border.left][1].segments) == 1
            if only or not _is_better(result, border, left, right):
                continue
            offset_s = (border.span.start_ms - left_span.start_ms) / 1000
            segments = (*left.segments[:-1], *(segment.shifted(offset_s) for segment in result.segments))
            logprob = mean_logprob(left, result)
            merged[border.left] = (left_span, replace(left, segments=segments, avg_logprob=logprob))
            merged[border.left + 1] = (right_span, replace(right, segments=right.segments[1:]))
            replaced = border.left + 1
    return merged


def _border(left: int, before: WindowResult, after: WindowResult, context_s: float) -> _Border | None:
    """Return the border between two windows if an utterance may have been cut there."""
    (left_span, left_result), (right_span, right_result) = before, after
    if not all(result.segments and result.complete and not result.retried for result in (left_result, right_result)):
        return None
    last, first = left_result.segments[-1], right_result.segments[0]
    if min(last.avg_logprob, first.avg_logprob) > _SURE_LOGPROB:
        return None
    last_ends_ms = left_span.start_ms + 1000 * last.end_s
    first_begins_ms = right_span.start_ms + 1000 * first.start_s
    if first_begins_ms - last_ends_ms > _FARTHEST_MS:
        return None
    # A margin as at the edges of other windows, but without words of the neighboring segments.
    earliest = left_result.segments[-2].end_s if len(left_result.segments) > 1 else 0.0
    latest = right_result.segments[1].start_s if len(right_result.segments) > 1 else right_span.duration_ms / 1000
    start_ms = round(left_span.start_ms + max(1000 * last.start_s - _MARGIN_MS, 1000 * earliest))
    end_ms = round(right_span.start_ms + min(1000 * first.end_s + _MARGIN_MS, 1000 * latest))
    span = TimeSpan(start_ms, max(end_ms, start_ms + 1))
    return _Border(left, last, first, span) if span.duration_ms <= 1000 * context_s else None


def _is_better(result: DecodedWindow, border: _Border, left: DecodedWindow, right: DecodedWindow) -> bool:
    """Return whether a result is to replace two segments: in their language, and clearly more probable or fuller."""
    if not result.segments or not result.complete or result.retried or result.silent:
        return False
    if not result.language == left.language == right.language:
        return False
    parts = (border.before, border.after)
    return _mean(result.segments) > _mean(parts) + _SURER or _is_fuller(result.segments, parts)


def _is_fuller(segments: Sequence[DecodedSegment], parts: Sequence[DecodedSegment]) -> bool:
    """Return whether segments are nearly right and have all words of the others, in order, and a passage more.

    >>> skipped, whole = (DecodedSegment(text, 0, 3, -0.3) for text in ("a very nice dog .", "it is a very nice dog ."))
    >>> _is_fuller([whole], [skipped]), _is_fuller([skipped], [whole])
    (False, False)
    >>> _is_fuller([replace(whole, text="I think it is a very nice dog .")], [skipped])
    True
    >>> _is_fuller([replace(whole, text="*CHI: it is a very nice dog .")], [skipped])  # a speaker code is not a word
    False
    """
    whole, old = _words(segments), _words(parts)
    words = iter(whole)
    if len(whole) < len(old) + _PASSAGE or not all(word in words for word in old):
        return False
    return all(segment.avg_logprob >= NEARLY_RIGHT_LOGPROB for segment in segments)


def _words(segments: Sequence[DecodedSegment]) -> list[str]:
    """Return the spoken words, without speaker codes and audible events."""
    return [
        word
        for text in without_codes([segment.text for segment in segments])
        for word in re.findall(r"[\w']+", text.lower())
    ]


def _mean(segments: Sequence[DecodedSegment]) -> float:
    counts = [max(1, len(segment.logprobs)) for segment in segments]
    return sum(count * part.avg_logprob for count, part in zip(counts, segments, strict=True)) / sum(counts)
