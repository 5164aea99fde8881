"""What the labels of a session cannot show: speech of two people at once, and repetitions without a mark."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.labels.repeats import find_repeats
from lsa_whisper.retraces import mark_retraces
from lsa_whisper.timespan import TimeSpan

OVERLAPPING_S, SPEECH_S = "overlapping_s", "speech_s"
UNMARKED, MARKED = "unmarked_repetitions", "marked_repetitions"
_MIN_OVERLAP = 0.05
"""Share of the speech from which overlaps are told."""
_MIN_UNMARKED = 3
"""Places from which unmarked repetitions are told. Ten meeting clips without marks have 9 (a person marked 9 there),
and the same clips with marks 0."""


def session_facts(utterances: Sequence[Utterance], language: str) -> dict[str, float]:
    """Return seconds of speech and of overlapping speech, and repetitions with and without ``[/]``."""
    spans = sorted((one.span for one in utterances if one.span), key=lambda span: span.start_ms)
    events = [event.kind for one in utterances for event in one.events()]
    return {
        OVERLAPPING_S: _overlapping_ms(spans) / 1000,
        SPEECH_S: sum(span.duration_ms for span in spans) / 1000,
        UNMARKED: sum(_unmarked(one, language) for one in utterances if "[/" not in one.text),
        MARKED: events.count(Disfluency.REPETITION),
    }


def session_notes(totals: Mapping[str, float]) -> list[str]:
    """Return notes on the summed facts of all sessions."""
    notes = []
    overlapping_s, speech_s = totals.get(OVERLAPPING_S, 0), totals.get(SPEECH_S, 0)
    if speech_s and overlapping_s > _MIN_OVERLAP * speech_s:
        notes.append(
            f"{overlapping_s:,.0f} of {speech_s:,.0f} seconds of speech overlap other speech: utterances that "
            "overlap have one pair of timestamps"
        )
    unmarked, marked = int(totals.get(UNMARKED, 0)), int(totals.get(MARKED, 0))
    if unmarked >= max(_MIN_UNMARKED, marked):
        notes.append(
            f"{unmarked} places repeat words without [/] (with it: {marked}), and a model would learn that these are "
            "not disfluencies; if they are, 'lsa-whisper mark' sets the codes"
        )
    return notes


def _overlapping_ms(spans: Sequence[TimeSpan]) -> int:
    """Return for how long two or more of ``spans``, in order of their start, overlap.

    >>> _overlapping_ms([TimeSpan(0, 1000), TimeSpan(200, 400), TimeSpan(900, 1500)])
    300
    """
    ends = itertools.accumulate((span.end_ms for span in spans), max)
    return sum(max(0, min(end, span.end_ms) - span.start_ms) for end, span in zip(ends, spans[1:], strict=False))


def _unmarked(utterance: Utterance, language: str) -> int:
    repeats = len(list(find_repeats(utterance.verbatim())))
    if not repeats or language != "eng":
        return repeats
    return sum(mark.code == "[/]" for mark in mark_retraces(utterance.text, language=language).marks)
