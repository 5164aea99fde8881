"""Decoder tokens per row: counted with a checkpoint's tokenizer, or estimated without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lsa_whisper.checkpoint.vocabulary import is_multilingual
from lsa_whisper.checkpoint.whisper_constants import DECODER_POSITIONS
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import tokens_at_most
from lsa_whisper.manifest import TIMESTAMP, Segment
from lsa_whisper.system import plain_json

_BEGIN = 4
"""Every sequence starts with at most four special tokens: start, language, task, no timestamps."""


@dataclass(frozen=True)
class TokenCounter:
    """Counts the decoder's input tokens of a row: prompt, special tokens and text, without end of text.

    ``limit`` is the decoder's number of positions. An estimate, which is not ``exact``, is almost always too high.
    """

    count: Callable[[Segment], int]
    limit: int
    exact: bool


def token_counter(model: Path | None = None) -> TokenCounter:
    """Return a counter for the checkpoint folder ``model``, or an estimate for OpenAI's vocabularies.

    >>> token_counter().count(Segment("a.wav", 0, 2, "<|0.00|>yes .<|1.90|>"))
    9

    Raises:
        CheckpointError: The folder has no readable tokenizer.
    """
    if model is None:
        return TokenCounter(_estimate, DECODER_POSITIONS, exact=False)
    from tokenizers import Tokenizer

    path = Path(model) / "tokenizer.json"
    if not path.is_file():
        raise CheckpointError(f"{model}: has no tokenizer.json; name a checkpoint folder, such as models/nano")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise CheckpointError(f"{path}: cannot be read as a tokenizer ({error}); copy the checkpoint again") from error
    limit = plain_json.read_mapping(Path(model) / "config.json").get("max_target_positions", DECODER_POSITIONS)
    settings = SimpleNamespace(**plain_json.read_mapping(Path(model) / "generation_config.json"))
    return TokenCounter(_Exact(tokenizer, is_multilingual(settings)), int(limit), exact=True)


def _estimate(row: Segment) -> int:
    parts = [part for part in TIMESTAMP.split(row.text)[::2] if part.strip()]
    return _BEGIN + sum(map(tokens_at_most, parts)) + (tokens_at_most(row.prompt) if row.prompt else 0)


class _Exact:
    """Counts as :class:`lsa_whisper.dataset.LabelEncoder` does, without torch."""

    def __init__(self, tokenizer: Any, multilingual: bool):
        self.tokenizer = tokenizer
        self.begin = 3 if multilingual else 1
        self.marks_plain = tokenizer.token_to_id("<|notimestamps|>") is not None

    def __call__(self, row: Segment) -> int:
        parts = TIMESTAMP.split(row.text)
        stamps = len(parts) // 2
        plain = int(self.marks_plain and not stamps)
        prompt = 1 + self._words(row.prompt) if row.prompt else 0
        return prompt + self.begin + plain + stamps + sum(map(self._words, parts[::2]))

    def _words(self, text: str) -> int:
        return len(self.tokenizer.encode(f" {text.strip()}", add_special_tokens=False).ids) if text.strip() else 0
