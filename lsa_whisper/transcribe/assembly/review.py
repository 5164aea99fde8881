"""Review table: the words and utterances with the lowest confidences, lowest first.

The rows of a recording are written next to its transcript (``NAME.review.csv``). The table of a run collects them, so
it also covers recordings that an earlier call transcribed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper import disk
from lsa_whisper.atomic_write import remove_leftovers, write_atomic
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.lock import write_lock
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.assembly.assemble import ScoredTranscript
from lsa_whisper.transcribe.assembly.confidence import Calibration, utterance_confidence
from lsa_whisper.transcribe.assembly.speaker_attribution import word_spans

REVIEW_THRESHOLD = 0.8
"""Words and utterances with a lower confidence are listed."""

REVIEW_COLUMNS = ("confidence", "kind", "file", "start_ms", "end_ms", "speaker", "text", "utterance")
ReviewRow = dict[str, Any]


def low_confidence_rows(scored: ScoredTranscript, file: str, calibration: Calibration) -> list[ReviewRow]:
    """Return a row for each utterance and word with a low confidence, lowest first.

    A word has its own time if the transcript has word times, else the time of its utterance.

    Args:
        scored: the transcript and its scores.
        file: name of the recording in the table.
        calibration: maps log-probabilities to confidences.
    """
    rows: list[ReviewRow] = []
    for each, scores in zip(scored.transcript.utterances, scored.scores, strict=True):
        if (confidence := utterance_confidence(scores, calibration)) is not None:
            rows.append(_row(confidence, "utterance", file, each.span, each.speaker, each.text, each.text))
        for word, score, span in zip(each.verbatim(), scores, word_spans(each), strict=True):
            if score is not None:
                rows.append(_row(calibration(score), "word", file, span or each.span, each.speaker, word, each.text))
    return sort_by_confidence(row for row in rows if row["confidence"] < REVIEW_THRESHOLD)


def _row(
    confidence: float, kind: str, file: str, span: TimeSpan | None, speaker: str, text: str, utterance: str
) -> ReviewRow:
    start_ms, end_ms = (span.start_ms, span.end_ms) if span else ("", "")
    values = (round(confidence, 3), kind, file, start_ms, end_ms, speaker, text, utterance)
    return dict(zip(REVIEW_COLUMNS, values, strict=True))


def sort_by_confidence(rows: Iterable[ReviewRow]) -> list[ReviewRow]:
    """Return rows by confidence, and by place where it is equal."""
    return sorted(rows, key=lambda row: (row["confidence"], row["file"], row["start_ms"] or 0))


def write_review(rows: Sequence[ReviewRow], path: Path) -> None:
    """Write rows as CSV in UTF-8, atomically.

    Raises:
        LsaWhisperError: the file cannot be written.
    """
    text = io.StringIO()
    table = csv.DictWriter(text, REVIEW_COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_atomic(text.getvalue(), path)


def review_path(transcript: Path) -> Path:
    """Return the path of a transcript's own review table."""
    return transcript.with_suffix(".review.csv")


def collect_reviews(transcripts: Iterable[Path], path: Path) -> list[Path]:
    """Write the rows of many transcripts to ``path`` and return the transcripts without a review table.

    Raises:
        LsaWhisperError: a table cannot be read or written.
    """
    without: list[Path] = []
    rows = [row for transcript in transcripts for row in _rows(transcript, without)]
    with disk.convert_disk_errors(path), write_lock(path):
        remove_leftovers(path)
        write_review(sort_by_confidence(rows), path)
    return without


def _rows(transcript: Path, without: list[Path]) -> Iterator[ReviewRow]:
    own = review_path(transcript)
    if not own.is_file():
        without.append(transcript)
        return
    try:
        with own.open(encoding="utf-8-sig", newline="") as file:  # spreadsheet programs write a byte order mark
            table = csv.DictReader(file)
            if not set(REVIEW_COLUMNS) <= set(table.fieldnames or ()):
                raise ValueError(f"its columns are not {','.join(REVIEW_COLUMNS)}")
            for row in table:
                if None in row:
                    raise ValueError(f"line {table.line_num} has more columns than the first")
                yield {column: row[column] for column in REVIEW_COLUMNS} | {
                    "confidence": float(row["confidence"]),
                    "start_ms": int(row["start_ms"]) if row["start_ms"] else "",
                }
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise LsaWhisperError(f"{own}: cannot be read as a table ({error}); delete it and its transcript") from error
