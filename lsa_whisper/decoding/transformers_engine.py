"""The transformers engine: decoding in batches, with timestamps and a key-value cache.

Whisper's own ``generate`` is not used: its long-form loop seeks through the recording itself (we cut in silence, so
each window is decoded once), it falls back to sampling on repetitions, and its overhead exceeds a small model's forward
pass.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import torch

from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.trimming import shorter_input
from lsa_whisper.decoding.beam_search import guarded_search
from lsa_whisper.decoding.cross_attention import alignment_heads, cross_attention
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.greedy import FoundTexts, Search, greedy_search
from lsa_whisper.decoding.no_speech import WHISPERS_RULE, NoSpeechRule
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.token_times import Span
from lsa_whisper.decoding.two_texts import likelier_texts
from lsa_whisper.decoding.window_decoder import WindowDecoder, log_mel


class TransformersDecoder(WindowDecoder):
    """Decodes windows with a loaded checkpoint."""

    _checkpoint: Checkpoint
    second: TransformersDecoder | None = None

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        language: str | None = "en",
        batch_size: int = 8,
        word_times: bool = False,
        silence: NoSpeechRule = WHISPERS_RULE,
        style: DecodingStyle | None = None,
    ):
        self.model = checkpoint.model
        settings, size = self.model.generation_config, self.model.config.vocab_size
        super().__init__(
            checkpoint,
            settings,
            self.model.config.max_target_positions,
            batch_size=batch_size,
            word_times=word_times,
            silence=silence,
            style=style,
        )
        self.rules = DecodingRules(
            checkpoint.tokenizer,
            settings,
            size,
            self.model.device,
            timestamps=self.style.timestamps,
            words=self.style.words,
        )
        self._begin(self.rules.end, self.rules.timestamps_s, language)
        if self.style.second:
            self.second = TransformersDecoder(
                checkpoint,
                language=language,
                word_times=word_times,
                silence=silence,
                style=self.style.second,
            )

    def _next_logits(self, start: list[int], windows: Sequence[np.ndarray]) -> torch.Tensor:
        with self._checkpoint.in_use, torch.inference_mode():
            hidden = self._encoded(windows)
            inputs = torch.tensor([start] * len(windows), device=self.model.device)
            logits: torch.Tensor = self.model(encoder_outputs=(hidden,), decoder_input_ids=inputs).logits[:, -1]
        return logits

    def decode(self, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        """Return one result per window, in order."""
        batches, texts = self._batches(windows), []
        for batch in batches:
            with self._checkpoint.in_use, torch.inference_mode():
                texts.append(self.texts(self._encoded(batch), batch))
        return batches.in_order(texts)

    def _encoded(self, windows: Sequence[np.ndarray]) -> torch.Tensor:
        hidden: torch.Tensor = self._last.encoded(
            windows,
            self.encode,
            lambda states, row, at: torch.cat([states[:at], row, states[at:]]),
            self._input_s,
        )
        return hidden

    def decode_with_prompt(self, window: np.ndarray, previous: str) -> DecodedWindow:
        """Return the result of one window, with the text of the one before it as Whisper's prompt.

        Of a long text, the end is used, up to half of the decoder's positions. A vocabulary that has no token for it
        ignores the text.
        """
        return self.after(previous).decode([window])[0]

    def after(self, previous: str) -> TransformersDecoder:
        """Return a decoder with the same model whose windows follow the text ``previous``."""
        other = copy.copy(self)
        other.prompt, other.second = self._prompt_after(previous), self.second and self.second.after(previous)
        return other

    def texts(self, hidden: torch.Tensor, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        """Return the text of each window of a batch; with a second style, the likelier words of two texts.

        ``hidden``, ``(batch, positions, width)``, is what the encoder makes of the windows.
        """
        durations_s = torch.tensor([self._duration_s(window) for window in windows], device=hidden.device)
        decoders = [self, *([self.second] if self.second else [])]
        searches = [decoder.search(len(windows)) for decoder in decoders]
        beams = [decoder.style.beams for decoder in decoders]
        if max(beams) == 1:
            runs = greedy_search(self.model, hidden, searches, durations_s)
        else:
            runs = [
                guarded_search(self.model, hidden, search, durations_s, beams=count)
                for search, count in zip(searches, beams, strict=True)
            ]
        texts = self.texts_of(runs[0], hidden, windows)
        if (engine := self.second) is None:
            return texts

        def second(indices: Sequence[int], *, with_times: bool) -> list[DecodedWindow]:
            rows = torch.tensor([*indices], device=hidden.device)
            tokens, logprobs, no_speech = (part[rows] for part in runs[1])
            part, sounds = hidden[rows], [windows[at] for at in indices]
            return engine.texts_of((tokens, logprobs, no_speech), part, sounds, with_times=with_times)

        return likelier_texts(texts, second)

    def search(self, count: int) -> Search:
        """Return what is searched in ``count`` windows."""
        prompts = torch.tensor([self.prompt] * count, device=self.model.device)
        latest_s = self._checkpoint.context_s if self.style.is_compared else None
        return Search(prompts, self.rules, self.silence, self._tokens_per_s, latest_s, self._usual_per_s)

    def texts_of(
        self, result: FoundTexts, hidden: torch.Tensor, windows: Sequence[np.ndarray], *, with_times: bool = True
    ) -> list[DecodedWindow]:
        """Return what was found in a batch as text, with token times if they are requested; see :meth:`texts`."""
        tokens, logprobs, no_speech = result
        rows, durations_s = tokens.tolist(), [self._duration_s(window) for window in windows]
        times = self._times_s(rows, durations_s, hidden, windows) if with_times else [[] for _ in rows]
        parts = zip(rows, logprobs.tolist(), durations_s, no_speech.tolist(), times, strict=True)
        return [self._result(*row) for row in parts]

    def features(self, windows: Sequence[np.ndarray]) -> torch.Tensor:
        """Return the log-mel spectra ``(batch, mels, frames)`` of windows with one length of encoder inputs."""
        spectra = log_mel(self._checkpoint.feature_extractor, windows, self._input_s(windows))
        return spectra.to(self.model.device, self.model.dtype)

    def encode(self, windows: Sequence[np.ndarray]) -> torch.Tensor:
        """Return the encoder's output ``(batch, positions, width)`` for windows with one length of its inputs."""
        features, encoder = self.features(windows), self.model.get_encoder()
        with shorter_input(encoder, features):
            hidden: torch.Tensor = encoder(features).last_hidden_state
        return hidden

    def _times_s(
        self,
        rows: Sequence[list[int]],
        durations_s: Sequence[float],
        hidden: torch.Tensor,
        sounds: Sequence[np.ndarray],
    ) -> list[list[Span]]:
        """Return the start and end of each token of each row in seconds; nothing unless word times are requested."""
        if not self._word_times:
            return [[] for _ in rows]
        texts = self._timed_parts(rows, durations_s)
        weights = cross_attention(self.model, hidden, self.prompt, texts, alignment_heads(self.model))
        return self._token_times(weights, texts, sounds)
