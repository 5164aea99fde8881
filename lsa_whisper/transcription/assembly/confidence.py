"""Confidences of words and utterances, and their calibration.

The log-probability of a word is the mean over its tokens, so that long words do not score low for their length. Its
confidence is the probability that the word is correct: ``exp`` of the log-probability, or its calibrated value. The
confidence of an utterance is the mean over its words: once calibrated, the expected share of correct words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import compress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.checkpoint.folder import CALIBRATION_FILE
from lsa_whisper.decoding.confidences import Calibration, WordScores, log_odds
from lsa_whisper.decoding.decoder import DecodedSegment, TimedToken
from lsa_whisper.decoding.word_times import align_words
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system.atomic_write import write_atomic

_Vector = npt.NDArray[np.float64]


def word_logprobs(utterances: Sequence[Utterance], segment: DecodedSegment) -> list[WordScores]:
    """Return the word scores of each utterance of a segment.

    >>> from lsa_whisper.chat import utterance
    >>> segment = DecodedSegment("um I", 0, 1, logprobs=(("u", -2.0), ("m", -1.0), (" I", -0.5)))
    >>> word_logprobs([utterance("PAR", "&-um I want .")], segment)
    [(-1.5, -0.5, None)]
    """
    # Words are mapped to tokens by their letters as for word times, with a token's index in place of its time.
    tokens = [TimedToken(text, at, at + 1) for at, (text, _) in enumerate(segment.logprobs)]
    scores = []
    for tier, timed in zip(utterances, align_words(utterances, tokens), strict=True):
        words, times = list[float | None](), list(timed)
        for word in tier.verbatim():
            if times and times[0][0] == word:
                span = times.pop(0)[1]
                own = segment.logprobs[span.start_ms // 1000 : span.end_ms // 1000]
                words.append(sum(logprob for _, logprob in own) / len(own) if own else None)
            else:
                words.append(None)
        scores.append(tuple(words))
    return scores


def cleaned(original: Utterance, scores: WordScores = ()) -> tuple[Utterance, WordScores] | None:
    """Return an utterance without its disfluencies, and the scores of the words that stay; ``None`` if none stays.

    The words that stay keep their times and scores, unless more or fewer words are left than were spoken, as where a
    replacement has several.

    >>> tier, scores = cleaned(utterance("PAR", "&-um I want [/] want it ."), (-2.0, -0.5, -0.1, -0.2, None))
    >>> tier.text, scores
    ('I want it .', (-0.5, -0.2, None))
    """
    words = original.fluent()
    if not words:
        return None
    kept = [not is_disfluent for is_disfluent in original.disfluent()]
    timed, logprobs = [], tuple(compress(scores, kept))
    if sum(kept) == len(words):
        spans = compress(original.word_spans(), kept)
        timed = [(word, span) for word, span in zip(words, spans, strict=True) if span]
    tier = utterance(original.speaker, f"{' '.join(words)} {original.terminator or '.'}", original.span, timed)
    return tier, logprobs if len(logprobs) == len(words) else (None,) * len(words)


def utterance_confidence(scores: WordScores, calibration: Calibration) -> float | None:
    """Return the mean confidence of an utterance's words; ``None`` if no word has one.

    >>> round(utterance_confidence((math.log(0.9), None, math.log(0.5)), Calibration()), 3)
    0.7
    """
    values = [calibration(score) for score in scores if score is not None]
    return sum(values) / len(values) if values else None


def fit_calibration(logprobs: Sequence[float], right: Sequence[bool]) -> Calibration:
    """Return the calibration under which ``right`` is most probable (Platt 1999).

    Platt's targets, ``(n + 1) / (n + 2)`` in place of 1, keep a sample without any error from promising certainty.
    ``right`` tells of each word whether it was.

    Raises:
        CheckpointError: The confidences do not separate correct from incorrect words.

    >>> sample = [math.log(0.9)] * 100 + [math.log(0.6)] * 100
    >>> found = fit_calibration(sample, [True] * 80 + [False] * 20 + [True] * 50 + [False] * 50)
    >>> [round(found(math.log(probability)), 2) for probability in (0.9, 0.6)]
    [0.8, 0.5]
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    yes, no = sum(right), len(right) - sum(right)
    if not yes or not no:
        raise CheckpointError(f"calibration needs correct and incorrect words, but there are {yes} and {no}")
    odds = np.array([[log_odds(logprob), 1.0] for logprob in logprobs])
    targets = np.where(right, (yes + 1) / (yes + 2), 1 / (no + 2))

    def loss(line: _Vector) -> tuple[float, _Vector]:
        logits = odds @ line
        value = np.logaddexp(0, logits).mean() - targets @ logits / len(targets)
        return float(value), odds.T @ (expit(logits) - targets) / len(targets)

    def hessian(line: _Vector) -> _Vector:
        probabilities = expit(odds @ line)
        curvature: _Vector = (odds * (probabilities * (1 - probabilities))[:, None]).T @ odds / len(targets)
        return curvature

    start = np.array([0.0, math.log((yes + 1) / (no + 1))])
    slope, intercept = minimize(loss, start, jac=True, hess=hessian, method="trust-exact", tol=1e-10).x
    if slope <= 0:
        raise CheckpointError("calibration: words with a higher confidence are not correct more often; use more speech")
    return Calibration(float(slope), float(intercept), len(right))


def save_calibration(calibration: Calibration, model: Path) -> Path:
    """Write the calibration next to a checkpoint and return its path."""
    path = model / CALIBRATION_FILE
    write_atomic(json.dumps(asdict(calibration), indent=1) + "\n", path)
    return path
