"""Names and rare words that may be spoken: their tokens become more probable where the model half hears them.

The tokens of all words form a tree. The first token of a word gets a small bonus, the tokens behind it a larger one: a
name is spelled to its end once the sound has begun it. Nothing is added where the model would not begin a word, and
what ends a text competes with no bonus, so that no name is put where nothing is spoken.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsa_whisper.decoding.suffixes import Suffixes
from lsa_whisper.errors import LsaWhisperError

if TYPE_CHECKING:
    import torch

FIRST_BONUS = 2.0
"""Added to the logit of the first token of a word. In six minutes of real meetings and read speech of children, with 68
places of names and rare words, whisper-base spelled 13 as given, and 21 with a list of 200 that had them; 2 names were
put where others were spoken. With 3, and for any token, it was 24, but the bonus began a word wherever the model did
not understand, and whole sentences were lost. A list of 200 names that were not spoken changed 6 of 159 texts (26
minutes), by a word or two each, and put one name in place of another (Leila for Layla)."""
NEXT_BONUS = 6.0
"""Added behind the first token, where the sound has already begun the word. Alone, it brings 16 of the 68, and none is
wrong; 4 instead of 6 brings 20."""
MIN_LOGPROB = -2.5
"""Log-probability of a first token below which it gets nothing; with -3.5, one more word was right and three wrong."""
MIN_RARE_TOKEN = 1000
"""A first token with a lower id gets nothing: it begins many words, for ids follow how often a token was met."""
_SPACE = "Ġ"


class ExpectedWords:
    """The bonus of tokens that begin or continue an expected word."""

    def __init__(self, tokenizer: Any, words: Sequence[str], *, size: int, device: torch.device | str = "cpu"):
        """Take the words.

        Logits with ``size`` columns come from ``device``. A word may be several in one text (``Anna Novak``).
        """
        import torch

        following: dict[tuple[int, ...], set[int]] = {}
        forms = [form for word in words for form in dict.fromkeys((word, word[:1].upper() + word[1:]))]
        paths = [tuple(tokenizer.encode(f" {form}", add_special_tokens=False)) for form in forms]
        for path in paths:
            for length in range(1, len(path)):
                following.setdefault(path[:length], set()).add(path[length])
        self._begun = Suffixes([*following], device)
        edges = [(at, token) for at, tokens in enumerate(following.values()) for token in sorted(tokens)]
        self._edges = torch.tensor(edges, dtype=torch.long, device=device).reshape(-1, 2)
        """The beginning of a word, by its place, and a token that continues it."""
        self._first = torch.zeros(size, device=device)
        self._first[sorted({path[0] for path in paths if path[0] >= MIN_RARE_TOKEN})] = FIRST_BONUS
        self._begins = torch.zeros(size, dtype=torch.bool, device=device)
        vocabulary = tokenizer.get_vocab()
        self._begins[[i for token, i in vocabulary.items() if token.startswith(_SPACE) and i < size]] = True

    def favor(self, logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits ``(batch, vocabulary)`` with the bonus, given the tokens ``(batch, n)`` decoded so far."""
        begins = self._begins[logits.argmax(dim=-1)]
        likely = logits.log_softmax(dim=-1) >= MIN_LOGPROB
        favored = logits + self._first * (begins[:, None] & likely)
        is_begun = self._begun.ended(tokens)[:, self._edges[:, 0]]
        return favored.index_add(1, self._edges[:, 1], NEXT_BONUS * is_begun.to(favored.dtype))


def read_expected_words(words: Path | str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the words, or those of a text file; a line of it is one word, or a few such as a first and last name.

    Raises:
        LsaWhisperError: The file cannot be read, or names no word.
    """
    if not isinstance(words, Path | str):
        return tuple(words or ())
    try:
        lines = Path(words).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeError) else os.strerror(error.errno or 0)
        raise LsaWhisperError(
            f"{words}: cannot be read ({reason}); `words` names a text file, one word per line"
        ) from error
    if not (entries := tuple(dict.fromkeys(" ".join(line.split()) for line in lines if line.strip()))):
        raise LsaWhisperError(f"{words}: names no word; write one per line")
    return entries
