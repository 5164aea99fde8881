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

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.retraces.context import BREAKS, KINDS_AROUND, WORDS_AROUND, Columns
from lsa_whisper.retraces.features import ALWAYS, likenesses, rare_features
from lsa_whisper.retraces.linear_chain import Matrix, read_model
from lsa_whisper.retraces.windows import all_features, repair_features
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

MANY = 16
"""From so many utterances on, different features are looked up once."""

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

    def all_probabilities(self, utterances: Sequence[Sequence[SpokenWord]]) -> list[list[WordProbabilities]]:
        """Return the probabilities of each word of each utterance; many at once take a third of the time for each."""
        counts = [len(words) for words in utterances]
        if not any(counts):
            return [[] for _ in counts]
        marginals = self._model.marginals(self._states(utterances), counts)
        certain = marginals[:, self._model.labels.index(NOT_TAKEN_BACK)] > _CERTAIN
        words = [
            self._not_taken_back if sure else self._word(row)
            for sure, row in zip(certain.tolist(), marginals.tolist(), strict=True)
        ]
        return [words[end - count : end] for end, count in zip(accumulate(counts), counts, strict=True)]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Which of :data:`KINDS` it tells apart."""
        return tuple(kind for kind in KINDS if any(label.endswith(kind) for label in self._model.labels))

    def _states(self, utterances: Sequence[Sequence[SpokenWord]]) -> Matrix:
        """Return the sums of the weights of the features of each word."""
        if len(utterances) < MANY:
            return self._model.sums([names for words in utterances for names in all_features(words)])
        rare = (names for words in utterances for names in _rare(words))
        states = self._model.sums(rare) + self._model.rows([ALWAYS])
        columns = Columns(utterances)
        for template in (*WORDS_AROUND, *BREAKS, *KINDS_AROUND):
            features, inverse = columns.different(template)
            states += self._model.rows(features)[inverse]
        return states

    def _word(self, row: Sequence[float]) -> WordProbabilities:
        kinds = {kind: sum(row[at] for at in places) for kind, places in self._places_of.items()}
        return WordProbabilities(kinds, sum(row[at] for at in self._beginnings))

    @cached_property
    def _not_taken_back(self) -> WordProbabilities:
        return WordProbabilities(dict.fromkeys(self.kinds, 0.0), 0.0)

    @cached_property
    def _places_of(self) -> dict[str, list[int]]:
        labels = self._model.labels
        return {kind: [at for at, label in enumerate(labels) if label.endswith(kind)] for kind in self.kinds}

    @cached_property
    def _beginnings(self) -> list[int]:
        return [at for at, label in enumerate(self._model.labels) if label.startswith("begin")]


def _rare(words: Sequence[SpokenWord]) -> Iterator[list[str]]:
    """Yield the features of each word that the templates lack."""
    like = likenesses(words)
    for one, more in zip(rare_features(words, like), repair_features(words, like), strict=True):
        yield one + more


@lru_cache(maxsize=4)
def tagger_for(language: str) -> Tagger | None:
    """Return the tagger of an ISO 639-3 ``language``; ``None`` where no model was trained."""
    return Tagger(_MODELS[language]) if language in _MODELS else None
