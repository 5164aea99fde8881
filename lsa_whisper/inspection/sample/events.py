"""Disfluencies with their times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

from lsa_whisper.chat import Disfluency, Event, Transcript, Utterance
from lsa_whisper.page.terms import CLASSES
from lsa_whisper.scoring.timing import spoken_times


@dataclass(frozen=True)
class TimedEvent:
    """One disfluency: who, what, the words, where (the utterance's index), and when, if that is known."""

    speaker: str
    kind: Disfluency
    words: str
    utterance: int
    start_s: float | None

    @property
    def name(self) -> str:
        """The name of its class, in the singular.

        >>> TimedEvent("CHI", Disfluency.FRAGMENT, "sto-", 0, None).name
        'cut-off word'
        """
        return CLASSES[self.kind][0].lower().removesuffix("s")


def timed_events(transcript: Transcript) -> Iterator[TimedEvent]:
    """Yield every disfluency, in order, at the time of its first word.

    Times are those of ``%wor``; without it, the utterance's time is divided among its words by their letters.
    """
    for number, each in enumerate(transcript.utterances):
        times = spoken_times(each)
        for event in each.events():
            words = " ".join(each.reading.verbatim[event.start : event.end])
            yield TimedEvent(each.speaker, event.kind, words, number, _start_s(each, event, times))


def _start_s(utterance: Utterance, event: Event, times: list[tuple[float, float]]) -> float | None:
    """Return when an event starts; a pause starts where the word before it ends."""
    if event.start < event.end:
        start_ms = times[event.start][0]
    elif event.start:
        start_ms = times[event.start - 1][1]
    else:
        start_ms = float(utterance.span.start_ms) if utterance.span else float("nan")
    return None if isnan(start_ms) else start_ms / 1000
