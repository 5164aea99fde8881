"""The words of a transcript that are aligned, and the tokens that a model would write for them.

Every spoken word counts, in its place: fillers, fragments and each copy of a repetition. ``xxx`` and what another
speaker says inside an utterance (``&*INV:mhm``) are not aligned; their sound lies between the words around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from lsa_whisper.align.ranges import Scores
from lsa_whisper.chat import Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.labels import Labels, encode, in_speaker_code, letters_of, words_of_tokens
from lsa_whisper.scoring.normalize import normalize_word


@dataclass(frozen=True)
class TextWord:
    """A word of the transcript.

    Attributes:
        utterance: Index of its utterance.
        position: Index among the verbatim words of the utterance.
        text: The word as spoken.
        disfluent: Whether it is a filler, a fragment, or retraced; models of fluent text do not write it.
    """

    utterance: int
    position: int
    text: str
    disfluent: bool = False

    @property
    def key(self) -> str:
        """The normalized word, by which it is compared with decoded words."""
        return word_key(self.text)


@dataclass(frozen=True)
class TextToken:
    """A token of the text.

    Attributes:
        token: Its id.
        word: Index of its word.
        spoken: Whether the word is heard there: the token has letters of it, or is the sign of how it begins.
        letters: How many letters it has.
        in_code: Whether it is a part of a speaker code, which takes no time.
    """

    token: int
    word: int
    spoken: bool
    letters: int = 0
    in_code: bool = False


def word_key(word: str) -> str:
    """Return a word in the form in which words of a transcript and of a model are compared.

    >>> word_key("Uhm"), word_key("sto-"), word_key("Don’t")
    ('um', 'sto', "don't")
    """
    return "".join(part.rstrip("-") for part in normalize_word(word))


def text_words(utterances: Sequence[Utterance]) -> list[TextWord]:
    """Return the words of all utterances in order, without those that cannot be aligned.

    >>> from lsa_whisper.chat import utterance
    >>> [word.text for word in text_words([utterance("CHI", "the [/] the &+sto story xxx .")])]
    ['the', 'the', 'sto-', 'story']
    """
    words = []
    for number, utterance in enumerate(utterances):
        for position, (word, disfluent) in enumerate(zip(utterance.verbatim(), utterance.disfluent(), strict=True)):
            if word not in UNTRANSCRIBED and word_key(word):
                words.append(TextWord(number, position, word, disfluent))
    return words


def text_tokens(
    utterances: Sequence[Utterance], words: Sequence[TextWord], tokenizer: Any, labels: Labels
) -> list[TextToken]:
    """Return the tokens of all utterances as the model writes them, each with its word.

    A model of fluent text is given the disfluent words, too: its alignment heads follow the sound all the same.
    Punctuation and signs belong to the word before them, or to the first word of the utterance; signs of a block or a
    prolongation to the word that begins with it.
    """
    tokens: list[TextToken] = []
    of_utterance: dict[int, list[int]] = {}
    for index, word in enumerate(words):
        of_utterance.setdefault(word.utterance, []).append(index)
    for number, indices in of_utterance.items():
        text = _label(utterances[number], labels)
        ids = tokenizer.encode(f" {text}", add_special_tokens=False) if text else []
        texts = [str(tokenizer.decode([token], clean_up_tokenization_spaces=False)) for token in ids]
        places = words_of_tokens(texts, [words[index].text for index in indices])
        tokens += [
            TextToken(token, indices[at], is_spoken, len(letters_of(own)) if is_spoken else 0, in_code)
            for token, own, (at, is_spoken), in_code in zip(ids, texts, places, in_speaker_code(texts), strict=True)
        ]
    return tokens


def _label(utterance: Utterance, labels: Labels) -> str:
    if labels.style != "fluent":
        return encode(utterance, labels)
    text = encode(utterance, Labels("verbatim"))
    return text[:1].upper() + text[1:]


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
