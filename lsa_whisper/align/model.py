"""A loaded model as alignment uses it: free transcription, the probability of known text, and its attention.

The path through a window's attention to known text tells when each token is heard. OpenAI lists the heads of each model
that follow the sound. But some of them are late by 200 ms, and some that are not listed are better. So the heads are
measured once for each model (``measuring``), with their lags: how long before or after a word's sound a head attends to
it. They are kept in the user's cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper.align.ranges import Scores
from lsa_whisper.align.text import TextToken
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt, digest
from lsa_whisper.decoding.cross_attention import Weights, cross_attention
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.decoding.token_times import Span, constrained_spans, with_codes
from lsa_whisper.decoding.transformers_engine import TransformersDecoder
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.labels import Labels
from lsa_whisper.system import machine, plain_json
from lsa_whisper.system.atomic_write import write_atomic


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


@dataclass(frozen=True)
class AlignmentHeads:
    """What is known about a model's attention.

    Attributes:
        heads: The heads that follow the sound, the best first.
        labels: How the known text is written for the model.
    """

    heads: tuple[LaggedHead, ...]
    labels: Labels

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {"heads": [astuple(head) for head in self.heads], "labels": asdict(self.labels)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> AlignmentHeads:
        """Return the heads of an :meth:`as_dict` mapping.

        >>> made = AlignmentHeads((LaggedHead(2, 0, 3),), Labels("verbatim"))
        >>> AlignmentHeads.from_dict(made.as_dict()) == made
        True
        """
        heads = tuple(LaggedHead(*map(int, row)) for row in fields["heads"])
        return cls(heads, Labels.from_dict(fields["labels"]))


def stored_heads(path: str | Path) -> AlignmentHeads | None:
    """Return the heads that an earlier run measured for the model at ``path``, if there are any."""
    try:
        return AlignmentHeads.from_dict(plain_json.read(_place(path)))
    except (OSError, ValueError, TypeError, KeyError, LsaWhisperError):
        return None


def store_heads(path: str | Path, heads: AlignmentHeads) -> None:
    """Keep the heads of the model at ``path`` in the user's cache, if its folder can be written to."""
    place = _place(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(plain_json.serialize(heads.as_dict()), place)
    except (OSError, LsaWhisperError):  # they are measured again next time
        pass


def _place(path: str | Path) -> Path:
    name = digest(path).rpartition(":")[2].replace("/", "-")
    return machine.cache_home() / "lsa-whisper" / "heads" / f"{name}-4.json"  # with 3, words were longer


def token_spans(weights: Weights, row: Sequence[TextToken], silence: Weights, step_ms: float) -> list[Span]:
    """Return the start and end of each token in frames; a speaker code takes none.

    ``row`` are the tokens; the rest is as for :mod:`lsa_whisper.decoding.token_times`.
    """
    in_code = [token.in_code for token in row]
    tokens = [token for token in row if not token.in_code]
    begins = {places[0] for places in spoken_places(tokens).values()}
    continues = [at > 0 and at not in begins for at in range(len(tokens))]
    is_spoken, letters = np.logical_not(in_code), [token.letters for token in tokens]
    spans = constrained_spans(weights[is_spoken], letters, continues, silence, step_ms) if tokens else []
    return with_codes(spans, in_code, weights.shape[1])


def spoken_places(row: Sequence[TextToken]) -> dict[int, list[int]]:
    """Return the places of the tokens of each word that are heard.

    >>> spoken_places([TextToken(7, 0, True), TextToken(8, 0, True), TextToken(9, 0, False)])
    {0: [0, 1]}
    """
    places: dict[int, list[int]] = {}
    for at, token in enumerate(row):
        if token.spoken:
            places.setdefault(token.word, []).append(at)
    return places


_ROWS_AT_ONCE = 16


class AlignmentModel:
    """A checkpoint with the decoder of one language."""

    def __init__(self, checkpoint: Checkpoint, *, language: str, batch_size: int = 8):
        """Take a loaded checkpoint.

        Raises:
            CheckpointError: The model does not know the language.
        """
        self.checkpoint, self._model = checkpoint, checkpoint.model
        self._decoder = TransformersDecoder(checkpoint, language=language, batch_size=batch_size, word_times=True)
        self._end = self._decoder.rules.end
        # Known text is given without timestamps, which are not known yet.
        self._prompt = decoder_prompt(
            checkpoint.tokenizer, self._model.generation_config, language=language, with_timestamps=False
        )
        self.max_tokens = int(self._model.config.max_target_positions) - len(self._prompt) - 1

    def decode(self, windows: Sequence[npt.NDArray[np.float32]]) -> list[DecodedWindow]:
        """Return the free transcription of each window, with token times."""
        return self._decoder.decode(windows)

    def detect_languages(self, windows: Sequence[npt.NDArray[np.float32]]) -> list[dict[str, float]]:
        """Return the probability of each language (Whisper's code) in each window; of none if the model knows one."""
        return self._decoder.detect_languages(windows)

    def encode(self, window: npt.NDArray[np.float32]) -> torch.Tensor:
        """Return the encoder's output for a window, ``(1, frames, width)``."""
        with torch.inference_mode():
            return self._decoder.encode([window])

    def text_scores(self, hidden: torch.Tensor, texts: Sequence[Sequence[int]]) -> Iterator[tuple[Scores, Scores]]:
        """Yield for each text the log-probability of each token, and that of the end of text before each and after all.

        ``hidden`` is the encoder's output for the window; a text has at most :attr:`max_tokens` tokens.
        """
        for first in range(0, len(texts), _ROWS_AT_ONCE):
            yield from self._scored(hidden, texts[first : first + _ROWS_AT_ONCE])

    def _scored(self, hidden: torch.Tensor, texts: Sequence[Sequence[int]]) -> list[tuple[Scores, Scores]]:
        longest, begin = max(map(len, texts)), len(self._prompt) - 1
        rows = [[*self._prompt, *text, *[self._end] * (longest - len(text))] for text in texts]
        inputs = torch.tensor(rows, device=hidden.device)
        with torch.inference_mode():
            states = self._model.model.decoder(
                input_ids=inputs, encoder_hidden_states=hidden.expand(len(texts), -1, -1), use_cache=False
            ).last_hidden_state[:, begin:]
            logits = self._model.proj_out(states).float()
            total = logits.logsumexp(dim=-1)
            ends = (logits[:, :, self._end] - total).double().cpu().numpy()
            tokens = inputs[:, begin + 1 :, None]
            logprobs = (logits[:, :-1].gather(2, tokens)[:, :, 0] - total[:, :-1]).double().cpu().numpy()
        return [(logprobs[at, : len(text)], ends[at, : len(text) + 1]) for at, text in enumerate(texts)]

    def attention(self, hidden: torch.Tensor, tokens: Sequence[int], heads: Sequence[Any]) -> Weights:
        """Return the cross-attention of some heads to known text, ``(heads, tokens, frames)``."""
        with torch.inference_mode():
            return next(cross_attention(self._model, hidden, self._prompt, [tokens], heads))
