"""Review table: speech without words, then the words and utterances with the lowest confidences, lowest first.

The confidences of each transcript are stored next to it (:mod:`lsa_whisper.decoding.confidences`). The table of a run
collects their rows, so it also covers recordings that an earlier call transcribed, and transcripts that were corrected
since.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lsa_whisper.decoding.confidences import Calibration, Confidences, ScoredUtterance, read_confidences
from lsa_whisper.system import disk
from lsa_whisper.system.atomic_write import remove_leftovers
from lsa_whisper.system.lock import write_lock
from lsa_whisper.system.table import add_rows
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.assemble import ScoredTranscript
from lsa_whisper.transcription.assembly.confidence import utterance_confidence

REVIEW_THRESHOLD = 0.8
"""Words and utterances with a lower confidence are listed."""

REVIEW_COLUMNS = ("confidence", "kind", "file", "start_ms", "end_ms", "speaker", "text", "utterance")
MISSED = "missed"
"""The kind of a row for speech that too few words are written for."""

ReviewRow = dict[str, Any]


def confidences_of(scored: ScoredTranscript, recording: str, calibration: Calibration) -> Confidences:
    """Return what is stored about the confidences of a new transcript."""
    utterances = (
        ScoredUtterance(tier.speaker, tier.text, tier.span, tuple(tier.verbatim()), scores, tuple(tier.word_spans()))
        for tier, scores in zip(scored.transcript.utterances, scored.scores, strict=True)
    )
    return Confidences(tuple(utterances), calibration, recording, scored.missed)


def low_confidence_rows(confidences: Confidences) -> list[ReviewRow]:
    """Return a row for each stretch of speech without words, and each utterance and word with a low confidence.

    A word has its own time if the transcript has word times, else the time of its utterance.
    """
    calibration, file = confidences.calibration, confidences.recording
    rows = [_row(0.0, MISSED, file, span, "", "speech, and too few words", "") for span in confidences.missed]
    for utterance in confidences.utterances:
        if (confidence := utterance_confidence(utterance.scores, calibration)) is not None:
            rows.append(
                _row(confidence, "utterance", file, utterance.span, utterance.speaker, utterance.text, utterance.text)
            )
        for word, score, span in zip(utterance.words, utterance.scores, utterance.word_spans, strict=True):
            if score is not None:
                rows.append(
                    _row(
                        calibration(score),
                        "word",
                        file,
                        span or utterance.span,
                        utterance.speaker,
                        word,
                        utterance.text,
                    )
                )
    return sort_by_confidence(row for row in rows if row["confidence"] < REVIEW_THRESHOLD)


def _row(
    confidence: float, kind: str, file: str, span: TimeSpan | None, speaker: str, text: str, utterance: str
) -> ReviewRow:
    start_ms, end_ms = (span.start_ms, span.end_ms) if span else ("", "")
    values = (round(confidence, 3), kind, file, start_ms, end_ms, speaker, text, utterance)
    return dict(zip(REVIEW_COLUMNS, values, strict=True))


def sort_by_confidence(rows: Iterable[ReviewRow]) -> list[ReviewRow]:
    """Return rows by confidence, and by place where it is equal; speech without words comes first."""
    return sorted(rows, key=lambda row: (row["kind"] != MISSED, row["confidence"], row["file"], row["start_ms"] or 0))


def collect_reviews(transcripts: Iterable[Path], path: Path) -> list[Path]:
    """Add the rows of many transcripts to the table at ``path``; return the transcripts without confidences.

    Raises:
        LsaWhisperError: Confidences cannot be read, or the table cannot be written.
    """
    by_transcript = {transcript: read_confidences(transcript) for transcript in transcripts}
    rows = [row for confidences in by_transcript.values() if confidences for row in low_confidence_rows(confidences)]
    with disk.convert_disk_errors(path), write_lock(path):
        remove_leftovers(path)
        add_rows(path, REVIEW_COLUMNS, [[row[name] for name in REVIEW_COLUMNS] for row in sort_by_confidence(rows)])
    return [transcript for transcript, confidences in by_transcript.items() if confidences is None]
