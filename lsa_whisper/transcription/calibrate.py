"""Calibrate a model's confidences: transcribe held-out sessions and compare confidences with errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.chat import Transcript
from lsa_whisper.checkpoint import overview_line
from lsa_whisper.checkpoint.folder import verify_changeable
from lsa_whisper.corpus import discover
from lsa_whisper.decoding.confidences import Calibration
from lsa_whisper.errors import CheckpointError, CorpusError
from lsa_whisper.scoring.align import UNALIGNED
from lsa_whisper.scoring.wer import align_verbatim
from lsa_whisper.scoring.words import file_words
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript
from lsa_whisper.transcription.assembly.confidence import fit_calibration, save_calibration
from lsa_whisper.transcription.options import TranscriptionOptions
from lsa_whisper.transcription.transcriber import Transcriber

ScoredWord = tuple[float, bool]
"""The log-probability of a word, and whether it is right."""
_BINS = 10
_MIN_WORDS = 200  # with fewer, the two parameters cannot be estimated


@dataclass(frozen=True)
class CalibrationReport:
    """The result of a calibration.

    Attributes:
        path: The file it is stored in.
        words: Number of words it is based on.
        right: Share of correct words.
        error_before: Expected calibration error of the model's own probabilities, 0 at best.
        error_after: That of calibrated confidences, for each session by the calibration of the others; ``None`` with
            one session.
        sessions: Number of sessions.
        worse: Number of sessions whose confidences are worse with the calibration of the others.
    """

    path: Path
    words: int
    right: float
    error_before: float
    error_after: float | None
    sessions: int = 1
    worse: int = 0

    def table(self) -> str:
        """Return the figures as text."""
        head = f"{self.path}\n{self.words} words, {self.right:.1%} correct\n"
        if self.error_after is None:
            return f"{head}expected calibration error {self.error_before:.3f} before; one session cannot be held out"
        return (
            f"{head}expected calibration error {self.error_before:.3f} before, {self.error_after:.3f} after, each "
            f"session by the others ({self.worse} of {self.sessions} worse)"
        )


@private_umask()
def calibrate(
    model: Path, sessions: Path, *, language: str = "eng", batch_size: int = 8, device: str = "auto"
) -> CalibrationReport:
    """Store a calibration of a checkpoint's confidences in its folder, and return its quality.

    Args:
        model: The checkpoint's folder.
        sessions: A folder of CHAT files with recordings that the model was not trained on.
        language: ISO 639-3.
        batch_size: Windows decoded together.
        device: ``auto`` takes a GPU where there is one.

    Raises:
        CorpusError: There are no sessions, or they have too few words.
        CheckpointError: The model cannot be loaded, its confidences do not separate correct from incorrect words, or a
            calibration by the other sessions makes them worse; nothing is stored then.
    """
    verify_changeable(model := Path(model))
    held_out, _ = discover(sessions)
    if not held_out:
        raise CorpusError(f"{sessions}: no transcript with its recording; name a folder of held-out sessions")
    options = TranscriptionOptions(language=language, batch_size=batch_size, device=device)
    print_progress(overview_line(model))
    transcriber = Transcriber(model, options)
    rows = [scored_words(item.transcript, transcriber.transcribe_with_scores(item.recording)) for item in held_out]
    rows = [row for row in rows if row]
    right = [is_right for words in rows for _, is_right in words]
    if len(right) < _MIN_WORDS:
        raise CorpusError(f"{sessions}: {len(right)} words are too few to calibrate on; give {_MIN_WORDS} at least")
    calibration = fit_calibration([logprob for words in rows for logprob, _ in words], right)
    before, after, worse = cross_validated(rows)
    if after is not None and after > before:
        raise CheckpointError(
            f"{sessions}: confidences are worse when calibrated by other sessions ({after:.3f}, not {before:.3f}); "
            "nothing is stored; give more sessions, or sessions that are more alike"
        )
    share = sum(right) / len(right)
    return CalibrationReport(save_calibration(calibration, model), len(right), share, before, after, len(rows), worse)


def cross_validated(sessions: Sequence[Sequence[ScoredWord]]) -> tuple[float, float | None, int]:
    """Return the calibration error without and with calibration, and the number of sessions that it makes worse.

    Each session is calibrated by the others; with one session, the second value is ``None``.

    >>> import math
    >>> session = [(math.log(0.9), at % 10 < 7) for at in range(100)] + [(math.log(0.6), at < 30) for at in range(100)]
    >>> before, after, worse = cross_validated([session, session])
    >>> round(before, 2), round(after, 2), worse
    (0.25, 0.0, 0)
    """
    own = [[(Calibration()(logprob), right) for logprob, right in session] for session in sessions]
    before = _error(own)
    if len(sessions) < 2:
        return before, None, 0
    fitted = []
    for number, words in enumerate(sessions):
        training = [word for at, other in enumerate(sessions) if at != number for word in other]
        try:
            curve = fit_calibration([logprob for logprob, _ in training], [right for _, right in training])
        except CheckpointError:  # the others have no wrong word, or none that is less certain
            curve = Calibration()
        fitted.append([(curve(logprob), right) for logprob, right in words])
    worse = sum(_error([new]) > _error([old]) for old, new in zip(own, fitted, strict=True))
    return before, _error(fitted), worse


def _error(sessions: Sequence[Sequence[tuple[float, bool]]]) -> float:
    words = [word for session in sessions for word in session]
    return calibration_error([confidence for confidence, _ in words], [right for _, right in words])


def scored_words(reference: Transcript, hypothesis: ScoredTranscript) -> list[ScoredWord]:
    """Return the log-probability of each word of a transcript, and whether it is correct.

    Words aligned with unintelligible speech are excluded, because their reference is unknown.
    """
    reference_words = file_words(reference.utterances)
    words = file_words(hypothesis.transcript.utterances, keep_unintelligible=False)
    alignment = align_verbatim(reference_words, words)
    rows = []
    for (_, position), equal, is_excluded in zip(alignment.pairs, alignment.equal, alignment.excluded, strict=True):
        if position == UNALIGNED or is_excluded:
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
    gaps = (abs(sum(c for c, _ in pairs) - sum(r for _, r in pairs)) for pairs in bins.values())
    return sum(gaps) / max(1, len(right))
