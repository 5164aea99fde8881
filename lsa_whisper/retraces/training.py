"""Training of the tagger from utterances whose retraces are known."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pycrfsuite

from lsa_whisper.retraces.corpus_tagger import corpus_features
from lsa_whisper.retraces.linear_chain import weights_of
from lsa_whisper.retraces.tagger import tagger_for
from lsa_whisper.retraces.windows import all_features
from lsa_whisper.retraces.words import SpokenWord, hide_codes, marked_words

CORPUS_SETTINGS = {"c1": 0.3, "c2": 0.1, "max_iterations": 100, "feature.minfreq": 2}
"""Elastic-net regularization and stopping for a corpus's own tagger, as python-crfsuite calls them."""

SHIPPED_SETTINGS = {"c1": 2.0, "c2": 2.0, "max_iterations": 60, "feature.minfreq": 2}
"""The same for the shipped tagger."""

ENOUGH_WITH_SHIPPED, ENOUGH_ALONE = 20, 100
"""Least codes other than ``[/]`` for a corpus's own tagger, with and without features of the shipped one."""
_AT_ONCE = 500
"""Utterances whose features are found together."""
_Example = tuple[list[list[str]], Sequence[str]]
"""The features and the label of each word of an utterance."""


@dataclass(frozen=True, slots=True)
class AnnotatedUtterance:
    """``words`` and for each its label: ``none``, or ``begin`` or ``inside`` and a kind (``begin repeat``)."""

    words: tuple[SpokenWord, ...]
    labels: tuple[str, ...]


def train(utterances: Iterable[AnnotatedUtterance], path: Path) -> None:
    """Train a model and write it to ``path``.

    Each utterance is learned twice, the second time without times and commas, because most transcripts have neither.
    """
    longer = (utterance for utterance in utterances if len(utterance.words) > 1)
    twice = ((words, utterance.labels) for utterance in longer for words in (utterance.words, bare(utterance.words)))
    _train(((all_features(words), labels) for words, labels in twice), path, SHIPPED_SETTINGS)


def corpus_weights(tiers: Iterable[str], language: str) -> dict[str, Any] | None:
    """Return the weights of a tagger of the corpus with these main ``tiers``; ``None`` where it has too few retraces.

    Each utterance is learned twice: with its codes, as a model may write them, and without. The tiers are texts with
    retrace codes, all of one language (ISO 639-3); other codes and times are not looked at.
    """
    utterances = [words for tier in tiers if len(words := marked_words(tier)) > 1]
    retraces = sum(word.before_code for words in utterances for word in words)
    if retraces < (ENOUGH_WITH_SHIPPED if tagger_for(language) else ENOUGH_ALONE):
        return None
    batches = (utterances[first : first + _AT_ONCE] for first in range(0, len(utterances), _AT_ONCE))
    examples = (example for batch in batches for example in _with_and_without_codes(batch, language))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.crf"
        _train(examples, path, CORPUS_SETTINGS)
        model = pycrfsuite.Tagger()
        model.open(str(path))
        return weights_of(model)


def _with_and_without_codes(utterances: Sequence[Sequence[SpokenWord]], language: str) -> Iterator[_Example]:
    hidden = corpus_features([hide_codes(words) for words in utterances], language)
    for words, *pair in zip(utterances, corpus_features(utterances, language), hidden, strict=True):
        for names in pair:
            yield names, [word.retrace for word in words]


def _train(examples: Iterable[_Example], path: Path, settings: Mapping[str, float]) -> None:
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params(dict(settings))
    for names, labels in examples:
        trainer.append(names, labels)
    trainer.train(str(path))


def bare(words: Sequence[SpokenWord]) -> list[SpokenWord]:
    """Return ``words`` without times and commas, as in most transcripts."""
    return [word._replace(span=None, after_comma=False) for word in words]
