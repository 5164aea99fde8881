"""A transcript as the tokens that a model is given, from any word to any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from lsa_whisper.align.ranges import Scores
from lsa_whisper.align.text import TextToken, TextWord


class TokenizedText:
    """The words and tokens of a transcript."""

    def __init__(self, words: Sequence[TextWord], tokens: Sequence[TextToken], max_tokens: int):
        """Take the words, their tokens, and how many tokens the decoder has positions for."""
        self.words, self._tokens, self._max_tokens = words, tokens, max_tokens
        starts: dict[int, int] = {}
        for at, token in enumerate(tokens):
            starts.setdefault(token.word, at)
        self._start = np.full(len(words) + 1, len(tokens))
        for index in range(len(words) - 1, -1, -1):  # a word without a token starts where the next one does
            self._start[index] = starts.get(index, self._start[index + 1])
        self.utterance_starts = frozenset(
            at for at, word in enumerate(words) if not at or words[at - 1].utterance != word.utterance
        )
        self._code_of = {words[start].utterance: self._code(start) for start in self.utterance_starts}

    def _code(self, start: int) -> Sequence[TextToken]:
        """Return the tokens of an utterance up to the end of its speaker code; none if it has no code."""
        of_first_word = self._tokens[self._start[start] : self._start[start + 1]]
        before = list(takewhile(lambda token: not token.spoken, of_first_word))
        return before[: max((at for at, token in enumerate(before, 1) if token.in_code), default=0)]

    def tokens_between(self, start: int, end: int) -> Sequence[TextToken]:
        """Return the tokens of the words from ``start`` to ``end``, at most the decoder's number.

        A text that starts inside an utterance begins with the speaker code, too, as every text that the model has seen.
        """
        own = self._tokens[self._start[start] : self._start[end]]
        return [*self._repeated_code(start), *own][: self._max_tokens] if own else own

    def _repeated_code(self, start: int) -> Sequence[TextToken]:
        if start in self.utterance_starts or start == len(self.words):
            return []
        return [replace(token, word=start) for token in self._code_of[self.words[start].utterance]]

    def end_scores(self, start: int, row: Sequence[TextToken], logprobs: Scores, ends: Scores) -> Scores:
        """Return the log-probability of a text that ends before each word, from the word ``start`` on."""
        sums: npt.NDArray[np.float64] = np.concatenate(([0.0], np.cumsum(logprobs)))
        places = self._start[start:] - self._start[start]
        places[places > 0] += len(self._repeated_code(start))
        places = places[places <= len(row)]
        scores: Scores = sums[places] + ends[places]
        return scores
