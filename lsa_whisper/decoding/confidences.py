"""The confidences of a transcript's words, in a file next to it, and the calibration that they are read with.

``transcribe`` always writes the hidden file ``.NAME.confidences.json`` next to a transcript: the words as the model
wrote them, with their log-probabilities, and the model's calibration. The file does not depend on the transcript
afterwards, so a corrected transcript keeps it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lsa_whisper.checkpoint.folder import CALIBRATION_FILE
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.system import plain_json
from lsa_whisper.system.atomic_write import truncate_name, write_atomic
from lsa_whisper.timespan import TimeSpan

_EDGE = 1e-6  # keeps log-odds finite

WordScores = tuple[float | None, ...]
"""The mean log-probability of each word of an utterance, in the order of ``verbatim()``; ``None`` where unknown."""


@dataclass(frozen=True)
class Calibration:
    """Platt scaling: the log-odds of a correct word are linear in the log-odds that the model gives.

    The default is the identity.

    >>> round(Calibration()(math.log(0.8)), 3), round(Calibration(slope=0.5)(math.log(0.8)), 3)
    (0.8, 0.667)
    """

    slope: float = 1.0
    intercept: float = 0.0
    words: int = 0

    def __call__(self, logprob: float) -> float:
        """Return the confidence, 0 to 1, for a mean log-probability."""
        return 1 / (1 + math.exp(-self.odds(logprob)))

    def odds(self, logprob: float) -> float:
        """Return the log-odds of a correct word for a mean log-probability."""
        return self.slope * log_odds(logprob) + self.intercept


def log_odds(logprob: float) -> float:
    """Return the log-odds of a log-probability, kept finite."""
    probability = min(max(math.exp(min(logprob, 0.0)), _EDGE), 1 - _EDGE)
    return math.log(probability / (1 - probability))


def load_calibration(model: str | Path) -> Calibration:
    """Return the calibration stored with a checkpoint, or the identity.

    Raises:
        CheckpointError: The file cannot be read.
    """
    path = Path(model) / CALIBRATION_FILE
    if not path.is_file():
        return Calibration()
    try:
        calibration = Calibration(**plain_json.read(path))
        numbers = [float(calibration.slope), float(calibration.intercept)]
    except (ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(f"{path}: is not a calibration ({error}); delete it or calibrate again") from error
    if not all(map(math.isfinite, numbers)) or numbers[0] <= 0:
        raise CheckpointError(f"{path}: is not a calibration (slope {calibration.slope}); delete it or calibrate again")
    return calibration


@dataclass(frozen=True)
class ScoredUtterance:
    """An utterance as the model wrote it: speaker, CHAT text, time, its spoken words and their log-probabilities."""

    speaker: str
    text: str
    span: TimeSpan | None
    words: tuple[str, ...]
    scores: WordScores
    word_spans: tuple[TimeSpan | None, ...] = ()


@dataclass(frozen=True)
class Confidences:
    """What a model knows about its own transcript: its utterances, its calibration, and the name of the recording.

    ``missed`` are the stretches of speech for which words seem to be missing.
    """

    utterances: tuple[ScoredUtterance, ...]
    calibration: Calibration = Calibration()
    recording: str = ""
    missed: tuple[TimeSpan, ...] = ()


def confidences_path(transcript: Path) -> Path:
    """Return the path of the confidences of the transcript at ``transcript``."""
    return transcript.with_name(f".{truncate_name(transcript.stem)}.confidences.json")


def write_confidences(confidences: Confidences, path: Path) -> None:
    """Write confidences to ``path``, atomically.

    Raises:
        LsaWhisperError: The file cannot be written.
    """
    rows = [
        {
            "speaker": utterance.speaker,
            "text": utterance.text,
            "span_ms": _times(utterance.span),
            "words": list(utterance.words),
            "logprobs": [None if score is None else round(score, 5) for score in utterance.scores],
            "word_spans_ms": [_times(span) for span in utterance.word_spans],
        }
        for utterance in confidences.utterances
    ]
    head = {
        "recording": confidences.recording,
        "calibration": asdict(confidences.calibration),
        "missed_ms": [_times(span) for span in confidences.missed],
    }
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    write_atomic(f'{json.dumps(head)[:-1]}, "utterances": [\n{lines}\n]}}\n', path)


def read_confidences(transcript: Path) -> Confidences | None:
    """Return the confidences of the transcript at ``transcript``; ``None`` if there are none.

    Raises:
        LsaWhisperError: The file is damaged.
    """
    path = confidences_path(transcript)
    if not path.is_file():
        return None
    try:
        content = plain_json.read(path)
        calibration = Calibration(**content["calibration"])
        if not calibration.slope > 0:
            raise ValueError(f"slope {calibration.slope}")
        rows = tuple(
            ScoredUtterance(
                str(row["speaker"]),
                str(row["text"]),
                _span(row["span_ms"]),
                tuple(map(str, row["words"])),
                _scores(row["logprobs"], len(row["words"])),
                tuple(map(_span, row["word_spans_ms"])),
            )
            for row in content["utterances"]
        )
        missed = tuple(span for times in content.get("missed_ms", ()) if (span := _span(times)))
        return Confidences(rows, calibration, str(content["recording"]), missed)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise LsaWhisperError(
            f"{path}: cannot be read as confidences ({error}); delete it to go without them"
        ) from error


def _times(span: TimeSpan | None) -> list[int] | None:
    return [span.start_ms, span.end_ms] if span else None


def _span(times: Sequence[int] | None) -> TimeSpan | None:
    if times is None:
        return None
    start, end = times
    return TimeSpan(int(start), int(end))


def _scores(logprobs: Sequence[float | None], words: int) -> WordScores:
    if len(logprobs) != words:
        raise ValueError(f"{len(logprobs)} scores for {words} words")
    return tuple(None if value is None else float(value) for value in logprobs)
