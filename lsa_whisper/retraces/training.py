"""Training of the tagger from utterances whose retraces are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pycrfsuite

from lsa_whisper.retraces.features import features
from lsa_whisper.retraces.words import SpokenWord

CRF_SETTINGS = {"c1": 0.3, "c2": 0.1, "max_iterations": 100, "feature.minfreq": 2}
"""Elastic-net regularization and stopping, as python-crfsuite calls them."""

NOT_TAKEN_BACK = "none"


@dataclass(frozen=True, slots=True)
class AnnotatedUtterance:
    """``words`` and for each its label: ``none``, or ``begin`` or ``inside`` and a kind (``begin repeat``)."""

    words: tuple[SpokenWord, ...]
    labels: tuple[str, ...]


def train(utterances: Iterable[AnnotatedUtterance], path: Path) -> None:
    """Train a model and write it to ``path``.

    Each utterance is learned twice, the second time without times and commas, because most transcripts have neither.
    """
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params(CRF_SETTINGS)
    for utterance in utterances:
        if len(utterance.words) > 1:
            trainer.append(features(utterance.words), utterance.labels)
            trainer.append(features(bare(utterance.words)), utterance.labels)
    trainer.train(str(path))


def bare(words: Sequence[SpokenWord]) -> list[SpokenWord]:
    """Return ``words`` without times and commas, as in most transcripts."""
    return [replace(word, span=None, after_comma=False) for word in words]
