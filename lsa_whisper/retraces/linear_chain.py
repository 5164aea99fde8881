"""Linear-chain conditional random fields (Lafferty et al., 2001), evaluated for many utterances at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pycrfsuite

from lsa_whisper.retraces.tables import NumberedNames, Table

_MAX_WEIGHT = 1e3
_AT_ONCE = 1024
_MIN_SCORE, _SCALED = -80.0, 8
"""Logarithm of the least factor of a transition, and after how many the products are scaled: none becomes zero."""
Matrix = npt.NDArray[np.float64]


class LinearChain:
    """The weights of a model.

    Attributes:
        labels: Each a possible reading of a word.
    """

    def __init__(self, weights: Mapping[str, Any]) -> None:
        """Take the ``weights`` that :func:`weights_of` returns.

        Raises:
            ValueError: They are not such weights.
        """
        try:
            self.labels = [str(label) for label in weights["labels"]]
            self._transitions = _checked(weights["transitions"], (len(self.labels), len(self.labels)))
            features = weights["features"]
            self._names = NumberedNames(features)
            nothing = [0.0] * len(self.labels)
            self._weights = _checked([nothing, *features.values()], (len(features) + 1, len(self.labels)))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("labels, transitions and features are needed") from error

    def states(self, tables: Iterable[Table], count: int) -> Matrix:
        """Return the sum of the weights of the features of each of ``count`` words."""
        states: Matrix = np.zeros((count, len(self.labels)))
        for table in tables:
            sums = np.zeros((len(table.words), len(self.labels)))
            for rows in table.known(self._names):
                (present,) = np.nonzero(rows > 0)
                if 2 * len(present) > len(rows):
                    sums += self._weights.take(rows, 0)
                else:
                    sums[present] += self._weights[rows[present]]
            if table.own is not None:  # a row for each word
                states += sums
                continue
            for label, values in enumerate(sums.T):
                states[:, label] += np.bincount(table.words, values, count)
        return states

    def sums(self, words: Iterable[Iterable[str]]) -> Matrix:
        """Return the sum of the weights of the features of each of ``words``."""
        numbers: list[int] = []
        starts = []
        for features in words:
            starts.append(len(numbers))
            numbers.append(0)  # each word has the row of nothing
            numbers += filter(None, self._names.of(features))
        sums: Matrix = np.add.reduceat(self._weights[numbers], starts)
        return sums

    def marginals(self, states: Matrix, counts: Sequence[int]) -> Matrix:
        """Return the probability of each label for each word.

        ``states`` are the sums of the weights of each word's features, ``counts`` the number of words of each
        utterance.
        """
        starts = np.cumsum(counts) - np.array(counts)
        longest_last = sorted(range(len(counts)), key=counts.__getitem__)
        probabilities = np.empty_like(states)
        for at in range(0, len(counts), _AT_ONCE):
            batch = longest_last[at : at + _AT_ONCE]
            places = starts[batch][:, None] + np.arange(counts[batch[-1]])
            inside = np.arange(counts[batch[-1]]) < np.array([counts[utterance] for utterance in batch])[:, None]
            probabilities[places[inside]] = self._marginals(states[np.where(inside, places, 0)], inside)[inside]
        return probabilities

    def _marginals(self, states: Matrix, inside: npt.NDArray[np.bool_]) -> Matrix:
        """Return the probabilities for utterances (first axis) of words (second axis); only those ``inside`` count."""
        own = np.exp(states - states.max(2, keepdims=True))
        step = np.exp(np.maximum(self._transitions - self._transitions.max(), _MIN_SCORE))
        forward, backward = own.copy(), np.ones_like(own)
        count = own.shape[1]
        for at in range(1, count):
            before = forward[:, at - 1]
            forward[:, at] *= (before if at % _SCALED else _shares(before)) @ step
        ragged = not inside.all()
        for at in range(count - 2, -1, -1):
            after = own[:, at + 1] * backward[:, at + 1]
            backward[:, at] = (after if at % _SCALED else _shares(after)) @ step.T
            if ragged:
                backward[~inside[:, at + 1], at] = 1
        return _shares(_shares(forward) * _shares(backward))


def weights_of(model: pycrfsuite.Tagger) -> dict[str, Any]:
    """Return the weights of a model of python-crfsuite, ready for JSON."""
    info = model.info()
    labels = sorted(info.labels)
    features: dict[str, list[float]] = {}
    for (name, label), weight in sorted(info.state_features.items()):
        features.setdefault(name, [0.0] * len(labels))[labels.index(label)] = round(weight, 4)
    transitions = [[round(info.transitions.get((left, right), 0.0), 4) for right in labels] for left in labels]
    return {"labels": labels, "transitions": transitions, "features": features}


def read_model(path: Path) -> LinearChain:
    """Return the model that python-crfsuite wrote to ``path``.

    The file is read without the library, which tells the weights with six digits only, by way of a temporary file.

    Raises:
        ValueError: The file is missing or not a model.
    """
    try:
        data = path.read_bytes()
        weights, labels_at, names_at = np.frombuffer(data, "<u4", 3, _PLACES).tolist()
        labels, names = _stored_names(data, labels_at), _stored_names(data, names_at)
        transitions, features = np.zeros((len(labels), len(labels))), np.zeros((len(names), len(labels)))
        for kind, source, label, weight in _stored_weights(data, weights):
            (transitions if kind else features)[source, label] = weight
    except (OSError, IndexError) as error:
        raise ValueError(f"{path} is not a model") from error
    return LinearChain(
        {"labels": labels, "transitions": transitions, "features": dict(zip(names, features, strict=True))}
    )


_PLACES = 28
"""Where in a file of CRFsuite it says where the weights are, the labels, and the names of features."""
_INDEX = 16
"""Where a table of names says how many it has, and where their places are."""


def _stored_names(data: bytes, at: int) -> list[str]:
    """Return the names in the table at ``at``, in the order of their numbers."""
    count, index = np.frombuffer(data, "<u4", 2, at + _INDEX).tolist()
    names = []
    for place in np.frombuffer(data, "<u4", count, at + index).tolist():
        _, size = np.frombuffer(data, "<u4", 2, at + place).tolist()
        names.append(data[at + place + 8 : at + place + 8 + size].rstrip(b"\0").decode())
    return names


def _stored_weights(data: bytes, at: int) -> list[tuple[int, int, int, float]]:
    """Return the weights in a file of CRFsuite: 1 for a transition, what it is from, its label, and the weight."""
    _, count = np.frombuffer(data, "<u4", 2, at + 4)
    fields = [("kind", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")]
    rows: list[tuple[int, int, int, float]] = np.frombuffer(data, fields, count, at + 12).tolist()
    return rows


def _shares(values: Matrix) -> Matrix:
    shares: Matrix = values / values.sum(-1, keepdims=True)
    return shares


def _checked(numbers: Any, shape: tuple[int, ...]) -> Matrix:
    matrix = np.array(numbers, dtype=np.float64)
    if matrix.shape != shape or not (np.abs(matrix) <= _MAX_WEIGHT).all():
        raise ValueError(f"{shape} numbers up to {_MAX_WEIGHT:g} are needed")
    return matrix
