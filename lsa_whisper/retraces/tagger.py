"""The tagger: how likely each word is to have been taken back, and as what.

A linear-chain conditional random field (Lafferty et al., 2001) by python-crfsuite. ``english.crf`` was trained on
hand-annotated meetings (``benchmarks/retraces.py --train``); ``docs/labels-and-scores.md`` says how well it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import pycrfsuite

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.retraces.windows import all_features
from lsa_whisper.retraces.words import NOT_TAKEN_BACK, SpokenWord

KINDS = {"repeat": "[/]", "revision": "[//]", "reformulation": "[///]", "false start": "[/-]"}
"""What a model may tell apart, and the CHAT code for it; the shipped one takes false starts for reformulations."""

THRESHOLD = 0.23
"""Probability from which a word counts as taken back. In cross-validation (``benchmarks/retraces.py``), F1 is the same
from here to 0.4, and the lowest of these finds most revisions."""

CAREFUL = 0.7
"""A threshold for few wrong marks."""

_CERTAIN = 0.995
"""From here on a word was not taken back, and its other probabilities are not asked for."""

_MODELS = {"eng": Path(__file__).with_name("english.crf")}


@dataclass(frozen=True, slots=True)
class WordProbabilities:
    """Of one word: the probability of each kind that a tagger tells apart, and that one ``begins`` with this word."""

    kinds: dict[str, float]
    begins: float

    @property
    def taken_back(self) -> float:
        """The probability that the word was taken back."""
        return sum(self.kinds.values())


class Tagger:
    """A trained model; :meth:`probabilities` may be called for any number of utterances.

    Attributes:
        sees_codes: Whether it was trained to find where the words begin that a code takes back.
    """

    sees_codes = False

    def __init__(self, path: Path) -> None:
        """Load the model at ``path``.

        Raises:
            LsaWhisperError: The file is missing or not a model.
        """
        self._model = pycrfsuite.Tagger()
        try:
            self._model.open(str(path))
        except ValueError as error:
            raise LsaWhisperError(f"{path}: cannot load the retrace model; install lsa-whisper again") from error
        self._labels = set(self._model.labels())

    def probabilities(self, words: Sequence[SpokenWord]) -> list[WordProbabilities]:
        """Return the probabilities of each of an utterance's ``words``.

        >>> the, dog = SpokenWord("the"), SpokenWord("dog")
        >>> [round(word.taken_back) for word in tagger_for("eng").probabilities([the, the, dog])]
        [1, 0, 0]
        """
        if not words:
            return []
        self._model.set(self._features(words))
        return [self._word(at) for at in range(len(words))]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Which of :data:`KINDS` it tells apart."""
        return tuple(kind for kind in KINDS if any(label.endswith(kind) for label in self._labels))

    def _features(self, words: Sequence[SpokenWord]) -> list[list[str]]:
        return all_features(words)

    def _word(self, at: int) -> WordProbabilities:
        marginal = self._model.marginal
        if marginal(NOT_TAKEN_BACK, at) > _CERTAIN:
            return self._not_taken_back
        found = {label: float(marginal(label, at)) for label in self._labels if label != NOT_TAKEN_BACK}
        kinds = {kind: sum(found[label] for label in labels) for kind, labels in self._labels_of.items()}
        return WordProbabilities(kinds, sum(found[label] for label in self._beginnings))

    @cached_property
    def _not_taken_back(self) -> WordProbabilities:
        return WordProbabilities(dict.fromkeys(self.kinds, 0.0), 0.0)

    @cached_property
    def _labels_of(self) -> dict[str, list[str]]:
        return {kind: [label for label in self._labels if label.endswith(kind)] for kind in self.kinds}

    @cached_property
    def _beginnings(self) -> list[str]:
        return [label for label in self._labels if label.startswith("begin")]


@lru_cache(maxsize=4)
def tagger_for(language: str) -> Tagger | None:
    """Return the tagger of an ISO 639-3 ``language``; ``None`` where no model was trained."""
    return Tagger(_MODELS[language]) if language in _MODELS else None
