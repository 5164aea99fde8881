"""Choose the alignment heads of a decoder on a corpus with word times.

OpenAI lists such heads for each of its models. A model trained from scratch has no list, and one that was fine-tuned
far from its base may have other heads. The model decodes some windows of the corpus; heads are added one by one, the
best first, as long as the start times of correctly recognized words get more accurate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper import checkpoint
from lsa_whisper.audio import Samples
from lsa_whisper.audio.speech_energy import silence_of
from lsa_whisper.chat import Utterance
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.folder import verify_changeable
from lsa_whisper.corpus import Session, discover
from lsa_whisper.decoding.cross_attention import Head, alignment_heads, cross_attention, mean_in_step
from lsa_whisper.decoding.decoder import DecodedWindow, TimedToken
from lsa_whisper.decoding.token_times import spoken_spans
from lsa_whisper.decoding.word_times import align_words
from lsa_whisper.errors import CheckpointError, CorpusError, LsaWhisperError
from lsa_whisper.labels import decode
from lsa_whisper.languages import whisper_code
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask
from lsa_whisper.timespan import TimeSpan

if TYPE_CHECKING:
    from lsa_whisper.decoding.transformers_engine import TransformersDecoder

LIMITS_MS = (50, 100, 200)
_MAX_ERROR_MS = 200.0  # larger errors count as this
_CANDIDATES = 12
_MARGIN_MS = 200

Errors = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HeadChoice:
    """The chosen alignment heads and their accuracy.

    Attributes:
        chosen: ``(layer, head)`` pairs, the best first.
        words: Number of words compared.
        within: Share of words whose start time is within each of ``LIMITS_MS`` of the reference, for the previous heads
            and for the chosen ones.
    """

    chosen: tuple[Head, ...]
    words: int
    within: tuple[tuple[float, ...], tuple[float, ...]]

    def table(self) -> str:
        """Return the shares before and after, and the heads.

        >>> print(HeadChoice(((1, 3), (1, 0)), 200, ((0.5, 0.6, 0.7), (0.7, 0.8, 0.9))).table())
        word starts within   50 ms  100 ms  200 ms
        before               50.0%   60.0%   70.0%
        chosen               70.0%   80.0%   90.0%
        200 words; heads (layer, head): (1, 3) (1, 0)
        """
        head = "word starts within" + "".join(f"{limit:5d} ms" for limit in LIMITS_MS)
        rows = [
            f"{name:<18}" + "".join(f"{share:8.1%}" for share in shares)
            for name, shares in zip(("before", "chosen"), self.within, strict=True)
        ]
        return "\n".join([head, *rows, f"{self.words} words; heads (layer, head): {' '.join(map(str, self.chosen))}"])


@dataclass(frozen=True)
class _Window:
    """Consecutive utterances that all have word times."""

    session: Session
    utterances: tuple[Utterance, ...]
    span: TimeSpan


@private_umask()
def choose_heads(
    model: Path | str, corpus: Sequence[Path | str], *, window_count: int = 40, device: str = "auto"
) -> HeadChoice:
    """Choose a model's alignment heads, write them into its ``generation_config.json``, and return them.

    Args:
        model: A checkpoint folder (export an adapter first).
        corpus: Folders of CHAT files with ``%wor`` and their recordings; not those that the model is tested on.
        window_count: Number of windows to decode, spread over the corpus (each needs about 0.15 GB with a large model).
        device: ``auto`` takes a GPU where there is one.

    Raises:
        CheckpointError: The model cannot be loaded, or is not the folder of a complete model.
        CorpusError: No word of the corpus has a time.
        LsaWhisperError: ``window_count`` is less than 1.
    """
    from lsa_whisper.decoding.engines import resolve_device

    if window_count < 1:
        raise LsaWhisperError(f"window_count is {window_count}; give 1 or more")
    settings = Path(model) / "generation_config.json"
    if not settings.is_file():
        raise CheckpointError(
            f"{settings}: does not exist; give the folder of a complete model (export merges an adapter)"
        )
    verify_changeable(settings.parent)
    timed_windows = _windows([Path(folder) for folder in corpus], checkpoint.load(model, weights=False).context_s)
    if not timed_windows:
        raise CorpusError("no utterance of the corpus has word times; give one whose transcripts have %wor")
    device, _ = resolve_device(device, "float32")
    print_progress(checkpoint.overview_line(model))
    loaded = checkpoint.load(model, device=device)
    places = np.unique(np.linspace(0, len(timed_windows) - 1, window_count).round().astype(int))
    with torch.inference_mode():
        decoded = _decode_windows(loaded, [timed_windows[at] for at in places])
    before_heads = tuple(alignment_heads(loaded.model))
    before = _errors(decoded, before_heads)
    if not len(before):
        raise CorpusError("the model recognizes no word of the corpus; give a corpus like its training data")
    heads, after = _greedy(decoded)
    if after.mean() > before.mean():
        heads, after = before_heads, before
    content = plain_json.read(settings) | {"alignment_heads": [list(head) for head in heads]}
    write_atomic(json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n", settings)
    return HeadChoice(heads, len(after), (_within(before), _within(after)))


def _within(errors: Errors) -> tuple[float, ...]:
    return tuple(round(float((errors <= limit).mean()), 4) for limit in LIMITS_MS)


def _greedy(decoded: Sequence[_AttentionWindow]) -> tuple[tuple[Head, ...], Errors]:
    """Return the best heads together, added one by one from the best single heads."""
    alone = {head: float(_errors(decoded, [head]).mean()) for head in decoded[0].heads}
    candidates = sorted(alone, key=lambda head: alone[head])[:_CANDIDATES]
    for window in decoded:
        window.keep(candidates)
    chosen: list[Head] = []
    best = np.full(1, np.inf)
    while rest := [head for head in candidates if head not in chosen]:
        errors = {head: _errors(decoded, [*chosen, head]) for head in rest}
        head = min(rest, key=lambda candidate: float(errors[candidate].mean()))
        if errors[head].mean() >= best.mean():
            break
        chosen, best = [*chosen, head], errors[head]
    return tuple(chosen), best


def _errors(decoded: Sequence[_AttentionWindow], heads: Sequence[Head]) -> Errors:
    """Return the error of each word's start time in ms, limited to just above ``_MAX_ERROR_MS``."""
    return np.minimum([error for window in decoded for error in window.errors_ms(heads)], _MAX_ERROR_MS + 1)


class _AttentionWindow:
    """A window, its decoded words, and the cross-attention of all heads."""

    def __init__(
        self,
        loaded: Checkpoint,
        window: _Window,
        result: DecodedWindow,
        decoder: TransformersDecoder,
        hidden: torch.Tensor,
        sound: Samples,
    ):
        self._step_s, self._begin_ms = loaded.time_precision_s, window.span.start_ms
        self._utterances = [
            utterance for segment in result.segments for utterance in decode(segment.text, loaded.labels).utterances
        ]
        self._reference = [(word.lower(), at.start_ms) for tier in window.utterances for word, at in tier.word_times]
        tokens, self._is_timestamp = _tokens_of(result, loaded.tokenizer, decoder.rules.timestamps_s)
        self._texts = [
            "" if is_timestamp else str(loaded.tokenizer.decode([token]))
            for token, is_timestamp in zip(tokens, self._is_timestamp, strict=True)
        ]
        config = loaded.model.config
        self.heads = [
            (layer, head) for layer in range(config.decoder_layers) for head in range(config.decoder_attention_heads)
        ]
        frames = max(1, int(window.span.duration_ms / 1000 / self._step_s))
        (weights,) = cross_attention(loaded.model, hidden, decoder.prompt, [tokens], self.heads)
        self._silence = silence_of(sound, loaded.feature_extractor.sampling_rate)
        self._weights = dict(zip(self.heads, weights[:, :, :frames].astype(np.float16), strict=True))

    def keep(self, heads: Sequence[Head]) -> None:
        """Drop the attention of all other heads."""
        self._weights = {head: self._weights[head] for head in heads}

    def errors_ms(self, heads: Sequence[Head]) -> Iterator[float]:
        """Yield the error of the start time of each correctly recognized word."""
        weights = mean_in_step(np.stack([self._weights[head] for head in heads]).astype(np.float32))
        spans = spoken_spans(weights, self._texts, self._silence, 1000 * self._step_s)
        tokens = [
            TimedToken(text, begin * self._step_s, end * self._step_s)
            for text, (begin, end), is_timestamp in zip(self._texts, spans, self._is_timestamp, strict=True)
            if not is_timestamp
        ]
        hypothesis = [
            (word.lower(), at.start_ms)
            for words in align_words(self._utterances, tokens, self._begin_ms)
            for word, at in words
        ]
        matcher = SequenceMatcher(
            None, [word for word, _ in self._reference], [word for word, _ in hypothesis], autojunk=False
        )
        for block in matcher.get_matching_blocks():
            for at in range(block.size):
                yield abs(hypothesis[block.b + at][1] - self._reference[block.a + at][1])


def _tokens_of(
    result: DecodedWindow, tokenizer: Any, timestamps_s: Mapping[int, float]
) -> tuple[list[int], list[bool]]:
    """Return the tokens of a window's segments between their timestamps, and which of them are timestamps."""
    timestamp_at = {round(at_s, 2): token for token, at_s in timestamps_s.items()}
    tokens: list[int] = []
    for segment in result.segments:
        words = tokenizer.encode(f" {segment.text}", add_special_tokens=False)
        edges = (timestamp_at.get(round(edge_s, 2)) for edge_s in (segment.start_s, segment.end_s))
        begin, end = ([] if edge is None else [edge] for edge in edges)
        tokens += [*begin, *words, *end]
    return tokens, [token in timestamps_s for token in tokens]


def _decode_windows(loaded: Checkpoint, windows: Sequence[_Window]) -> list[_AttentionWindow]:
    """Return the decoded windows with their attention, without empty ones."""
    from lsa_whisper.decoding.transformers_engine import TransformersDecoder

    decoded = []
    for window in windows:
        decoder = TransformersDecoder(loaded, language=whisper_code(window.session.language), batch_size=1)
        sound = window.session.recording.load(window.span)
        (result,) = decoder.decode([sound])
        if result.segments and result.complete:
            decoded.append(_AttentionWindow(loaded, window, result, decoder, decoder.encode([sound]), sound))
    return decoded


def _windows(folders: Sequence[Path], context_s: float) -> list[_Window]:
    windows = []
    for session in (session for folder in folders for session in discover(folder)[0]):
        group: list[Utterance] = []
        for utterance in session.transcript.utterances:
            timed = utterance.span is not None and utterance.word_times
            if group and not (timed and (_span([*group, utterance]).duration_ms <= context_s * 1000)):
                windows.append(_Window(session, tuple(group), _span(group)))
                group = []
            if timed and _span([utterance]).duration_ms <= context_s * 1000:
                group.append(utterance)
        if group:
            windows.append(_Window(session, tuple(group), _span(group)))
    return windows


def _span(utterances: Sequence[Utterance]) -> TimeSpan:
    spans = [utterance.span for utterance in utterances if utterance.span]
    return TimeSpan(max(0, spans[0].start_ms - _MARGIN_MS), max(span.end_ms for span in spans) + _MARGIN_MS)
