"""Speaker codes in decoded text: a state machine over tokens that admits no broken one.

A model with ``roles`` labels writes ``*CHI:`` before each utterance. Such a code is a fixed sequence of tokens, of
which the first contains the asterisk, and no other token with an asterisk is allowed. Where a segment of text begins, a
code or the end must come; behind the end of a sentence, a code may come; within a code, only its next token; behind a
code, text. Only the codes in the training labels are allowed (``speaker_codes`` in its generation settings).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lsa_whisper.decoding.suffixes import Suffixes

_NEVER = -math.inf
_SPACE = "Ġ"
_ENDS = (".", "?", "!")
_BEGIN, _ASTERISK, _MAY_BEGIN, _TEXT, _CODE = range(5)


class SpeakerCodeRules:
    """The tokens that may come next in text with speaker codes."""

    def __init__(
        self, tokenizer: Any, codes: Sequence[str], *, size: int, end: int, stops: Sequence[int], device: torch.device
    ):
        """Make the rules.

        The ``codes`` are without asterisk and colon. The tokens in ``stops``, the timestamps, end a segment of text.
        """
        paths = {code: self._path(tokenizer, f" *{code}:") for code in codes}
        self._space = next((before for before, _ in paths.values()), ())
        """What precedes the token with the asterisk: nothing, or a space in vocabularies without the token `` *``."""
        spaced = [path for _, path in paths.values()]
        bare = [self._path(tokenizer, f"*{code}:")[1] for code in codes]
        self.tokens = frozenset(token for path in (self._space, *spaced, *bare) for token in path)
        """All tokens of the codes."""
        following: dict[tuple[int, ...], set[int]] = {}
        for path in (*spaced, *bare):
            for length in range(1, len(path)):
                following.setdefault(path[:length], set()).add(path[length])
        whole = dict.fromkeys((*spaced, *bare))
        partial = [path for path in following if path not in whole]
        vocabulary = {index: token for token, index in tokenizer.get_vocab().items() if index < size}
        self._asterisks = asterisks = {index for index, token in vocabulary.items() if "*" in token}
        first = {path[0] for path in spaced}
        self._size, self._device = size, device
        self._masks = torch.stack(
            [
                self._only({*(self._space[:1] or first), *(path[0] for path in bare), end}),
                self._only(first),
                self._without([index for index in asterisks if index not in first]),
                self._without([*asterisks]),
                self._without([*asterisks, end, *stops]),
                *(self._only(following[path]) for path in partial),
            ]
        )
        """Those of :data:`_BEGIN` to :data:`_CODE`, and one for each beginning of a code."""
        self._written = Suffixes([*whole, *partial], device)
        self._masks_of_written = torch.tensor(
            [*[_CODE] * len(whole), *range(_CODE + 1, _CODE + 1 + len(partial))], device=device
        )
        self._ends = self._only({index for index, token in vocabulary.items() if _ends_sentence(token)}) == 0

    def _path(self, tokenizer: Any, text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the tokens of a code before the asterisk, and those from the asterisk on."""
        ids = tokenizer.encode(text, add_special_tokens=False)
        at = next(at for at, index in enumerate(ids) if "*" in tokenizer.convert_ids_to_tokens(index))
        return tuple(ids[:at]), tuple(ids[at:])

    def _without(self, ids: Sequence[int]) -> torch.Tensor:
        mask = torch.zeros(self._size, device=self._device)
        mask[torch.tensor([*ids], dtype=torch.long, device=self._device)] = _NEVER
        return mask

    def _only(self, ids: set[int]) -> torch.Tensor:
        mask = torch.full((self._size,), _NEVER, device=self._device)
        mask[torch.tensor(sorted(ids), dtype=torch.long, device=self._device)] = 0.0
        return mask

    def mask(self, tokens: torch.Tensor, since_begin: torch.Tensor) -> torch.Tensor:
        """Return what to add to the logits, ``(batch, vocabulary)``; nothing is copied to the host.

        ``tokens`` ``(batch, n)`` are those decoded so far, and ``since_begin`` ``(batch,)`` how many since each row's
        segment of text began.
        """
        never = torch.zeros_like(since_begin, dtype=torch.bool)
        last = tokens[:, -1] if tokens.shape[1] else None
        behind_space = last == self._space[0] if last is not None and len(self._space) == 1 else never
        if self._space:
            is_after = behind_space & self._ends[tokens[:, -2]] if tokens.shape[1] > 1 else never
        else:
            is_after = self._ends[last] if last is not None else never
        # A code begins with the last asterisk, and holds no other: of the sequences a row ends with one at most.
        codes = self._written.ended(tokens)
        kinds = torch.where(is_after, _MAY_BEGIN, _TEXT)
        kinds = torch.where(codes.any(dim=1), (codes * self._masks_of_written).sum(dim=1), kinds)
        kinds = torch.where(behind_space & (since_begin == 1), _ASTERISK, kinds)
        return self._masks[torch.where(since_begin == 0, _BEGIN, kinds)]


def _ends_sentence(token: str) -> bool:
    """Return whether an utterance may end with this token of a vocabulary; dots behind a space are a pause.

    >>> [_ends_sentence(token) for token in (".", "...", "Ġ..", "Ġ.", "?", "Ġdog", "!!")]
    [True, True, False, True, True, False, True]
    """
    word = token.removeprefix(_SPACE)
    is_pause = word != token and len(word) > 1 and not word.strip(".")
    return word.endswith(_ENDS) and not is_pause


def speaker_codes(settings: Any) -> tuple[str, ...]:
    """Return the speaker codes in a checkpoint's generation settings; empty for a model that writes none."""
    codes = settings.get("speaker_codes") if isinstance(settings, Mapping) else getattr(settings, "speaker_codes", None)
    return tuple(code for code in codes if isinstance(code, str) and code) if isinstance(codes, list | tuple) else ()
