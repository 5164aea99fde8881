"""How sure the model was of each word and utterance, and what that is worth once it was calibrated.

A word's log-probability is the mean over its tokens (so that a long word is not doubtful only for being long), its
confidence the probability that it is right: ``exp`` of that, or what a calibration on held-out speech makes of it.
An utterance's confidence is the mean over its words: once calibrated, the share of them that should be right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lsa_whisper import plain_json
from lsa_whisper.atomic_write import write_atomic
from lsa_whisper.chat import Utterance
from lsa_whisper.checkpoint.folder import CALIBRATION_FILE
from lsa_whisper.decoding.decoder import DecodedSegment, TimedToken
from lsa_whisper.errors import CheckpointError
from lsa_whisper.transcribe.assembly.word_times import align_words

_EDGE = 1e-6  # a probability of one has no odds

WordScores = tuple[float | None, ...]
"""The mean log-probability of each word of an utterance, in the order of ``verbatim()``; ``None`` where unknown."""


def word_logprobs(utterances: Sequence[Utterance], segment: DecodedSegment) -> list[WordScores]:
    """Return the scores of each utterance that was made of a segment.

    >>> from lsa_whisper.chat import utterance
    >>> segment = DecodedSegment("um I", 0, 1, logprobs=(("u", -2.0), ("m", -1.0), (" I", -0.5)))
    >>> word_logprobs([utterance("PAR", "&-um I want .")], segment)
    [(-1.5, -0.5, None)]
    """
    # Letters lead from words to tokens just as for word times, with a token's place in the row standing for its time.
    places = [TimedToken(text, at, at + 1) for at, (text, _) in enumerate(segment.logprobs)]
    scores = []
    for each, found in zip(utterances, align_words(utterances, places), strict=True):
        words, known = list[float | None](), list(found)
        for word in each.verbatim():
            if known and known[0][0] == word:
                span = known.pop(0)[1]
                tokens = segment.logprobs[span.start_ms // 1000 : span.end_ms // 1000]
                words.append(sum(logprob for _, logprob in tokens) / len(tokens) if tokens else None)
            else:
                words.append(None)
        scores.append(tuple(words))
    return scores


@dataclass(frozen=True)
class Calibration:
    """Platt's: the log-odds of being right are a straight line over the log-odds the model gave.

    The default changes nothing.

    >>> round(Calibration()(math.log(0.8)), 3), round(Calibration(slope=0.5)(math.log(0.8)), 3)
    (0.8, 0.667)
    """

    slope: float = 1.0
    intercept: float = 0.0
    words: int = 0

    def __call__(self, logprob: float) -> float:
        """Return the confidence, 0 to 1, behind a mean log-probability."""
        return 1 / (1 + math.exp(-(self.slope * log_odds(logprob) + self.intercept)))


def log_odds(logprob: float) -> float:
    """Return the log-odds of a log-probability, kept finite."""
    chance = min(max(math.exp(min(logprob, 0.0)), _EDGE), 1 - _EDGE)
    return math.log(chance / (1 - chance))


def utterance_confidence(scores: WordScores, calibration: Calibration) -> float | None:
    """Return the mean confidence of an utterance's words; ``None`` where no word has one.

    >>> round(utterance_confidence((math.log(0.9), None, math.log(0.5)), Calibration()), 3)
    0.7
    """
    known = [calibration(score) for score in scores if score is not None]
    return sum(known) / len(known) if known else None


def fit_calibration(logprobs: Sequence[float], right: Sequence[bool], *, steps: int = 50) -> Calibration:
    """Return the calibration under which ``right`` is most probable (Platt 1999, by Newton's method).

    Platt's targets, ``(n + 1) / (n + 2)`` in place of 1, keep a sample without any error from promising certainty.

    Args:
        logprobs: of each word.
        right: whether it was.
        steps: how long the search may take.

    Raises:
        CheckpointError: the words say nothing about the model's doubts.

    >>> sample = [math.log(0.9)] * 100 + [math.log(0.6)] * 100
    >>> found = fit_calibration(sample, [True] * 80 + [False] * 20 + [True] * 50 + [False] * 50)
    >>> [round(found(math.log(chance)), 2) for chance in (0.9, 0.6)]
    [0.8, 0.5]
    """
    import numpy as np

    yes, no = sum(right), len(right) - sum(right)
    if not yes or not no:
        raise CheckpointError(f"calibration needs words that are right and words that are wrong, not {yes} and {no}")
    odds = np.array([[log_odds(each), 1.0] for each in logprobs])
    wanted = np.where(right, (yes + 1) / (yes + 2), 1 / (no + 2))
    line = np.array([0.0, math.log((yes + 1) / (no + 1))])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-np.clip(odds @ line, -30, 30)))
        bend = (odds * (chance * (1 - chance))[:, None]).T @ odds + 1e-9 * np.eye(2)
        move = np.linalg.solve(bend, odds.T @ (wanted - chance))
        line = line + move * min(1.0, 5.0 / (float(np.abs(move).max()) + 1e-12))
        if np.abs(move).max() < 1e-8:
            break
    if line[0] <= 0:
        raise CheckpointError("calibration: words the model was surer of are right no more often; use more speech")
    return Calibration(float(line[0]), float(line[1]), len(right))


def save_calibration(calibration: Calibration, model: Path) -> Path:
    """Write the calibration beside a checkpoint and return its path."""
    if not model.is_dir():
        raise CheckpointError(f"{model}: a calibration is stored in the checkpoint's folder; download the model first")
    path = model / CALIBRATION_FILE
    write_atomic(json.dumps(asdict(calibration), indent=1) + "\n", path)
    return path


def load_calibration(model: str | Path) -> Calibration:
    """Return the calibration stored beside a checkpoint, or the one that changes nothing.

    Raises:
        CheckpointError: the file is there and cannot be used.
    """
    path = Path(model) / CALIBRATION_FILE
    if not path.is_file():
        return Calibration()
    try:
        read = Calibration(**plain_json.read(path))
        numbers = [float(read.slope), float(read.intercept)]
    except (ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{path}: is no calibration ({error}); delete it or calibrate again") from error
    if not all(map(math.isfinite, numbers)) or numbers[0] <= 0:
        raise CheckpointError(f"{path}: is no calibration (slope {read.slope}); delete it or calibrate again")
    return read
