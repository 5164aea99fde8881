"""The tagger of one corpus: learned from its own marks, with the output of the shipped tagger as features.

It belongs to the model that was fine-tuned on that corpus: it sets the marks that this model leaves out, and finds the
words that belong to those that it writes. Its conditional random field is kept as plain numbers, which unlike a
library's model file can be checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lsa_whisper.retraces.features import MAX_MATCH_LENGTH, features, likeness
from lsa_whisper.retraces.linear_chain import LinearChain, Matrix
from lsa_whisper.retraces.tagger import Tagger, WordProbabilities, tagger_for
from lsa_whisper.retraces.word_kinds import OPEN, word_class
from lsa_whisper.retraces.words import SpokenWord

_PLACES = {-1: "before it", 0: "alike", 1: "after it"}
_STEPS = (0.9, 0.7, 0.5, 0.3, 0.15, 0.05, 0.02, 0.005)


class CorpusTagger(Tagger):
    """A tagger with the weights of one corpus; in English it also knows what the shipped tagger finds."""

    sees_codes = True

    def __init__(self, weights: Mapping[str, Any], language: str) -> None:
        """Take weights from :func:`~lsa_whisper.retraces.training.corpus_weights` and their ISO 639-3 ``language``.

        Raises:
            ValueError: They are not such weights.
        """
        self._model, self._language = LinearChain(weights), language

    def _states(self, utterances: Sequence[Sequence[SpokenWord]]) -> Matrix:
        by_utterance = corpus_features(utterances, self._language)
        return self._model.sums([names for words in by_utterance for names in words])


def corpus_features(utterances: Sequence[Sequence[SpokenWord]], language: str) -> list[list[list[str]]]:
    """Return the features of each word of each utterance, with what the shipped tagger says of it.

    The words themselves are left out, only their classes and likenesses count, because a model's folder is passed on
    and must not hold the names that were spoken in its training data. Where a code of a revision stands after a word
    (:attr:`~lsa_whisper.retraces.words.SpokenWord.before_code`), the words before it have features of it.

    >>> the_the_dog = [SpokenWord("the"), SpokenWord("the"), SpokenWord("dog")]
    >>> [name for name in corpus_features([the_the_dog], "eng")[0][0] if name.startswith("shipped")]
    ['shipped: 0.9', 'shipped begins: 0.9', 'shipped repeat: 0.9', 'shipped revision: 0', 'shipped reformulation: 0']
    """
    tagger = tagger_for(language)
    by_utterance: Sequence[Sequence[WordProbabilities | None]] = (
        tagger.all_probabilities(utterances) if tagger else [[None] * len(words) for words in utterances]
    )
    return [
        [
            [*(name for name in names if not name.startswith("word")), *_of_shipped(word), *around]
            for names, word, around in zip(rows, probabilities, _around_codes(words), strict=True)
        ]
        for words, rows, probabilities in zip(utterances, features(utterances), by_utterance, strict=True)
    ]


def _of_shipped(word: WordProbabilities | None) -> list[str]:
    """Return the features of a word that the shipped tagger gives it, none without one."""
    if word is None:
        return []
    values = {"": word.taken_back, " begins": word.begins} | {f" {kind}": value for kind, value in word.kinds.items()}
    return [f"shipped{name}: {_step(value)}" for name, value in values.items()]


def _around_codes(words: Sequence[SpokenWord]) -> list[list[str]]:
    """Return features of the words before the code of a revision.

    They say how far ahead the code stands, and whether a word before it is like the word after it: that word and those
    after it are probably what was taken back.
    """
    names: list[list[str]] = [[] for _ in words]
    earliest = 0
    for last, word in enumerate(words[:-1]):
        if not word.before_code:
            continue
        after = words[last + 1]
        near = range(max(earliest, last + 1 - MAX_MATCH_LENGTH), last + 1)
        alike = next((at for at in reversed(near) if _may_replace(after, words[at])), None)
        for at in near:
            place = "nothing alike" if alike is None else _PLACES[(at > alike) - (at < alike)]
            ahead = f"code {min(last - at, 4)} ahead"
            names[at] += ["code ahead", ahead, f"{ahead}, {place}", f"code ahead, {place}"]
            names[at] += [f"code ahead, {place}, {'later' if at else 'first'} word"]
            names[at] += [f"code ahead, {place}, then {word_class(after.text)}"]
        names[last + 1].append("after code")
        earliest = last + 1
    return names


def _may_replace(later: SpokenWord, word: SpokenWord) -> bool:
    """Return whether the words are alike, or both of an open class, as nouns and verbs are."""
    if likeness(word, later):
        return True
    return word_class(word.text).startswith(OPEN) and word_class(later.text).startswith(OPEN)


def _step(probability: float) -> str:
    return str(next((step for step in _STEPS if probability >= step), 0))
