"""A linear-chain conditional random field as plain numbers, which unlike a library's model file can be checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pycrfsuite

_MAX_WEIGHT = 1e3
_Matrix = npt.NDArray[np.float64]


class LinearChain:
    """The methods of ``pycrfsuite.Tagger`` that a tagger needs: :meth:`labels`, :meth:`set` and :meth:`marginal`."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        """Take the ``weights`` that :func:`weights_of` returns.

        Raises:
            ValueError: They are not such weights.
        """
        try:
            self._labels = [str(label) for label in weights["labels"]]
            self._transitions = _checked(weights["transitions"], (len(self._labels), len(self._labels)))
            features = weights["features"].items()
            self._features = {name: _checked(row, (len(self._labels),)) for name, row in features}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("labels, transitions and features are needed") from error

    def labels(self) -> list[str]:
        """Return the labels, each a possible reading of a word."""
        return list(self._labels)

    def set(self, words: Sequence[Sequence[str]]) -> None:
        """Take the features of each of an utterance's words, at least one."""
        nothing = np.zeros(len(self._labels))
        states = np.array([sum((self._features.get(name, nothing) for name in word), nothing) for word in words])
        forward, backward = [states[0]], [nothing]
        for state in states[1:]:
            forward.append(state + _log_sum(forward[-1][:, None] + self._transitions, 0))
        for state in states[:0:-1]:
            backward.append(_log_sum(self._transitions + state + backward[-1], 1))
        joint = np.array(forward) + np.array(backward[::-1])
        self._marginals = np.exp(joint - _log_sum(joint, 1)[:, None])

    def marginal(self, label: str, at: int) -> float:
        """Return the probability of ``label`` for the word ``at``."""
        return float(self._marginals[at, self._labels.index(label)])


def weights_of(model: pycrfsuite.Tagger) -> dict[str, Any]:
    """Return the weights of a model of python-crfsuite, ready for JSON."""
    found = model.info()
    labels = sorted(found.labels)
    features: dict[str, list[float]] = {}
    for (name, label), weight in sorted(found.state_features.items()):
        features.setdefault(name, [0.0] * len(labels))[labels.index(label)] = round(weight, 4)
    transitions = [[round(found.transitions.get((one, two), 0.0), 4) for two in labels] for one in labels]
    return {"labels": labels, "transitions": transitions, "features": features}


def _log_sum(values: _Matrix, axis: int) -> _Matrix:
    top = values.max(axis, keepdims=True)
    total: _Matrix = np.log(np.exp(values - top).sum(axis)) + top.squeeze(axis)
    return total


def _checked(numbers: Any, shape: tuple[int, ...]) -> _Matrix:
    found = np.array(numbers, dtype=np.float64)
    if found.shape != shape or not (np.abs(found) <= _MAX_WEIGHT).all():
        raise ValueError(f"{shape} numbers up to {_MAX_WEIGHT:g} are needed")
    return found
