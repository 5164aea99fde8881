"""What a model's confidences are worth: held-out sessions are transcribed, and its doubts compared with its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.chat import Transcript
from lsa_whisper.corpus import discover
from lsa_whisper.errors import CorpusError
from lsa_whisper.scoring.align import UNALIGNED
from lsa_whisper.scoring.wer import align_verbatim
from lsa_whisper.scoring.words import file_words
from lsa_whisper.transcribe.assembly.assemble import ScoredTranscript
from lsa_whisper.transcribe.assembly.confidence import Calibration, fit_calibration, save_calibration
from lsa_whisper.transcribe.options import TranscriptionOptions
from lsa_whisper.transcribe.transcriber import Transcriber
from lsa_whisper.umask import private_umask

_BINS = 10
_LEAST_WORDS = 200  # with fewer, two numbers cannot be told from chance


@dataclass(frozen=True)
class CalibrationReport:
    """What came of a calibration.

    Attributes:
        path: where it is stored.
        words: how many words it rests on.
        right: the share of them that were right.
        error_before: expected calibration error of the model's own probabilities, 0 at best.
        error_after: the same of the calibrated ones, on the same words.
    """

    path: Path
    words: int
    right: float
    error_before: float
    error_after: float

    def table(self) -> str:
        """Return a line for each figure."""
        return (
            f"{self.path}\n{self.words} words, {self.right:.1%} right\n"
            f"expected calibration error {self.error_before:.3f} before, {self.error_after:.3f} after (same words)"
        )


@private_umask()
def calibrate(
    model: Path, sessions: Path, *, language: str = "eng", batch_size: int = 8, device: str = "auto"
) -> CalibrationReport:
    """Store beside a checkpoint what its confidences are worth, and return how far off they were.

    Args:
        model: the checkpoint's folder.
        sessions: a folder of CHAT files with their recordings, which the model was not trained on.
        language: ISO 639-3.
        batch_size: windows decoded together.
        device: ``auto`` takes a GPU where there is one.

    Raises:
        CorpusError: there are no sessions, or too few words in them.
        CheckpointError: the model cannot be loaded, or its confidences say nothing.
    """
    found, _ = discover(sessions)
    if not found:
        raise CorpusError(f"{sessions}: no transcript with its recording; name a folder of held-out sessions")
    options = TranscriptionOptions(language=language, batch_size=batch_size, device=device)
    transcriber = Transcriber(model, options)
    logprobs: list[float] = []
    right: list[bool] = []
    for session in found:
        for logprob, is_right in scored_words(
            session.transcript, transcriber.transcribe_with_scores(session.recording)
        ):
            logprobs.append(logprob)
            right.append(is_right)
    if len(right) < _LEAST_WORDS:
        raise CorpusError(f"{sessions}: {len(right)} words are too few to calibrate on; give {_LEAST_WORDS} at least")
    calibration = fit_calibration(logprobs, right)
    errors = [calibration_error([curve(each) for each in logprobs], right) for curve in (Calibration(), calibration)]
    return CalibrationReport(save_calibration(calibration, model), len(right), sum(right) / len(right), *errors)


def scored_words(reference: Transcript, written: ScoredTranscript) -> list[tuple[float, bool]]:
    """Return the log-probability of each word of a transcript, and whether the reference has it in its place.

    Words that stand for something unintelligible are left out: nobody knows whether they are right.
    """
    said = file_words(reference.utterances)
    heard = file_words(written.transcript.utterances, keep_unintelligible=False)
    alignment = align_verbatim(said, heard)
    rows = []
    for (_, position), equal, excluded in zip(alignment.pairs, alignment.equal, alignment.excluded, strict=True):
        if position == UNALIGNED or excluded:
            continue
        score = written.scores[int(heard.utterance_of[position])][int(heard.spoken_of[position])]
        if score is not None:
            rows.append((score, bool(equal)))
    return rows


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Return the expected calibration error: how far confidence and accuracy lie apart, in ten bins of equal width.

    >>> round(calibration_error([0.95] * 10, [True] * 8 + [False] * 2), 3)
    0.15
    """
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, is_right in zip(confidences, right, strict=True):
        bins.setdefault(min(int(confidence * _BINS), _BINS - 1), []).append((confidence, is_right))
    gaps = (abs(sum(c for c, _ in each) - sum(r for _, r in each)) for each in bins.values())
    return sum(gaps) / max(1, len(right))
