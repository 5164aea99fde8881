"""When each token of a label is heard, from the word times of its window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from lsa_whisper.labels import token_places
from lsa_whisper.manifest import WordTime, parse_word_times


class TokenTimes:
    """Gives the tokens of a label the times of their words."""

    def __init__(self, tokenizer: Any, first_timestamp: int):
        """Use the texts of ``tokenizer``; tokens from ``first_timestamp`` on are timestamps, which are not spoken."""
        self._tokenizer, self._first_timestamp = tokenizer, first_timestamp
        self._special = frozenset(tokenizer.all_special_ids)
        self._texts: dict[int, str] = {}

    def spans_s(self, tokens: Sequence[int], prompt_length: int, word_times: str, speed: float = 1.0) -> torch.Tensor:
        """Return the start and end of each token in seconds, (tokens, 2); NaN where no word with a time is heard.

        Args:
            tokens: The whole sequence of the decoder.
            prompt_length: How many tokens at its start carry no loss.
            word_times: The column of the manifest.
            speed: Of the sound, relative to the recording.
        """
        spans = torch.full((len(tokens), 2), math.nan)
        words = parse_word_times(word_times)
        if not words:
            return spans
        texts = [self._text(token) for token in tokens[prompt_length:]]
        for at, place in enumerate(token_places(texts, [word.text for word in words]), prompt_length):
            if place is None:
                continue
            edges_s = _moment_s(words[place.first], place.start), _moment_s(words[place.last], place.end)
            if None not in edges_s:
                spans[at] = torch.tensor(edges_s) / speed
        return spans

    def _text(self, token: int) -> str:
        """Return the text of a token; none for timestamps and special tokens."""
        if token not in self._texts:
            spoken = token < self._first_timestamp and token not in self._special
            text = self._tokenizer.decode([token], clean_up_tokenization_spaces=False) if spoken else ""
            self._texts[token] = str(text)
        return self._texts[token]


def _moment_s(word: WordTime, share: float) -> float | None:
    """Return when ``share`` of a word is over, ``None`` if its time is not known."""
    if word.start_s is None or word.end_s is None:
        return None
    return word.start_s + share * (word.end_s - word.start_s)
