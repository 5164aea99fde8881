"""The tagger: how likely each word is to have been taken back, and as what.

``english.crf`` was trained on hand-annotated meetings (``benchmarks/retraces.py --train``);
``docs/labels-and-scores.md`` says how well it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.retraces.linear_chain import Matrix, read_model
from lsa_whisper.retraces.windows import all_tables
from lsa_whisper.retraces.words import NOT_TAKEN_BACK, SpokenWord

KINDS = {"repeat": "[/]", "revision": "[//]", "reformulation": "[///]", "false start": "[/-]"}
"""What a model may tell apart, and the CHAT code for it; the shipped one takes false starts for reformulations."""

THRESHOLD = 0.23
"""Probability from which a word counts as taken back. In cross-validation (``benchmarks/retraces.py``), F1 is the same
from here to 0.4, and the lowest of these finds most revisions."""

CAREFUL = 0.7
"""A threshold for few wrong marks."""

_MIN_PROBABILITY = 0.005
"""Below it, a word was not taken back, and its probabilities are not asked for."""

_MODELS = {"eng": Path(__file__).with_name("english.crf")}


@dataclass(frozen=True, slots=True)
class WordProbabilities:
    """Of one word: the probability of each kind that a tagger tells apart, and that one ``begins`` with this word.

    ``taken_back`` is the probability that the word was taken back, as any of the kinds.
    """

    kinds: dict[str, float]
    begins: float
    taken_back: float


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
        try:
            self._model = read_model(path)
        except ValueError as error:
            raise LsaWhisperError(f"{path}: cannot load the retrace model; install lsa-whisper again") from error

    def probabilities(self, words: Sequence[SpokenWord]) -> list[WordProbabilities]:
        """Return the probabilities of each of an utterance's ``words``.

        >>> the, dog = SpokenWord("the"), SpokenWord("dog")
        >>> [round(word.taken_back) for word in tagger_for("eng").probabilities([the, the, dog])]
        [1, 0, 0]
        """
        return self.all_probabilities([words])[0]

    def all_probabilities(
        self, utterances: Sequence[Sequence[SpokenWord]], least: float = _MIN_PROBABILITY
    ) -> list[list[WordProbabilities]]:
        """Return the probabilities of each word of each utterance; many at once take a tenth of the time for each.

        Those of a word that was taken back with a probability under ``least`` are zero.
        """
        counts = [len(words) for words in utterances]
        if not any(counts):
            return [[] for _ in counts]
        marginals = self._model.marginals(self._states(utterances), counts)
        (likely,) = np.nonzero(marginals[:, self._model.labels.index(NOT_TAKEN_BACK)] <= 1 - least)
        words = [self._not_taken_back] * len(marginals)
        for at, word in zip(likely.tolist(), self._words(marginals[likely]), strict=True):
            words[at] = word
        return [words[end - count : end] for end, count in zip(accumulate(counts), counts, strict=True)]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Which of :data:`KINDS` it tells apart."""
        return tuple(kind for kind in KINDS if any(label.endswith(kind) for label in self._model.labels))

    def _states(self, utterances: Sequence[Sequence[SpokenWord]]) -> Matrix:
        """Return the sums of the weights of the features of each word."""
        return self._model.states(all_tables(utterances), sum(map(len, utterances)))

    def _words(self, marginals: Matrix) -> Iterator[WordProbabilities]:
        begins = marginals[:, self._beginnings].sum(1).tolist()
        of_kinds = (marginals[:, places].sum(1).tolist() for places in self._places_of.values())
        for probabilities, beginning in zip(zip(*of_kinds, strict=True), begins, strict=True):
            kinds = dict(zip(self._places_of, probabilities, strict=True))
            yield WordProbabilities(kinds, beginning, sum(probabilities))

    @cached_property
    def _not_taken_back(self) -> WordProbabilities:
        return WordProbabilities(dict.fromkeys(self.kinds, 0.0), 0.0, 0.0)

    @cached_property
    def _places_of(self) -> dict[str, list[int]]:
        labels = self._model.labels
        return {kind: [at for at, label in enumerate(labels) if label.endswith(kind)] for kind in self.kinds}

    @cached_property
    def _beginnings(self) -> list[int]:
        return [at for at, label in enumerate(self._model.labels) if label.startswith("begin")]


@lru_cache(maxsize=4)
def tagger_for(language: str) -> Tagger | None:
    """Return the tagger of an ISO 639-3 ``language``; ``None`` where no model was trained."""
    return Tagger(_MODELS[language]) if language in _MODELS else None
