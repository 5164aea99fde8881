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

_NEVER = -math.inf
_SPACE = "Ġ"
_ENDS = (".", "?", "!")


class SpeakerCodeRules:
    """The tokens that may come next in text with speaker codes."""

    def __init__(
        self, tokenizer: Any, codes: Sequence[str], *, size: int, end: int, stops: Sequence[int], device: torch.device
    ):
        """Make the rules.

        Args:
            tokenizer: the checkpoint's own.
            codes: the speaker codes, without asterisk and colon.
            size: rows of the model's output matrix.
            end: the end-of-text token.
            stops: the tokens that end a segment of text: the timestamps.
            device: where logits come from.
        """
        paths = {code: self._path(tokenizer, f" *{code}:") for code in codes}
        self._space = next((before for before, _ in paths.values()), ())
        """What precedes the token with the asterisk: nothing, or a space in vocabularies without the token `` *``."""
        spaced = [path for _, path in paths.values()]
        bare = [self._path(tokenizer, f"*{code}:")[1] for code in codes]
        self.tokens = frozenset(token for path in (self._space, *spaced, *bare) for token in path)
        """All tokens of the codes."""
        self._longest = max(map(len, (*spaced, *bare)))
        self._next: dict[tuple[int, ...], set[int]] = {}
        for path in (*spaced, *bare):
            for length in range(1, len(path)):
                self._next.setdefault(path[:length], set()).add(path[length])
        self._whole_codes = frozenset((*spaced, *bare))
        vocabulary = {index: token for token, index in tokenizer.get_vocab().items() if index < size}
        self._ends = {index for index, token in vocabulary.items() if _ends_sentence(token)}
        self._asterisks = {index for index, token in vocabulary.items() if "*" in token}
        first = {path[0] for path in spaced}
        self._size, self._device = size, device
        self._masks: dict[Any, torch.Tensor] = {
            "begin": self._only({*(self._space[:1] or first), *(path[0] for path in bare), end}),
            "asterisk": self._only(first),
            "may begin": self._without([index for index in self._asterisks if index not in first]),
            "code": self._without([*self._asterisks, end, *stops]),
            "text": self._without([*self._asterisks]),
        }

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

    def mask(self, tokens: torch.Tensor, since_begin: Sequence[int]) -> torch.Tensor:
        """Return what to add to the logits, ``(batch, vocabulary)``.

        Args:
            tokens: ``(batch, n)`` decoded so far.
            since_begin: for each row, the number of tokens since its segment of text began.
        """
        recent = tokens[:, -max(2, self._longest) :].tolist()
        return torch.stack([self._mask_of(*each) for each in zip(recent, since_begin, strict=True)])

    def _mask_of(self, recent: list[int], since_begin: int) -> torch.Tensor:
        if since_begin == 0:
            return self._masks["begin"]
        behind_space = bool(self._space) and recent[-1:] == [*self._space]
        if behind_space and since_begin == 1:
            return self._masks["asterisk"]
        at = next((at for at in range(len(recent) - 1, -1, -1) if recent[at] in self._asterisks), None)
        written = () if at is None else tuple(recent[at:])
        if written in self._whole_codes:
            return self._masks["code"]
        if written in self._next:
            if written not in self._masks:
                self._masks[written] = self._only(self._next[written])
            return self._masks[written]
        before = recent[-2:-1] if behind_space else [] if self._space else recent[-1:]
        return self._masks["may begin" if self._ends.intersection(before) else "text"]


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
