"""Calibrate a model's confidences: transcribe held-out sessions and compare confidences with errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.chat import Transcript
from lsa_whisper.checkpoint import overview_line
from lsa_whisper.corpus import discover
from lsa_whisper.decoding.confidences import Calibration
from lsa_whisper.errors import CorpusError
from lsa_whisper.scoring.align import UNALIGNED
from lsa_whisper.scoring.wer import align_verbatim
from lsa_whisper.scoring.words import file_words
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript
from lsa_whisper.transcription.assembly.confidence import fit_calibration, save_calibration
from lsa_whisper.transcription.options import TranscriptionOptions
from lsa_whisper.transcription.transcriber import Transcriber

_BINS = 10
_MIN_WORDS = 200  # with fewer, the two parameters cannot be estimated


@dataclass(frozen=True)
class CalibrationReport:
    """The result of a calibration.

    Attributes:
        path: the file it is stored in.
        words: number of words it is based on.
        right: share of correct words.
        error_before: expected calibration error of the model's own probabilities, 0 at best.
        error_after: expected calibration error of the calibrated confidences, on the same words.
    """

    path: Path
    words: int
    right: float
    error_before: float
    error_after: float

    def table(self) -> str:
        """Return the figures as text."""
        return (
            f"{self.path}\n{self.words} words, {self.right:.1%} correct\n"
            f"expected calibration error {self.error_before:.3f} before, {self.error_after:.3f} after (same words)"
        )


@private_umask()
def calibrate(
    model: Path, sessions: Path, *, language: str = "eng", batch_size: int = 8, device: str = "auto"
) -> CalibrationReport:
    """Store a calibration of a checkpoint's confidences in its folder, and return its quality.

    Args:
        model: the checkpoint's folder.
        sessions: a folder of CHAT files with recordings that the model was not trained on.
        language: ISO 639-3.
        batch_size: windows decoded together.
        device: ``auto`` takes a GPU where there is one.

    Raises:
        CorpusError: there are no sessions, or they have too few words.
        CheckpointError: the model cannot be loaded, or its confidences do not separate correct from incorrect words.
    """
    found, _ = discover(sessions)
    if not found:
        raise CorpusError(f"{sessions}: no transcript with its recording; name a folder of held-out sessions")
    options = TranscriptionOptions(language=language, batch_size=batch_size, device=device)
    print_progress(overview_line(model))
    transcriber = Transcriber(model, options)
    logprobs: list[float] = []
    right: list[bool] = []
    for session in found:
        for logprob, is_right in scored_words(
            session.transcript, transcriber.transcribe_with_scores(session.recording)
        ):
            logprobs.append(logprob)
            right.append(is_right)
    if len(right) < _MIN_WORDS:
        raise CorpusError(f"{sessions}: {len(right)} words are too few to calibrate on; give {_MIN_WORDS} at least")
    calibration = fit_calibration(logprobs, right)
    errors = [calibration_error([curve(each) for each in logprobs], right) for curve in (Calibration(), calibration)]
    return CalibrationReport(save_calibration(calibration, model), len(right), sum(right) / len(right), *errors)


def scored_words(reference: Transcript, hypothesis: ScoredTranscript) -> list[tuple[float, bool]]:
    """Return the log-probability of each word of a transcript, and whether it is correct.

    Words aligned with unintelligible speech are excluded, because their reference is unknown.
    """
    reference_words = file_words(reference.utterances)
    words = file_words(hypothesis.transcript.utterances, keep_unintelligible=False)
    alignment = align_verbatim(reference_words, words)
    rows = []
    for (_, position), equal, excluded in zip(alignment.pairs, alignment.equal, alignment.excluded, strict=True):
        if position == UNALIGNED or excluded:
            continue
        score = hypothesis.scores[int(words.utterance_of[position])][int(words.spoken_of[position])]
        if score is not None:
            rows.append((score, bool(equal)))
    return rows


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Return the expected calibration error: the mean gap between confidence and accuracy in ten bins of equal width.

    >>> round(calibration_error([0.95] * 10, [True] * 8 + [False] * 2), 3)
    0.15
    """
    bins: dict[int, list[tuple[float, bool]]] = {}
    for confidence, is_right in zip(confidences, right, strict=True):
        bins.setdefault(min(int(confidence * _BINS), _BINS - 1), []).append((confidence, is_right))
    gaps = (abs(sum(c for c, _ in each) - sum(r for _, r in each)) for each in bins.values())
    return sum(gaps) / max(1, len(right))
