"""A vocabulary as the constraint needs it: texts as token ids, and which tokens are letters or signs."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import Any

from lsa_whisper.chat.filled_pauses import ALL_FILLERS
from lsa_whisper.decoding.style import DecodingStyle, Writer, decoding_style, is_stock
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import Labels
from lsa_whisper.labels.notation import label_to_chat
from lsa_whisper.verbatimize.clean_text import TAKEN_BACK, write_label

_LETTERS = re.compile(r"[^\W\d_']+")
_MAX_ONSET = 3
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")


def is_consonants(word: str) -> bool:
    """Return whether ``word`` is one to three Latin consonants, as they begin a word.

    A cut-off word with a vowel has to begin a word that follows: on ten meeting clips, no other that a model wrote had
    been said (``sorryepesepepepep``, and whole words such as ``and``).

    >>> is_consonants("st"), is_consonants("č"), is_consonants("and"), is_consonants("ä"), is_consonants("ο")
    (True, True, False, False, False)
    """
    plain = [letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)]
    return len(word) <= _MAX_ONSET and _CONSONANTS.issuperset(plain)


def verbatim_style(model: Writer, language: str) -> DecodingStyle:
    """Return how a model writes disfluencies: as it was trained, or as a stock Whisper is asked for them.

    Raises:
        CheckpointError: It writes none, or none in this language.
    """
    is_fluent = model.labels.style == "fluent"
    if is_fluent and not is_stock(model):
        raise CheckpointError(
            f"{model.path}: writes no disfluencies; fine-tune a model on data prepared with --labels chat"
        )
    return decoding_style(model, "verbatim" if is_fluent else None, language)


class Vocabulary:
    """The tokens of a model with a label style."""

    def __init__(self, tokenizer: Any, labels: Labels):
        """Take a checkpoint's own tokenizer and labels."""
        self._tokenizer, self.labels = tokenizer, labels
        # Only the later notations write a retrace in whole pieces: its words, then a sign of one token.
        self._free = labels.style == "chat" and labels.version > 1
        self.cut = self._single("-", space=False) if labels.style == "verbatim" or self._free else None
        self.opening, self.closing = self._sign("<"), self._sign(">")
        self.retraces = {
            sign: code for code in TAKEN_BACK if (sign := self._sign(write_label(code, labels).strip())) is not None
        }

    def encode(self, text: str, *, space: bool = True) -> tuple[int, ...]:
        """Return the ids of ``text``, which follows a space unless told otherwise."""
        return tuple(self._tokenizer.encode(f" {text}" if space else text, add_special_tokens=False))

    def chat(self, tokens: tuple[int, ...]) -> str:
        """Return free words, with the sign behind them, as CHAT."""
        text = str(self._tokenizer.decode(list(tokens), clean_up_tokenization_spaces=False))
        return label_to_chat(text, 2)

    @cached_property
    def word_starts(self) -> list[int]:
        """The tokens that begin a word with letters."""
        return [index for text, index in self._texts.items() if text[:1] == " " and _LETTERS.fullmatch(text[1:])]

    @cached_property
    def short_starts(self) -> list[int]:
        """The tokens that are a few consonants and not a filler, which may be cut off anywhere."""
        starts = set(self.word_starts)
        short = ((text[1:].casefold(), index) for text, index in self._texts.items() if index in starts)
        return [index for word, index in short if is_consonants(word) and word not in ALL_FILLERS]

    @cached_property
    def word_parts(self) -> list[int]:
        """The tokens that continue a word."""
        return [index for text, index in self._texts.items() if _LETTERS.fullmatch(text)]

    @cached_property
    def _texts(self) -> dict[str, int]:
        special = set(self._tokenizer.get_added_vocab().values())
        ids = sorted(index for index in self._tokenizer.get_vocab().values() if index not in special)
        return {str(self._tokenizer.decode([index], clean_up_tokenization_spaces=False)): index for index in ids}

    def _sign(self, text: str) -> int | None:
        return self._single(text, space=True) if self._free else None

    def _single(self, text: str, *, space: bool) -> int | None:
        ids = self.encode(text, space=space)
        return ids[0] if len(ids) == 1 else None
