"""Where to look first: the words and utterances a model was least sure of, worst first, as a table.

Each recording's rows are written beside its transcript (``NAME.review.csv``), together with it; the table of a run is
made of those, so that it also covers recordings that were finished by an earlier call.
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
"""What is listed: confidences below this."""

COLUMNS = ("confidence", "kind", "file", "start_ms", "end_ms", "speaker", "text", "utterance")
ReviewRow = dict[str, Any]


def low_confidence_rows(written: ScoredTranscript, file: str, calibration: Calibration) -> list[ReviewRow]:
    """Return a row for each doubtful utterance and word of a transcript, worst first.

    A word has its own time where the transcript has word times, else its utterance's.

    Args:
        written: the transcript and its scores.
        file: the recording's name, for the table.
        calibration: what the model's probabilities are worth.
    """
    rows: list[ReviewRow] = []
    for each, scores in zip(written.transcript.utterances, written.scores, strict=True):
        if (whole := utterance_confidence(scores, calibration)) is not None:
            rows.append(_row(whole, "utterance", file, each.span, each.speaker, each.text, each.text))
        for word, score, span in zip(each.verbatim(), scores, word_spans(each), strict=True):
            if score is not None:
                rows.append(_row(calibration(score), "word", file, span or each.span, each.speaker, word, each.text))
    return sort_by_confidence(row for row in rows if row["confidence"] < REVIEW_THRESHOLD)


def _row(
    confidence: float, kind: str, file: str, span: TimeSpan | None, speaker: str, text: str, utterance: str
) -> ReviewRow:
    start_ms, end_ms = (span.start_ms, span.end_ms) if span else ("", "")
    values = (round(confidence, 3), kind, file, start_ms, end_ms, speaker, text, utterance)
    return dict(zip(COLUMNS, values, strict=True))


def sort_by_confidence(rows: Iterable[ReviewRow]) -> list[ReviewRow]:
    """Return rows by confidence, those of equal confidence by place."""
    return sorted(rows, key=lambda row: (row["confidence"], row["file"], row["start_ms"] or 0))


def write_review(rows: Sequence[ReviewRow], path: Path) -> None:
    """Write rows as CSV in UTF-8, whole or not at all.

    Raises:
        LsaWhisperError: the file cannot be written.
    """
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_atomic(text.getvalue(), path)


def review_path(transcript: Path) -> Path:
    """Return where a transcript's own rows are."""
    return transcript.with_suffix(".review.csv")


def collect_reviews(transcripts: Iterable[Path], path: Path) -> list[Path]:
    """Write the rows of many transcripts to ``path`` and return the transcripts that have none of their own.

    Raises:
        LsaWhisperError: a table cannot be read, or the new one not be written.
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
        with own.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets put a mark before the first column
            table = csv.DictReader(file)
            if not set(COLUMNS) <= set(table.fieldnames or ()):
                raise ValueError(f"its columns are not {','.join(COLUMNS)}")
            for row in table:
                if None in row:
                    raise ValueError(f"line {table.line_num} has more columns than the first")
                yield {column: row[column] for column in COLUMNS} | {
                    "confidence": float(row["confidence"]),
                    "start_ms": int(row["start_ms"]) if row["start_ms"] else "",
                }
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise LsaWhisperError(f"{own}: cannot be read as a table ({error}); delete it and its transcript") from error
