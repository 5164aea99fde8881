"""Heads that follow the sound, measured on a short recording with exact word times.

Known text is given to the model, and each head's times are compared with the known ones. The best heads are used, each
moved by its own lag. The text is written as in the model's labels, or as plain words: a model that was trained on
cleaned transcripts has hardly ever seen the signs of its own notation, and attends to them at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lsa_whisper import chat
from lsa_whisper.align.model import (
    AlignmentHeads,
    AlignmentModel,
    LaggedHead,
    spoken_places,
    store_heads,
    stored_heads,
    token_spans,
)
from lsa_whisper.align.text import TextToken, TextWord, text_tokens, text_words
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.audio.speech_energy import find_speech
from lsa_whisper.chat import Utterance
from lsa_whisper.decoding.cross_attention import Weights, alignment_heads, shifted_mean
from lsa_whisper.labels import Labels
from lsa_whisper.system.shipped import STORYBOOK, shipped
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.timespan import TimeSpan

_ENOUGH_HEADS = 3
_TOLERANCE = 1.05  # fewer heads than that are preferred only if the error is smaller by more: the recording is short
_TRIED = 6
_CANDIDATES = 10
_MAX_ERROR_MS = 400.0  # larger errors count as this
_WORST_ERROR_MS = 150.0  # heads with a larger mean error do not follow the sound: the recording does not suit the model
_MARGIN_MS = 200
_MAX_LAG = 15  # frames
_AROUND_MS = 300


def model_heads(model: AlignmentModel, path: str | Path) -> AlignmentHeads:
    """Return the heads to align with: measured on first use and kept in the user's cache.

    ``path`` is the folder or hub name that the model was loaded from, whose digest names the file in the cache.
    """
    if (cached_heads := stored_heads(path)) is not None:
        return cached_heads
    print_progress(f"{path}: measuring which attention heads follow the sound (once)")
    heads = measure_heads(model, shipped(STORYBOOK) / "dev" / "dev01.cha")
    store_heads(path, heads)
    return heads


def measure_heads(model: AlignmentModel, transcript: Path) -> AlignmentHeads:
    """Return the heads that give the best word times on a transcript with ``%wor``.

    Where the recording does not suit the model, they are those that the model lists.
    """
    own = model.checkpoint.labels
    styles = [own, Labels("verbatim")] if own.style == "chat" else [own]
    recordings = [KnownRecording(model, transcript, style) for style in styles]
    recording = min(recordings, key=lambda candidate: min(candidate.single_heads.values()))
    return AlignmentHeads(tuple(_best_heads(recording, model)), recording.labels)


def _best_heads(recording: KnownRecording, model: AlignmentModel) -> list[LaggedHead]:
    order = sorted(recording.single_heads, key=lambda head: recording.single_heads[head])
    listed = [LaggedHead(layer, at) for layer, at in alignment_heads(model.checkpoint.model)]
    if recording.single_heads[order[0]] > _WORST_ERROR_MS:
        return listed
    return min((_added_one_by_one(recording, order[:_TRIED]), listed), key=recording.mean_error)


def _added_one_by_one(recording: KnownRecording, order: Sequence[LaggedHead]) -> list[LaggedHead]:
    """Return the best head, and those that make the times better together with it, the best first."""
    heads: list[LaggedHead] = []
    best = np.inf
    while candidates := [head for head in order if head not in heads]:
        errors = {head: recording.mean_error([*heads, head]) for head in candidates}
        head = min(candidates, key=lambda candidate: errors[candidate])
        if errors[head] >= best * (_TOLERANCE if len(heads) < _ENOUGH_HEADS else 1.0):
            break
        heads, best = [*heads, head], min(best, errors[head])
    return heads


class KnownRecording:
    """A recording whose word times are known, and a model's attention to its text."""

    def __init__(self, model: AlignmentModel, transcript: Path, labels: Labels):
        """Read the recording next to a transcript, whose text the model is given in the style of ``labels``."""
        self._model, self.labels = model, labels
        self.step_ms = 1000 * model.checkpoint.time_precision_s
        self._recording = Recording.open(transcript.with_suffix(".flac"))
        self._utterances = chat.read(transcript).utterances
        self._speech = find_speech(self._recording.stream(), SAMPLE_RATE_HZ)

    @cached_property
    def _windows(self) -> list[_KnownWindow]:
        return [self._window(group) for group in self._groups()]

    def _groups(self) -> list[list[Utterance]]:
        """Return groups of utterances that fit the model's context."""
        most_ms = 1000 * self._model.checkpoint.context_s
        groups: list[list[Utterance]] = []
        for utterance in self._utterances:
            if not utterance.span or _around([utterance]).duration_ms > most_ms:
                continue
            if groups and _around([*groups[-1], utterance]).duration_ms <= most_ms:
                groups[-1].append(utterance)
            else:
                groups.append([utterance])
        return groups

    def _window(self, utterances: Sequence[Utterance]) -> _KnownWindow:
        span = _around(utterances)
        words = text_words(utterances)
        checkpoint = self._model.checkpoint
        row = text_tokens(utterances, words, checkpoint.tokenizer, self.labels)[: self._model.max_tokens]
        config = checkpoint.model.config
        pairs = [(layer, at) for layer in range(config.decoder_layers) for at in range(config.decoder_attention_heads)]
        frames = max(1, round(span.duration_ms / self.step_ms))
        hidden = self._model.encode(self._recording.load(span))
        weights = self._model.attention(hidden, [token.token for token in row], pairs)[:, :, :frames]
        starts = {
            index: (word_span.start_ms - span.start_ms, word_span.end_ms - span.start_ms)
            for index, word_span in _known_spans(utterances, words).items()
        }
        by_head = dict(zip(pairs, weights.astype(np.float16), strict=True))
        return _KnownWindow(row, starts, by_head, self._speech.silence(span), self.step_ms)

    @cached_property
    def single_heads(self) -> dict[LaggedHead, float]:
        """The heads that attend near the word of the token, with their lags and mean errors."""
        near = np.mean([window.mass_near_words() for window in self._windows], axis=0)
        pairs = list(self._windows[0].weights)
        errors = {}
        for at in np.argsort(-near)[:_CANDIDATES].tolist():
            layer, number = pairs[at]
            lag = int(float(np.median(self.errors_ms([LaggedHead(layer, number)]))) / self.step_ms)
            head = LaggedHead(layer, number, max(-_MAX_LAG, min(lag, _MAX_LAG)))
            errors[head] = self.mean_error([head])
        return errors

    def mean_error(self, heads: Sequence[LaggedHead]) -> float:
        """Return the mean error of a word's start in ms; large errors count less than they are."""
        return float(np.minimum(np.abs(self.errors_ms(heads)), _MAX_ERROR_MS).mean())

    def errors_ms(self, heads: Sequence[LaggedHead]) -> npt.NDArray[np.float64]:
        """Return by how much each word starts too late according to these heads."""
        return np.concatenate([window.errors_ms(heads) for window in self._windows])


@dataclass(frozen=True)
class _KnownWindow:
    """A window whose word times are known, relative to its start."""

    row: Sequence[TextToken]
    word_times: Mapping[int, tuple[int, int]]
    weights: Mapping[tuple[int, int], Weights]
    silence: Weights
    step_ms: float

    def mass_near_words(self) -> npt.NDArray[np.float64]:
        """Return each head's mean share of attention near the word of the token."""
        weights = np.stack(list(self.weights.values())).astype(np.float32)
        shares = []
        for at, token in enumerate(self.row):
            if token.spoken and token.word in self.word_times:
                start, end = self.word_times[token.word]
                first, last = (round(edge / self.step_ms) for edge in (start - _AROUND_MS, end + _AROUND_MS))
                shares.append(weights[:, at, max(0, first) : max(0, last)].sum(axis=1))
        mean: npt.NDArray[np.float64] = np.mean(shares, axis=0)
        return mean

    def errors_ms(self, heads: Sequence[LaggedHead]) -> npt.NDArray[np.float64]:
        weights = np.stack([self.weights[head.pair].astype(np.float32) for head in heads])
        times = token_spans(shifted_mean(weights, [head.lag for head in heads]), self.row, self.silence, self.step_ms)
        first = ((word, places[0]) for word, places in spoken_places(self.row).items() if word in self.word_times)
        return np.array([times[at][0] * self.step_ms - self.word_times[word][0] for word, at in first])


def _known_spans(utterances: Sequence[Utterance], words: Sequence[TextWord]) -> Mapping[int, TimeSpan]:
    times = [utterance.word_times for utterance in utterances]
    return {
        index: times[word.utterance][word.position][1]
        for index, word in enumerate(words)
        if len(times[word.utterance]) == len(utterances[word.utterance].verbatim())
    }


def _around(utterances: Sequence[Utterance]) -> TimeSpan:
    spans = [utterance.span for utterance in utterances if utterance.span]
    return TimeSpan(max(0, spans[0].start_ms - _MARGIN_MS), spans[-1].end_ms + _MARGIN_MS)
