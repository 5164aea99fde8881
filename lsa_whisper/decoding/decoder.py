"""What every decoding engine promises: windows of sound in, timed segments of text out, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class TimedToken:
    """The text of one token, and when it was said, in seconds after the window's start."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class DecodedSegment:
    """Text between two timestamps of one window.

    Attributes:
        text: what the model wrote, in the style of its labels.
        start_s: seconds after the window's start.
        end_s: seconds after the window's start, never before ``start_s``.
        avg_logprob: mean natural log-probability of the segment's tokens, 0 at best.
        timed: the segment's tokens in order; empty when their times were not asked for.
        logprobs: the text and log-probability of each token in order; empty where the engine does not know them.
        closed: whether a timestamp ended the segment; without one it lasts to the end of its window.
    """

    text: str
    start_s: float
    end_s: float
    avg_logprob: float = 0.0
    timed: tuple[TimedToken, ...] = ()
    logprobs: tuple[tuple[str, float], ...] = ()
    closed: bool = True


@dataclass(frozen=True)
class DecodedWindow:
    """All segments of one window, in time order.

    Attributes:
        segments: empty when the model heard no words.
        avg_logprob: mean over every token, the end of text included.
        complete: whether the model ended by itself; ``False`` when the limit on length stopped it.
        looped: whether the model repeated itself here and the window was decoded a second time.
        cut: whether it did so again, and the copies there was no time for were cut.
    """

    segments: tuple[DecodedSegment, ...]
    avg_logprob: float = 0.0
    complete: bool = True
    looped: bool = False
    cut: bool = False


class Decoder(Protocol):
    """An engine: same windows, same rules, whatever computes them."""

    def decode(self, windows: Sequence[Any]) -> list[DecodedWindow]:
        """Return one result per window (float32 mono samples at the model's rate, no longer than its context)."""
        ...


@runtime_checkable
class PromptedDecoder(Decoder, Protocol):
    """An engine that can also be told what was said before."""

    def decode_with_prompt(self, window: Any, previous: str) -> DecodedWindow:
        """Return what it makes of one window after the text ``previous``, which is in the style of its labels."""
        ...


def token_limit(duration_s: float, prompt_length: int, max_positions: int) -> int:
    """Return how many tokens a window of sound may give at most.

    Nobody says more than about 30 tokens a second, even in a vocabulary of single letters; a loop of the model does.
    The allowance of 24 keeps short windows with marks and timestamps whole.

    >>> token_limit(2.0, 3, 448), token_limit(30.0, 3, 448)
    (84, 445)
    """
    return max(1, min(round(30 * duration_s) + 24, max_positions - prompt_length))


def decode_in_batches(
    windows: Sequence[Any], batch_size: int, decode: Callable[[list[Any]], list[DecodedWindow]]
) -> list[DecodedWindow]:
    """Return one result per window, in order, from ``decode``, which is given windows of like length together.

    A batch lasts as long as its longest text.

    >>> decode_in_batches(["aa", "aaaa", "a", "aaa"], 2, lambda batch: ["+".join(batch)] * len(batch))
    ['aa+a', 'aaaa+aaa', 'aa+a', 'aaaa+aaa']
    """
    order = sorted(range(len(windows)), key=lambda index: -len(windows[index]))
    results: dict[int, DecodedWindow] = {}
    for first in range(0, len(order), batch_size):
        chosen = order[first : first + batch_size]
        results.update(zip(chosen, decode([windows[index] for index in chosen]), strict=True))
    return [results[index] for index in range(len(windows))]


@dataclass(frozen=True)
class SegmentParser:
    """What turns the tokens of a window into its segments.

    Attributes:
        end: the end of text.
        timestamps_s: token id -> seconds.
        text_of: ids -> text.
    """

    end: int
    timestamps_s: dict[int, float]
    text_of: Callable[[Sequence[int]], str]

    def length(self, tokens: Sequence[int], limit: int) -> int:
        """Return how many tokens come before the end of text, at most ``limit``."""
        return next((at for at, token in enumerate(tokens[:limit]) if token == self.end), min(limit, len(tokens)))

    def window(
        self,
        tokens: Sequence[int],
        logprobs: Sequence[float],
        duration_s: float,
        limit: int,
        times_of: Callable[[Sequence[int]], Sequence[float] | Sequence[tuple[float, float]]] | None = None,
    ) -> DecodedWindow:
        """Return what a window's tokens say.

        Args:
            tokens: decoded, without the prompt; what follows the end of text does not count.
            logprobs: one per token, that of the end of text included.
            duration_s: length of the window's sound.
            limit: see :func:`token_limit`.
            times_of: tokens -> ``times_s`` of :func:`parse_segments`; absent when not asked for.
        """
        length = self.length(tokens, limit)
        complete = length < limit
        counted = logprobs[: length + complete]
        times_s = times_of(tokens[:length]) if times_of and length else ()
        segments = parse_segments(
            tokens[:length], logprobs[:length], self.timestamps_s, duration_s, self.text_of, times_s
        )
        return DecodedWindow(segments, sum(counted) / len(counted), complete)


def parse_segments(
    tokens: Sequence[int],
    logprobs: Sequence[float],
    timestamps_s: dict[int, float],
    duration_s: float,
    text_of: Any,
    times_s: Sequence[float] | Sequence[tuple[float, float]] = (),
) -> tuple[DecodedSegment, ...]:
    """Return the segments that a window's tokens spell.

    A segment without an opening stamp begins where the last one ended, one without a closing stamp lasts to the end of
    the window; timestamps past the sound are pulled back into it.

    Args:
        tokens: what was decoded, prompt and end of text taken away.
        logprobs: one per token.
        timestamps_s: token id -> seconds.
        duration_s: length of the window's sound.
        text_of: ids -> text.
        times_s: where each token begins and ends; or where each begins and, last, where the text ends; or nothing.

    >>> timestamps_s = {90: 0.0, 91: 1.0, 92: 2.0}
    >>> [(p.text, p.start_s, p.end_s) for p in parse_segments([90, 7, 8, 91, 91, 9], [0] * 6, timestamps_s, 2.5, str)]
    [('[7, 8]', 0.0, 1.0), ('[9]', 1.0, 2.5)]
    """
    segments: list[DecodedSegment] = []
    start_s, pending = 0.0, []
    paired = bool(times_s) and isinstance(times_s[0], tuple)
    spans = list(times_s if paired else pairwise(times_s)) or [None] * len(tokens)

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
    """Return each token's own text; a letter of several tokens belongs to the last of them."""
    texts, written = [], ""
    for count in range(1, len(ids) + 1):
        text = text_of(ids[:count]).rstrip("\N{REPLACEMENT CHARACTER}")
        texts.append(text[len(written) :])
        written = text if len(text) > len(written) else written
    return texts
