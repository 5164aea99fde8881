"""The interface of every decoding engine: audio windows in, timed text segments out, in the same order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.text_limits import GIVEN_UP


@dataclass(frozen=True, slots=True)
class TimedToken:
    """The text of one token and its time, in seconds from the window's start."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class DecodedSegment:
    """Text between two timestamps of one window.

    Attributes:
        text: The decoded text, in the style of the model's labels.
        start_s: Seconds from the window's start.
        end_s: Seconds from the window's start, never less than ``start_s``.
        avg_logprob: Mean natural log-probability of the segment's tokens, 0 at best.
        timed: The segment's tokens in order; empty unless token times were requested.
        logprobs: The text and log-probability of each token in order; empty if the engine does not provide them.
        closed: Whether a timestamp ends the segment; otherwise it lasts to the end of its window.
    """

    text: str
    start_s: float
    end_s: float
    avg_logprob: float = 0.0
    timed: tuple[TimedToken, ...] = ()
    logprobs: tuple[tuple[str, float], ...] = ()
    closed: bool = True

    def shifted(self, offset_s: float) -> DecodedSegment:
        """Return the segment ``offset_s`` seconds later."""
        timed = tuple(replace(t, start_s=t.start_s + offset_s, end_s=t.end_s + offset_s) for t in self.timed)
        return replace(self, start_s=self.start_s + offset_s, end_s=self.end_s + offset_s, timed=timed)

    def with_tokens(self, indices: Sequence[int]) -> DecodedSegment:
        """Return the segment with some of its tokens alone; its own time and log-probability stay."""
        timed = tuple(self.timed[at] for at in indices)
        scored = tuple(self.logprobs[at] for at in indices) if self.logprobs else ()
        return replace(self, text="".join(token.text for token in timed).strip(), timed=timed, logprobs=scored)


@dataclass(frozen=True, slots=True)
class DecodedWindow:
    """All segments of one window, in time order.

    Attributes:
        segments: Empty when the model decoded no words.
        avg_logprob: Mean over every token, the end of text included.
        tokens: How many these are; 0 if unknown.
        complete: Whether decoding ended with the end of text; ``False`` when the length limit stopped it.
        retried: Whether the window was decoded again because of a repetition loop.
        truncated: Whether the loop remained, and the copies that do not fit into the sound were removed.
        removed: What was removed, such as ``36 times "log"``.
        language: Whisper's code of the language that was detected; empty where none was.
        no_speech_prob: Probability of no speech; 0 for a model that has no token for it.
        silent: Whether the text was removed because there is probably no speech.
        unspoken: The texts that were left out for that reason after all repairs.
    """

    segments: tuple[DecodedSegment, ...]
    avg_logprob: float = 0.0
    complete: bool = True
    retried: bool = False
    truncated: bool = False
    removed: tuple[str, ...] = ()
    language: str = ""
    no_speech_prob: float = 0.0
    tokens: int = 0
    silent: bool = False
    unspoken: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The texts of all segments, joined by spaces."""
        return " ".join(segment.text for segment in self.segments)


class Decoder(Protocol):
    """An engine: the same windows and rules, computed by different libraries."""

    batch_size: int
    """Windows of the model's full context that are decoded together."""
    style: DecodingStyle
    """How the model writes."""

    def decode(self, windows: Sequence[Any]) -> list[DecodedWindow]:
        """Return one result per window (float32 mono samples at the model's rate, no longer than its context)."""
        ...


@runtime_checkable
class PromptedDecoder(Decoder, Protocol):
    """An engine that also takes the preceding text as a prompt."""

    def decode_with_prompt(self, window: Any, previous: str) -> DecodedWindow:
        """Return the result of one window after the text ``previous``, in the style of the model's labels."""
        ...


class MultilingualDecoder(Decoder, Protocol):
    """An engine whose model knows several languages."""

    def detect_languages(self, windows: Sequence[Any]) -> list[dict[str, float]]:
        """Return the probability of each language (Whisper's code) in each window."""
        ...

    def with_language(self, language: str) -> Decoder:
        """Return a decoder with the same model for another language."""
        ...


@dataclass(frozen=True, slots=True)
class SegmentParser:
    """Converts the tokens of a window to text segments.

    Attributes:
        end: The end-of-text token.
        timestamps_s: Token id -> seconds.
        text_of: Ids -> text.
    """

    end: int
    timestamps_s: dict[int, float]
    text_of: Callable[[Sequence[int]], str]

    def length(self, tokens: Sequence[int], limit: int) -> int:
        """Return how many tokens come before the end of text, or before a text is given up, at most ``limit``."""
        ends = (at for at, token in enumerate(tokens[:limit]) if token in (self.end, GIVEN_UP))
        return next(ends, min(limit, len(tokens)))

    def timed_length(self, tokens: Sequence[int], limit: int, *, is_compared: bool) -> int:
        """Return of how many tokens the times are needed: of a text that is compared, none unless it has an end."""
        length = self.length(tokens, limit)
        return 0 if is_compared and not self._ends(tokens[:limit], length) else length

    def _ends(self, tokens: Sequence[int], length: int) -> bool:
        return [*tokens[length : length + 1]] == [self.end]

    def window(
        self,
        tokens: Sequence[int],
        logprobs: Sequence[float],
        duration_s: float,
        limit: int,
        times_s: Sequence[tuple[float, float]] = (),
    ) -> DecodedWindow:
        """Return the decoded window for a sequence of tokens.

        Tokens after the end of text are ignored; ``logprobs`` has one for each, that of the end of text included. For
        ``limit`` see :func:`~lsa_whisper.decoding.text_limits.token_limit`, for ``times_s`` :func:`parse_segments`.
        """
        length = self.length(tokens, limit)
        complete = self._ends(tokens[:limit], length)
        scores = logprobs[: length + complete]
        segments = parse_segments(
            tokens[:length], logprobs[:length], self.timestamps_s, duration_s, self.text_of, times_s
        )
        return DecodedWindow(segments, sum(scores) / len(scores), complete, tokens=len(scores))


def parse_segments(
    tokens: Sequence[int],
    logprobs: Sequence[float],
    timestamps_s: dict[int, float],
    duration_s: float,
    text_of: Any,
    times_s: Sequence[tuple[float, float]] = (),
) -> tuple[DecodedSegment, ...]:
    """Return the segments of a window's tokens.

    A segment without an opening timestamp begins where the previous one ended; one without a closing timestamp lasts to
    the end of the window. Timestamps after the end of the audio are moved to its end. The tokens are without prompt and
    end of text; ``times_s`` are the start and end of each, or empty. For ``timestamps_s`` and ``text_of`` see
    :class:`SegmentParser`.

    >>> timestamps_s = {90: 0.0, 91: 1.0, 92: 2.0}
    >>> [(p.text, p.start_s, p.end_s) for p in parse_segments([90, 7, 8, 91, 91, 9], [0] * 6, timestamps_s, 2.5, str)]
    [('[7, 8]', 0.0, 1.0), ('[9]', 1.0, 2.5)]
    """
    segments: list[DecodedSegment] = []
    start_s = 0.0
    pending: list[tuple[int, float, Any]] = []
    spans: Sequence[tuple[float, float] | None] = times_s or [None] * len(tokens)

    def close(end_s: float, closed: bool = True) -> None:
        ids = [token for token, _, _ in pending]
        text = text_of(ids).strip() if pending else ""
        if text:
            mean = sum(logprob for _, logprob, _ in pending) / len(pending)
            parts = _texts(ids, text_of)
            timed = tuple(TimedToken(part, *span) for part, (_, _, span) in zip(parts, pending, strict=True) if span)
            scored = tuple((part, logprob) for part, (_, logprob, _) in zip(parts, pending, strict=True))
            segments.append(DecodedSegment(text, min(start_s, end_s), end_s, mean, timed, scored, closed))
        pending.clear()

    for token, logprob, span in zip(tokens, logprobs, spans, strict=True):
        if token in timestamps_s:
            at_s = max(start_s, min(timestamps_s[token], duration_s))
            close(at_s)
            start_s = at_s
        else:
            pending.append((token, logprob, span))
    close(duration_s, closed=False)
    return tuple(segments)


def _texts(ids: Sequence[int], text_of: Any) -> list[str]:
    """Return each token's own text; a character that spans several tokens belongs to the last of them."""
    texts: list[str] = []
    pending: list[int] = []  # since the last whole character
    before = ""
    for token in ids:
        pending.append(token)
        whole = text_of(pending)
        text = whole.rstrip("\N{REPLACEMENT CHARACTER}")
        texts.append(sys.intern(text[len(before) :]))  # the same few thousand texts in hours of speech
        before = text if len(text) > len(before) else before
        if text == whole:
            pending, before = [], ""
    return texts
