"""The tagger of one corpus: learned from its own marks, with the output of the shipped tagger as features.

It belongs to the model that was fine-tuned on that corpus, and sets the marks that this model leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lsa_whisper.retraces.features import features
from lsa_whisper.retraces.linear_chain import LinearChain
from lsa_whisper.retraces.tagger import Tagger, tagger_for
from lsa_whisper.retraces.words import SpokenWord

_STEPS = (0.9, 0.7, 0.5, 0.3, 0.15, 0.05, 0.02, 0.005)


class CorpusTagger(Tagger):
    """A tagger with the weights of one corpus; in English it also knows what the shipped tagger finds."""

    def __init__(self, weights: Mapping[str, Any], language: str) -> None:
        """Take weights from :func:`~lsa_whisper.retraces.training.corpus_weights` and their ISO 639-3 ``language``.

        Raises:
            ValueError: They are not such weights.
        """
        self._model, self._language = LinearChain(weights), language
        self._labels = set(self._model.labels())

    def _features(self, words: Sequence[SpokenWord]) -> list[list[str]]:
        return corpus_features(words, self._language)


def corpus_features(words: Sequence[SpokenWord], language: str) -> list[list[str]]:
    """Return the features of each of an utterance's ``words``, with what the shipped tagger says of it.

    The words themselves are left out, only their classes and likenesses count, because a model's folder is passed on
    and must not hold the names that were spoken in its training data.

    >>> the_the_dog = [SpokenWord("the"), SpokenWord("the"), SpokenWord("dog")]
    >>> [name for name in corpus_features(the_the_dog, "eng")[0] if name.startswith("shipped")]
    ['shipped: 0.9', 'shipped begins: 0.9', 'shipped repeat: 0.9', 'shipped revision: 0', 'shipped reformulation: 0']
    """
    made = [[name for name in names if not name.startswith("word")] for names in features(words)]
    if shipped := tagger_for(language):
        for names, word in zip(made, shipped.probabilities(words), strict=True):
            names += [f"shipped: {_step(word.taken_back)}", f"shipped begins: {_step(word.begins)}"]
            names += [f"shipped {kind}: {_step(value)}" for kind, value in word.kinds.items()]
    return made


def _step(probability: float) -> str:
    return str(next((step for step in _STEPS if probability >= step), 0))
