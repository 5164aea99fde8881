"""What every engine does in the same way: windows -> log-mel spectra of the encoder's shape, tokens -> text."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
import torch

from lsa_whisper.audio.speech_energy import silence_of
from lsa_whisper.checkpoint import Checkpoint, ConvertedCheckpoint, decoder_prompt, language_tokens
from lsa_whisper.decoding.batches import Batches
from lsa_whisper.decoding.cross_attention import Weights, mean_in_step
from lsa_whisper.decoding.decoder import DecodedWindow, SegmentParser
from lsa_whisper.decoding.no_speech import NoSpeechRule
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.text_limits import token_limit, tokens_per_s, usual_tokens_per_s
from lsa_whisper.decoding.token_times import Span, token_times
from lsa_whisper.errors import CheckpointError


def log_mel(extractor: Any, windows: Sequence[np.ndarray], input_s: float) -> torch.Tensor:
    """Return float32 spectra ``(batch, mels, frames)``, padded to what the encoder sees.

    The windows are float32 mono samples at the extractor's rate, of which later ones are ignored. For ``input_s`` see
    :func:`~lsa_whisper.checkpoint.trimming.encoder_input_s`.
    """
    spectra: torch.Tensor = extractor(
        list(windows),
        sampling_rate=extractor.sampling_rate,
        return_tensors="pt",
        padding="max_length",
        max_length=round(input_s * extractor.sampling_rate),
        truncation=True,
    ).input_features
    return spectra


class LastEncoded:
    """What the encoder made of the last window that it was given alone.

    The language of a recording is detected in a window that is decoded, which need not be encoded twice.
    """

    def __init__(self) -> None:
        self._last: tuple[np.ndarray, Any] | None = None

    def encoded(
        self,
        windows: Sequence[np.ndarray],
        encode: Callable[[Sequence[np.ndarray]], Any],
        inserted: Callable[[Any, Any, int], Any],
        input_s: Callable[[Sequence[np.ndarray]], float],
    ) -> Any:
        """Return what ``encode`` makes of a batch of windows; one of them may have been encoded before.

        The windows are float32 mono samples, and ``encode`` returns ``(batch, positions, width)``. ``inserted`` puts
        one encoded window at an index among others; ``input_s`` returns the length of the encoder's input for a batch,
        which differs if it is trimmed.
        """
        last = self._last  # another thread may set it
        at = next((at for at, window in enumerate(windows) if last and np.array_equal(last[0], window)), None)
        new = [window for number, window in enumerate(windows) if number != at]
        if last and at is not None and not new:
            return last[1]
        if last and at is not None and input_s(windows) == input_s([last[0]]) == input_s(new):
            return inserted(encode(new), last[1], at)
        hidden = encode(windows)
        if len(windows) == 1:
            self._last = (windows[0], hidden)
        return hidden


class WindowDecoder:
    """Decodes windows with a checkpoint, by the library of a subclass.

    Attributes:
        second: Writes the second text of each window, where the style compares two.
        prompt: Tokens before each window's text.
    """

    second: WindowDecoder | None = None
    prompt: list[int]

    def __init__(
        self,
        checkpoint: Checkpoint | ConvertedCheckpoint,
        settings: Any,
        positions: int,
        *,
        batch_size: int,
        word_times: bool,
        silence: NoSpeechRule,
        style: DecodingStyle | None,
    ):
        """Take a checkpoint; :meth:`_begin` completes the decoder once the subclass knows its tokens.

        ``batch_size`` windows of the full context are decoded together. With ``word_times``, each token is timed;
        ``silence`` says what is done with windows without speech. The style is by default that of its labels.
        """
        self._checkpoint, self._settings, self._positions = checkpoint, settings, positions
        self.batch_size, self._word_times, self.silence = batch_size, word_times, silence
        self.style = style or DecodingStyle(checkpoint.labels)
        self._tokens_per_s, self._usual_per_s = tokens_per_s(self.style), usual_tokens_per_s(len(checkpoint.tokenizer))
        self._rate_hz = int(checkpoint.feature_extractor.sampling_rate)
        self._languages = language_tokens(checkpoint.tokenizer, settings)
        self._last, self._workers = LastEncoded(), 1
        self._texts: dict[tuple[int, ...], str] = {}  # of single tokens: the tokenizer takes long for each

    def _begin(self, end: int, timestamps_s: dict[int, float], language: str | None) -> None:
        self._parser, self._has_times = SegmentParser(end, timestamps_s, self._text), bool(timestamps_s)
        if not language and len(self._languages) < 2:
            raise CheckpointError(
                f"{self._checkpoint.path}: knows one language only, so none can be detected; name it with `language`"
            )
        self.prompt = self._prompt_in(language or next(iter(self._languages)))

    def _prompt_in(self, language: str) -> list[int]:
        if self.style.is_stock and not self._languages and language != "en":
            raise CheckpointError(
                f"{self._checkpoint.path}: knows English only; choose a model of many languages, such as base"
            )
        self._start = decoder_prompt(
            self._checkpoint.tokenizer, self._settings, language=language, with_timestamps=self._has_times
        )
        return self._prompt_after("")

    def _prompt_after(self, previous: str) -> list[int]:
        return self.style.before(self._start, self._checkpoint.tokenizer, self._settings, previous, self._positions)

    def with_language(self, language: str) -> Self:
        """Return a decoder with the same model for another language (Whisper's code)."""
        other = copy.copy(self)
        other.prompt = other._prompt_in(language)
        other.second = self.second and self.second.with_language(language)
        return other

    def detect_languages(self, windows: Sequence[np.ndarray]) -> list[dict[str, float]]:
        """Return the probability of each language (Whisper's code) in each window; of none if the model knows one."""
        if len(self._languages) < 2:
            return [{} for _ in windows]
        return self._batches(windows).in_threads(self._detect)

    def _detect(self, windows: Sequence[np.ndarray]) -> list[dict[str, float]]:
        start = self._start[: self._start.index(int(self._settings.decoder_start_token_id)) + 1]
        logits = self._next_logits(start, windows)
        scores = logits[:, [*self._languages.values()]].float().softmax(dim=-1).tolist()
        return [dict(zip(self._languages, row, strict=True)) for row in scores]

    def _next_logits(self, start: list[int], windows: Sequence[np.ndarray]) -> torch.Tensor:
        """Return the logits ``(batch, vocabulary)`` of each window's token after ``start``."""
        raise NotImplementedError

    def _batches(self, windows: Sequence[np.ndarray]) -> Batches[np.ndarray]:
        return Batches(windows, self.batch_size, self._input_share, workers=self._workers)

    def _duration_s(self, window: np.ndarray) -> float:
        return min(len(window) / self._rate_hz, self._checkpoint.context_s)

    def _input_share(self, window: np.ndarray) -> float:
        return self._checkpoint.encoder_input_s(len(window) / self._rate_hz) / self._checkpoint.context_s

    def _input_s(self, windows: Sequence[np.ndarray]) -> float:
        return self._checkpoint.encoder_input_s(max(map(len, windows)) / self._rate_hz)

    def _limit(self, duration_s: float) -> int:
        return token_limit(duration_s, len(self.prompt), self._positions, self._tokens_per_s)

    def _usual_length(self, duration_s: float) -> int:
        """Return after how many tokens a text that ends in copies is given up."""
        return token_limit(duration_s, len(self.prompt), self._positions, self._usual_per_s)

    def _result(
        self,
        tokens: Sequence[int],
        logprobs: Sequence[float],
        duration_s: float,
        no_speech_prob: float,
        times_s: Sequence[Span],
    ) -> DecodedWindow:
        window = self._parser.window(tokens, logprobs, duration_s, self._limit(duration_s), times_s)
        return self.silence.apply(window, no_speech_prob, is_echo=self.style.is_echo(window.text))

    def _timed_parts(self, rows: Sequence[list[int]], durations_s: Sequence[float]) -> list[list[int]]:
        """Return of each row of tokens those whose times are needed."""
        return [
            row[: self._parser.timed_length(row, self._limit(duration_s), is_compared=self.style.is_compared)]
            for row, duration_s in zip(rows, durations_s, strict=True)
        ]

    def _token_times(
        self, weights: Iterable[Weights], texts: Sequence[list[int]], sounds: Sequence[np.ndarray]
    ) -> list[list[Span]]:
        """Return the start and end in seconds of each token of each text, from the attention of the alignment heads."""
        step_s = self._checkpoint.time_precision_s
        return [
            token_times(
                mean_in_step(weight[:, :, : max(1, round(self._duration_s(sound) / step_s))]),
                self._duration_s(sound),
                step_s,
                texts=["" if token in self._parser.timestamps_s else self._text([token]) for token in tokens],
                silence=silence_of(sound, self._rate_hz),
            )
            if tokens
            else []
            for weight, tokens, sound in zip(weights, texts, sounds, strict=True)
        ]

    def _text(self, tokens: Sequence[int]) -> str:
        key = tuple(tokens)
        if (text := self._texts.get(key)) is None:
            decode = self._checkpoint.tokenizer.decode
            text = str(decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))
            if len(key) == 1:
                self._texts[key] = text
        return text
