"""Screening of utterances: usable for training, or rejected with a reason.

A rejected utterance keeps its span, because its words are in the audio and no window may contain them. An utterance
without a valid bullet is assigned the whole gap between its neighbors, because it was spoken somewhere in that gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lsa_whisper.chat import Utterance
from lsa_whisper.labels import Labels, encode
from lsa_whisper.preparation.peak_levels import SILENT_PEAK, PeakLevels
from lsa_whisper.preparation.split_utterance import split_utterance
from lsa_whisper.timespan import TimeSpan

WORDLESS = "no words"
NO_BULLET = "no bullet"
EMPTY_SPAN = "zero or negative span"
PAST_END = "past the end of the file"
TOO_LONG = "longer than the context"
TOO_FAST = "too fast"
TOO_SLOW = "too slow"
SILENT = "silent audio"
CLIPPED = "clipped audio"
DUPLICATE = "duplicate"
OVERLAPS = "overlaps rejected speech"
NOT_REVIEWED = "not reviewed"
TOO_MUCH_TEXT = "text over the decoder's length"

WITHOUT_SPEECH = frozenset((WORDLESS, DUPLICATE))
"""Reasons that leave no untranscribed speech: the audio of such an utterance stays usable."""
_MAX_WORDS_PER_S = 9.0
"""Highest speech rate; above it the bullet is wrong (fast adult speech has about 6)."""
_MIN_WORDS_PER_S, _SLOW_AFTER_S = 0.2, 10.0
"""Lowest speech rate beyond so many seconds; below it the bullet contains other material. Pauses up to this duration
count as speech, above all in aphasia."""
_CLIPPED_SHARE = 0.05
"""A span with a larger share of samples at full scale is too distorted."""
_PAST_END_MS = 100
"""A bullet may end this much after the recording, because times are rounded and codecs drop frames."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An utterance with its ``span``, its label ``text``, its number of ``words``, and the ``reason`` for rejection."""

    utterance: Utterance
    span: TimeSpan
    text: str
    words: int
    reason: str | None = None

    @property
    def breaks(self) -> bool:
        """Whether its span contains speech without a usable transcript."""
        return self.reason is not None and self.reason not in WITHOUT_SPEECH


def screen_utterances(
    utterances: Sequence[Utterance],
    levels: PeakLevels,
    labels: Labels,
    *,
    context_ms: int,
    reviewed: bool = False,
) -> list[Candidate]:
    """Return one candidate per utterance, in order of time; those without times are between their neighbors.

    An utterance longer than the context gives one candidate per part, if it can be split. With ``reviewed``, only
    utterances that a person has marked as reviewed are accepted.
    """
    places = _places(utterances, levels.duration_ms)
    seen: set[tuple[str, TimeSpan, str]] = set()
    screened = []
    pairs = zip(utterances, places, strict=True)
    for utterance, place, text in (part for own, at in pairs for part in _parts(own, at, labels, context_ms)):
        words = len(utterance.verbatim())
        reason = _reason(utterance, text, words, levels, context_ms)
        if reviewed and reason is None and not utterance.reviewed:
            reason = NOT_REVIEWED
        key = (utterance.speaker, place, utterance.text)
        if reason is None and key in seen:
            reason = DUPLICATE
        seen.add(key)
        end_ms = max(place.start_ms, min(place.end_ms, levels.duration_ms))
        screened.append(Candidate(utterance, TimeSpan(place.start_ms, end_ms), text, words, reason))
    screened.sort(
        key=lambda candidate: candidate.span.start_ms
    )  # stable: equal start times keep the transcript's order
    return screened


def _parts(
    utterance: Utterance, place: TimeSpan, labels: Labels, context_ms: int
) -> list[tuple[Utterance, TimeSpan, str]]:
    """Return ``utterance``, or its parts if it is too long, each with its span and label."""
    span = utterance.span
    long = span is not None and span.duration_ms > context_ms and not utterance.unusable()
    pieces = split_utterance(utterance, context_ms, labels) if long else []
    parts = [(piece.utterance, piece.utterance.span or place, piece.label) for piece in pieces]
    return parts or [(utterance, place, encode(utterance, labels))]


def _places(utterances: Sequence[Utterance], duration_ms: int) -> list[TimeSpan]:
    """Return the span of each utterance: its bullet, or the gap between its neighbors' bullets.

    If the gap is too short for the words, they overlapped a neighbor: then the span covers the gap and both neighbors.
    """
    timed = [utterance.span if utterance.span and utterance.span.duration_ms > 0 else None for utterance in utterances]
    end = TimeSpan(duration_ms, duration_ms)
    following = []
    for span in reversed(timed):
        following.append(end)
        end = span or end
    places, before = [], TimeSpan(0, 0)
    for utterance, span, after in zip(utterances, timed, reversed(following), strict=True):
        place = span
        if place is None:
            needed_ms = 1000 * (len(utterance.verbatim()) - 0.5) / _MAX_WORDS_PER_S
            place = TimeSpan(before.end_ms, after.start_ms)
            place = before | after if place.duration_ms < max(0, needed_ms) else place
        places.append(place)
        before = span or before
    return places


def _reason(utterance: Utterance, text: str, words: int, levels: PeakLevels, context_ms: int) -> str | None:
    """Return why ``utterance`` is rejected, or ``None``."""
    if unusable := utterance.unusable():
        return unusable
    if not text or not words:
        return WORDLESS
    span = utterance.span
    if span is None:
        return NO_BULLET
    if span.duration_ms <= 0:
        return EMPTY_SPAN
    if span.end_ms > levels.duration_ms + _PAST_END_MS or span.start_ms >= levels.duration_ms:
        return PAST_END
    if span.duration_ms > context_ms:
        return TOO_LONG
    return _tempo(words, span.duration_ms / 1000) or _sound(span, levels)


def _tempo(words: int, duration_s: float) -> str | None:
    # Half a word of tolerance, because a single "uh" may be very short.
    if words - 0.5 > _MAX_WORDS_PER_S * duration_s:
        return TOO_FAST
    return TOO_SLOW if words < _MIN_WORDS_PER_S * (duration_s - _SLOW_AFTER_S) else None


def _sound(span: TimeSpan, levels: PeakLevels) -> str | None:
    if levels.peak(span) < SILENT_PEAK:
        return SILENT
    return CLIPPED if levels.clipped_share(span) > _CLIPPED_SHARE else None


def reject(candidate: Candidate, reason: str) -> Candidate:
    """Return ``candidate`` rejected for ``reason``; an earlier reason is kept."""
    return candidate if candidate.reason else replace(candidate, reason=reason)
