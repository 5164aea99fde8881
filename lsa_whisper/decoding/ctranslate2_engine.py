"""The CTranslate2 engine: windows -> the encoder's output -> what is found in it -> text with times.

Of several texts that it follows at once, the library tells no probabilities of tokens. They come from the pass that
times the tokens.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lsa_whisper.checkpoint import ConvertedCheckpoint
from lsa_whisper.decoding.ctranslate2_attention import ConvertedAttention
from lsa_whisper.decoding.ctranslate2_search import CTranslate2Search, FoundRow
from lsa_whisper.decoding.ctranslate2_steps import array_of, in_one_batch, inserted, part_of, storage_view
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.no_speech import WHISPERS_RULE, NoSpeechRule
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.token_times import Span
from lsa_whisper.decoding.two_texts import likelier_texts, most_tokens
from lsa_whisper.decoding.window_decoder import log_mel

_MARGIN_FRAMES = 200
"""Encoder frames behind the sound that its words may attend to, too; the rest of the context is left out.

On clips of ten real meetings, 85 % of utterances start within 200 ms as with the whole context, and 83 % with 50 or 100
frames. A window of 8 s is timed in less than half of the time."""


class CTranslate2Decoder(CTranslate2Search):
    """Decodes windows with a converted checkpoint."""

    second: CTranslate2Decoder | None = None

    def __init__(
        self,
        checkpoint: ConvertedCheckpoint,
        *,
        language: str | None = "en",
        batch_size: int = 8,
        word_times: bool = False,
        silence: NoSpeechRule = WHISPERS_RULE,
        style: DecodingStyle | None = None,
        attention: ConvertedAttention | None = None,
    ):
        super().__init__(checkpoint, batch_size=batch_size, word_times=word_times, silence=silence, style=style)
        self._begin(self._allowed.end, self._allowed.timestamps_s, language)
        self._spectra_lock = threading.Lock()  # one batch at a time: the Fourier transform needs much memory
        self._attention = attention or (ConvertedAttention(checkpoint) if word_times else None)
        if self.style.second:
            self.second = CTranslate2Decoder(
                checkpoint,
                language=language,
                word_times=word_times,
                silence=silence,
                style=self.style.second,
                attention=self._attention,
            )

    def _next_logits(self, start: list[int], windows: Sequence[np.ndarray]) -> torch.Tensor:
        steps = self._first_steps(start, self._encoded(windows), len(windows))
        return torch.from_numpy(np.stack([logits for logits, _ in steps]))

    def _spectra(self, windows: Sequence[np.ndarray]) -> np.ndarray:
        """Return the log-mel spectra ``(batch, mels, frames)`` of windows with one length of encoder inputs."""
        with self._spectra_lock:
            return np.asarray(log_mel(self._checkpoint.feature_extractor, windows, self._input_s(windows)))

    def decode(self, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        """Return one result per window, in order."""
        return self._batches(windows).in_threads(self._decode_batch)

    def _decode_batch(self, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        durations_s = [self._duration_s(window) for window in windows]
        hidden = self._encoded(windows)
        texts = self.texts(self.rows(hidden, durations_s), hidden, windows)
        if (engine := self.second) is None:
            return texts
        rows: dict[int, FoundRow] = {}

        def second(indices: Sequence[int], *, with_times: bool) -> list[DecodedWindow]:
            part, sounds = part_of(hidden, indices), [windows[at] for at in indices]
            if not with_times:
                most = [most_tokens(texts[at]) for at in indices]
                rows.update(zip(indices, engine.rows(part, [durations_s[at] for at in indices], most), strict=True))
            return engine.texts([rows[at] for at in indices], part, sounds, with_times=with_times)

        return likelier_texts(texts, second)

    def texts(
        self, rows: Sequence[FoundRow], hidden: Any, windows: Sequence[np.ndarray], *, with_times: bool = True
    ) -> list[DecodedWindow]:
        """Return the texts of rows, with token times if they are requested."""
        told = self._times_and_scores(hidden, windows, rows) if with_times else [([], row[1]) for row in rows]
        parts = zip(rows, map(self._duration_s, windows), told, strict=True)
        return [self._result(row[0], scores, length_s, row[2], times_s) for row, length_s, (times_s, scores) in parts]

    def _encoded(self, windows: Sequence[np.ndarray]) -> Any:
        return self._last.encoded(windows, self._encode, inserted, self._input_s)

    def _encode(self, windows: Sequence[np.ndarray]) -> Any:
        spectra = self._spectra(windows)
        if self._model.device != "cpu":
            return self._model.encode(storage_view(spectra))
        # One after another takes no longer, and the attention of eight needs half a gigabyte in each layer of base.
        return in_one_batch([self._model.encode(storage_view(spectra[at : at + 1])) for at in range(len(windows))])

    def _times_and_scores(
        self, hidden: Any, windows: Sequence[np.ndarray], rows: Sequence[FoundRow]
    ) -> list[tuple[list[Span], list[float]]]:
        """Return the start and end of each token in seconds, and the log-probabilities, of each row.

        The times are nothing unless word times are requested.
        """
        if not self._attention:
            return [([], row[1]) for row in rows]
        texts = self._timed_parts([row[0] for row in rows], [*map(self._duration_s, windows)])
        heard = torch.from_numpy(array_of(hidden))
        if all(row[1] for row in rows):
            longest = round(max(map(self._duration_s, windows)) / self._checkpoint.time_precision_s)
            heard = heard[:, : longest + _MARGIN_FRAMES]
            times = self._token_times(self._attention.of_rows(heard, self.prompt, texts), texts, windows)
            return [(times_s, row[1]) for times_s, row in zip(times, rows, strict=True)]
        found = [*self._attention.scored_rows(heard, self.prompt, [row[0] for row in rows], self._allowed.suppressed)]
        weights = (weights[:, : len(text)] for (weights, _), text in zip(found, texts, strict=True))
        times = self._token_times(weights, texts, windows)
        return [(times_s, row[1] or scores) for times_s, row, (_, scores) in zip(times, rows, found, strict=True)]
