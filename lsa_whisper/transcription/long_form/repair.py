"""What a repair is: which parts of a window are decoded again, and what becomes of the new text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from lsa_whisper.audio import SAMPLE_RATE_HZ
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.transcription.long_form.repetition import SpeechIntervals, cut_speech


@dataclass(frozen=True)
class WindowPart:
    """A part of a window, in seconds from its start; by default up to its end."""

    start_s: float
    end_s: float = math.inf


SpanT = TypeVar("SpanT", bound=WindowPart)
Parts: TypeAlias = Sequence[tuple[SpanT, DecodedWindow]]
"""Spans of a window that were decoded again, with their results."""
Accepted: TypeAlias = tuple[DecodedWindow, Sequence[SpanT]]
"""The window to keep, and the spans that are decoded in the next round."""


@dataclass(frozen=True)
class Sound:
    """What is decoded as one window.

    Attributes:
        samples: float32 mono.
        speech: its speech intervals; ``None`` if all of it counts as speech.
        rate_hz: its sample rate.
    """

    samples: npt.NDArray[np.float32]
    speech: SpeechIntervals | None = None
    rate_hz: int = SAMPLE_RATE_HZ

    @property
    def duration_s(self) -> float:
        """Its length in seconds."""
        return len(self.samples) / self.rate_hz

    def part(self, span: WindowPart) -> Sound:
        """Return a part of it, with its speech."""
        last = None if span.end_s == math.inf else round(span.end_s * self.rate_hz)
        speech = None if self.speech is None else cut_speech(self.speech, span.start_s, span.end_s)
        return Sound(self.samples[round(span.start_s * self.rate_hz) : last], speech, self.rate_hz)


@dataclass(frozen=True)
class Repair(Generic[SpanT]):
    """What is decoded again of a window, and what becomes of the new text.

    Attributes:
        find: a decoded window and its sound -> the spans to decode again, in order.
        accept: the same, and the spans with their results -> what becomes of the window.
        repairs: those that the spans get.
        rounds: how often spans of a window are decoded at most.
    """

    find: Callable[[DecodedWindow, Sound], Sequence[SpanT]]
    accept: Callable[[DecodedWindow, Sound, Parts[SpanT]], Accepted[SpanT]]
    repairs: tuple[Repair[Any], ...] = ()
    rounds: int = 1
