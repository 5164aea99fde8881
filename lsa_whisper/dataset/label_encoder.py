"""The token sequence that the decoder is trained to write for a window, and when each of its tokens is heard."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from lsa_whisper.checkpoint import add_previous_text, decoder_prompt
from lsa_whisper.checkpoint.token_table import TokenTable
from lsa_whisper.checkpoint.whisper_constants import TIMESTAMP_STEP_S
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import token_places
from lsa_whisper.manifest import TIMESTAMP, WordTime, parse_word_times


class TokenTimes:
    """Gives the tokens of a label the times of their words."""

    def __init__(self, tokenizer: Any, first_timestamp: int):
        """Use the texts of ``tokenizer``; tokens from ``first_timestamp`` on are timestamps, which are not spoken."""
        self._tokenizer, self._first_timestamp = tokenizer, first_timestamp
        self._special = frozenset(tokenizer.all_special_ids)
        self._texts: dict[int, str] = {}

    def spans_s(self, tokens: Sequence[int], prompt_length: int, word_times: str, speed: float = 1.0) -> torch.Tensor:
        """Return the start and end of each token in seconds, (tokens, 2); NaN where no word with a time is heard.

        ``tokens`` are the whole sequence of the decoder, of which ``prompt_length`` at the start carry no loss.
        ``word_times`` is the column of the manifest; ``speed`` is that of the sound, relative to the recording.
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


class LabelEncoder:
    """Encodes the decoder's token sequence of a window; the special tokens are looked up once."""

    def __init__(self, tokenizer: Any, generation_config: Any, prompt: str = ""):
        """Encode with a checkpoint's own tokenizer and generation config, each label behind the checkpoint's prompt."""
        self.tokenizer, self.generation_config, self._prompt = tokenizer, generation_config, prompt
        table = TokenTable.of_tokenizer(tokenizer)
        plain = getattr(generation_config, "no_timestamps_token_id", None) or table.added.get("<|notimestamps|>")
        if plain is None:
            raise CheckpointError("the vocabulary has no <|notimestamps|>; fine-tune another model")
        self.first_timestamp = int(plain) + 1
        # A text begins with a space, unless spaces are tokens of their own: there the first one would be a pause.
        self._before_text = "" if table.space is not None else " "
        end = generation_config.eos_token_id
        self._end = int(end[0] if isinstance(end, list) else end)
        self._most_special = 8 + len(table.verbatim_tags)
        self._begins: dict[tuple[str, bool], list[int]] = {}

    def encode(self, text: str, *, lang: str = "en", prompt: str = "") -> tuple[list[int], int]:
        """Return the token ids, and how many of them carry no loss: the previous text, and tags before the start.

        The order is Whisper's: ``<|startofprev|>``, the checkpoint's prompt and the window's, if there are any; start
        of transcript, language and task, ``<|notimestamps|>`` if ``text`` has no timestamps, text, ``<|endoftext|>``.

        Raises:
            CheckpointError: The model is multilingual and does not know ``lang``.
        """
        *texts, prompt_ids = self._words([*TIMESTAMP.split(text)[::2], self._before(prompt)])
        ids = texts[0]
        for second, words in zip(TIMESTAMP.findall(text), texts[1:], strict=True):
            ids = [*ids, self.first_timestamp + round(float(second) / TIMESTAMP_STEP_S), *words]
        config = self.generation_config
        begin = add_previous_text(self._begin(lang, len(texts) > 1), prompt_ids, self.tokenizer, config)
        return [*begin, *ids, self._end], begin.index(int(config.decoder_start_token_id))

    def max_tokens(self, text: str, prompt: str = "") -> int:
        """Return an upper bound of the label's token count without encoding it: every token has at least one byte.

        To the bytes it adds a space before each text between timestamps, the timestamps, and the special tokens.
        """
        words, stamps = TIMESTAMP.subn("", text)
        return len(words.encode()) + len(self._before(prompt).encode()) + 2 * stamps + self._most_special

    def _before(self, prompt: str) -> str:
        return f"{self._prompt} {prompt}".strip()

    def _words(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, encoded as it follows a space; none for an empty text."""
        words = [text.strip() for text in texts]
        pieces = [f"{self._before_text}{text}" for text in words if text]
        ids = iter(self.tokenizer(pieces, add_special_tokens=False).input_ids if pieces else ())
        return [next(ids) if text else [] for text in words]

    def _begin(self, lang: str, timed: bool) -> list[int]:
        if (lang, timed) not in self._begins:
            self._begins[lang, timed] = decoder_prompt(
                self.tokenizer, self.generation_config, language=lang, with_timestamps=timed
            )
        return self._begins[lang, timed]
