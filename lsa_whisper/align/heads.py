"""Alignment heads with their lags: how long before or after a word's sound a head attends to it.

OpenAI lists the heads of each model that follow the sound. But some of them are late by 200 ms, and some that are not
listed are better. So the heads are measured once for each model, on a short recording with exact word times: known text
is given to the model, and each head's times are compared. The best heads are used, each moved by its own lag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lsa_whisper import chat, machine, plain_json
from lsa_whisper.align.model import AlignmentModel
from lsa_whisper.align.text import TextToken, TextWord, text_tokens, text_words
from lsa_whisper.atomic_write import write_atomic
from lsa_whisper.audio import Recording
from lsa_whisper.chat import Utterance
from lsa_whisper.checkpoint import digest
from lsa_whisper.decoding.token_times import Weights, alignment_heads, viterbi_spans
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.shipped import STORYBOOK, shipped
from lsa_whisper.terminal import print_progress
from lsa_whisper.timespan import TimeSpan

_ENOUGH_HEADS = 3
_TOLERANCE = 1.05  # fewer heads than that are preferred only if the error is smaller by more: the recording is short
_TRIED = 8
_CANDIDATES = 12
_MAX_ERROR_MS = 400.0  # larger errors count as this
_WORST_ERROR_MS = 150.0  # heads with a larger mean error do not follow the sound: the recording does not suit the model
_MARGIN_MS = 200
_MAX_LAG = 15  # frames
_AROUND_MS = 300


@dataclass(frozen=True)
class LaggedHead:
    """An attention head, and by how many frames its attention is late."""

    layer: int
    head: int
    lag: int = 0

    @property
    def pair(self) -> tuple[int, int]:
        """The layer and the head."""
        return self.layer, self.head


def shifted_mean(weights: Weights, heads: Sequence[LaggedHead]) -> Weights:
    """Return the mean of the heads' attention, each moved by its lag, ``(tokens, frames)``.

    >>> shifted_mean(np.array([[[0, 1, 0]], [[0, 0, 1]]], np.float32), [LaggedHead(0, 0), LaggedHead(0, 1, 1)]).tolist()
    [[0.0, 1.0, 0.0]]
    """
    total = np.zeros(weights.shape[1:], np.float32)
    frames = weights.shape[2]
    for own, head in zip(weights, heads, strict=True):
        if head.lag >= 0:
            total[:, : frames - head.lag] += own[:, head.lag :]
        else:
            total[:, -head.lag :] += own[:, : head.lag]
    mean: Weights = total / np.float32(len(heads))
    return mean


def model_heads(model: AlignmentModel, path: str | Path) -> list[LaggedHead]:
    """Return the heads to align with: measured on first use and kept in the user's cache.

    Where the recording does not suit the model, they are those that the model lists.

    Args:
        model: the loaded model.
        path: the folder or hub name that it was loaded from, whose digest names the file in the cache.
    """
    name = digest(path).rpartition(":")[2].replace("/", "-")
    cached = machine.cache_home() / "lsa-whisper" / "heads" / f"{name}.json"
    try:
        return [LaggedHead(*map(int, row)) for row in plain_json.read(cached)]
    except (OSError, ValueError, TypeError, LsaWhisperError):
        pass
    print_progress(f"{path}: measuring which attention heads follow the sound (once)")
    heads = measure_heads(model, shipped(STORYBOOK) / "dev" / "dev01.cha")
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(plain_json.serialize([astuple(head) for head in heads]), cached)
    except (OSError, LsaWhisperError):  # a home folder that cannot be written to: they are measured again next time
        pass
    return heads


def measure_heads(model: AlignmentModel, transcript: Path) -> list[LaggedHead]:
    """Return the heads that give the best word times on a transcript with ``%wor``, with their lags."""
    windows = [_KnownWindow(model, *each) for each in _windows(transcript, model.checkpoint.context_s)]
    config = model.checkpoint.model.config
    pairs = [(layer, at) for layer in range(config.decoder_layers) for at in range(config.decoder_attention_heads)]
    near = np.mean([window.mass_near_words(pairs) for window in windows], axis=0)
    measured = {}
    for at in np.argsort(-near)[:_CANDIDATES].tolist():
        head = LaggedHead(*pairs[at])
        lag = int(float(np.median(_errors(windows, [head]))) / windows[0].step_ms)
        head = LaggedHead(head.layer, head.head, max(-_MAX_LAG, min(lag, _MAX_LAG)))
        measured[head] = _mean_error(windows, [head])
    order = sorted(measured, key=lambda head: measured[head])
    listed = [LaggedHead(layer, at) for layer, at in alignment_heads(model.checkpoint.model)]
    if measured[order[0]] > _WORST_ERROR_MS:
        return listed
    chosen = _added_one_by_one(windows, order[:_TRIED])
    return min((chosen, listed), key=lambda heads: _mean_error(windows, heads))


def _added_one_by_one(windows: Sequence[_KnownWindow], order: Sequence[LaggedHead]) -> list[LaggedHead]:
    """Return the best head, and those that make the times better together with it, the best first."""
    chosen: list[LaggedHead] = []
    best = np.inf
    while left := [head for head in order if head not in chosen]:
        errors = {head: _mean_error(windows, [*chosen, head]) for head in left}
        head = min(left, key=lambda each: errors[each])
        if errors[head] >= best * (_TOLERANCE if len(chosen) < _ENOUGH_HEADS else 1.0):
            break
        chosen, best = [*chosen, head], min(best, errors[head])
    return chosen


def _mean_error(windows: Sequence[_KnownWindow], heads: Sequence[LaggedHead]) -> float:
    return float(np.minimum(np.abs(_errors(windows, heads)), _MAX_ERROR_MS).mean())


def _errors(windows: Sequence[_KnownWindow], heads: Sequence[LaggedHead]) -> npt.NDArray[np.float64]:
    return np.concatenate([window.errors_ms(heads) for window in windows])


class _KnownWindow:
    """A window whose word times are known."""

    def __init__(
        self,
        model: AlignmentModel,
        span: TimeSpan,
        samples: npt.NDArray[np.float32],
        utterances: Sequence[Utterance],
    ):
        self._model, self._span = model, span
        self.step_ms = 1000 * model.checkpoint.time_precision_s
        self._frames = max(1, round(span.duration_ms / self.step_ms))
        words = text_words(utterances)
        self._row = text_tokens(utterances, words, model.checkpoint.tokenizer, model.checkpoint.labels)
        self._row = self._row[: model.max_tokens]
        self._known = _known_spans(utterances, words)
        self._hidden = model.encode(samples)
        self._cached: dict[tuple[int, int], Weights] = {}

    def _weights(self, pairs: Sequence[tuple[int, int]]) -> Weights:
        tokens = [each.token for each in self._row]
        return self._model.attention(self._hidden, tokens, pairs)[:, :, : self._frames]

    def mass_near_words(self, pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.float64]:
        """Return each head's mean share of attention near the word of the token."""
        weights = self._weights(pairs)
        shares = []
        for at, token in self._spoken():
            known = self._known[token.word]
            first, last = (
                round((edge - self._span.start_ms) / self.step_ms)
                for edge in (known.start_ms - _AROUND_MS, known.end_ms + _AROUND_MS)
            )
            shares.append(weights[:, at, max(0, first) : max(0, last)].sum(axis=1))
        self._cached = dict(zip(pairs, weights.astype(np.float16), strict=True))
        mean: npt.NDArray[np.float64] = np.mean(shares, axis=0)
        return mean

    def errors_ms(self, heads: Sequence[LaggedHead]) -> npt.NDArray[np.float64]:
        """Return by how much each word starts too late according to these heads."""
        weights = np.stack([self._cached[head.pair].astype(np.float32) for head in heads])
        times = viterbi_spans(shifted_mean(weights, heads))
        starts: dict[int, float] = {}
        for at, token in self._spoken():
            starts.setdefault(token.word, self._span.start_ms + times[at][0] * self.step_ms)
        return np.array([start - self._known[word].start_ms for word, start in starts.items()])

    def _spoken(self) -> Iterator[tuple[int, TextToken]]:
        return ((at, token) for at, token in enumerate(self._row) if token.spoken and token.word in self._known)


def _known_spans(utterances: Sequence[Utterance], words: Sequence[TextWord]) -> Mapping[int, TimeSpan]:
    times = [each.word_times for each in utterances]
    return {
        index: times[word.utterance][word.position][1]
        for index, word in enumerate(words)
        if len(times[word.utterance]) == len(utterances[word.utterance].verbatim())
    }


def _windows(transcript: Path, context_s: float) -> Iterator[tuple[TimeSpan, npt.NDArray[np.float32], list[Utterance]]]:
    """Yield groups of utterances that fit the model's context, with their sound."""
    recording = Recording.open(transcript.with_suffix(".flac"))
    group: list[Utterance] = []
    for each in [*chat.read(transcript).utterances, None]:
        if group and (each is None or _around([*group, each]).duration_ms > 1000 * context_s):
            span = _around(group)
            yield span, recording.load(span), group
            group = []
        if each is not None and each.span and _around([each]).duration_ms <= 1000 * context_s:
            group.append(each)


def _around(utterances: Sequence[Utterance]) -> TimeSpan:
    spans = [each.span for each in utterances if each.span]
    return TimeSpan(max(0, spans[0].start_ms - _MARGIN_MS), spans[-1].end_ms + _MARGIN_MS)
