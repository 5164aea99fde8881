"""Reports on language samples: measures per speaker as a table, JSON or CSV, and every disfluency with its line.

Also the profile of the disfluencies: how often, where, how long.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Transcript
from lsa_whisper.errors import printable
from lsa_whisper.inspection.coded_errors import coded_errors
from lsa_whisper.inspection.left_out import banner_lines, is_complete
from lsa_whisper.inspection.measure_names import SUMMARY_MEASURES, explained, measure_cell, measure_name, unit_remarks
from lsa_whisper.inspection.measures import measure_speakers
from lsa_whisper.inspection.text_output import as_json, format_number
from lsa_whisper.inspection.transcript_report import readable_transcripts
from lsa_whisper.labels import NOT_TRANSCRIBED, Coverage, is_draft, read_coverage
from lsa_whisper.labels.coverage import NOT_CHECKED
from lsa_whisper.splice import DisfluencyProfile, count_profile
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.terminal import TerminalTable, render_text

_SIDE_BY_SIDE = 6
_EVENT_HEAD = ("", "line", "tier", "class", "words")


def measures_report(files: Sequence[Path], mode: str, json: bool, out: Path | None = None) -> str:
    """Return the language-sample measures of each speaker of CHAT ``files``; unreadable files are listed.

    Args:
        files: The transcripts.
        mode: How disfluencies are counted.
        json: Return JSON instead of a table.
        out: A CSV file to write as well: a row for each speaker of each file, empty where a measure has no value, and
            whether a person has checked the transcript.

    Raises:
        ChatSyntaxError: No file is readable.
        LsaWhisperError: ``out`` cannot be written.
    """
    read, unread = readable_transcripts(files)
    found = {
        file: {code: one.as_dict() for code, one in measure_speakers(transcript, mode).items()}
        for file, transcript in read
    }
    first = banner_lines(read)
    terms = explained(mode, measures=True, norm=is_complete(transcript for _, transcript in read))
    units = [*_error_codes(read), *unit_remarks(transcript for _, transcript in read)]
    if out is not None:
        write_atomic(_as_csv(found, {file for file, transcript in read if is_draft(transcript)}).encode(), out)
    if json:
        for line in first:
            print(printable(line), file=sys.stderr)
        return as_json(found)
    columns = [(file, code, row) for file, rows in found.items() for code, row in rows.items()]
    title = f"Language-sample measures per speaker (disfluencies: {mode} counting)"
    if len(columns) > _SIDE_BY_SIDE:
        rows = (
            [f"{Path(file).stem} {code}", *(measure_cell(row, name) for name in SUMMARY_MEASURES)]
            for file, code, row in columns
        )
        more = [] if out is not None else ["--csv FILE writes all measures"]
        return render_text(
            *first,
            TerminalTable(title, ["", *map(measure_name, SUMMARY_MEASURES)], rows),
            *terms,
            *units,
            *unread,
            *more,
        )
    heads = [code if len(found) == 1 else f"{Path(file).stem} {code}" for file, code, _ in columns]
    names = list(columns[0][2]) if columns else []
    rows = ([measure_name(name), *(measure_cell(row, name) for _, _, row in columns)] for name in names)
    return render_text(*first, TerminalTable(title, ["", *heads], rows), *terms, *units, *unread)


def _error_codes(read: Sequence[tuple[str, Transcript]]) -> Iterator[str]:
    """Yield a line for each speaker of a transcript with error codes: how often each code occurs."""
    for file, transcript in read:
        for code in dict.fromkeys(each.speaker for each in transcript.utterances):
            counts = coded_errors([each for each in transcript.utterances if each.speaker == code]).by_code
            who = code if len(read) == 1 else f"{Path(file).stem} {code}"
            if counts:
                yield f"error codes of {who}: {', '.join(f'{name} {count}' for name, count in counts.most_common())}"


def events_report(files: Sequence[Path], json: bool) -> str:
    """Return every disfluency in CHAT ``files`` with its line, speaker, class and words.

    Raises:
        ChatSyntaxError: No file is readable.
    """
    read, unread = readable_transcripts(files)
    rows = [row for file, transcript in read for row in _events(file, transcript)]
    if json:
        return as_json([dict(zip(("file", *_EVENT_HEAD[1:]), row, strict=True)) for row in rows])
    shown = ([Path(file).stem, str(line), *rest] for file, line, *rest in rows)
    gap = any(read_coverage(transcript) != Coverage() for _, transcript in read)
    title = f"{len(rows):,} disfluencies" if rows or not gap else f"disfluencies: {NOT_TRANSCRIBED}"
    return render_text(*banner_lines(read), TerminalTable(title, _EVENT_HEAD, shown), *unread)


def _events(file: str, transcript: Transcript) -> Iterator[tuple[str, int | None, str, str, str]]:
    for each in transcript.utterances:
        verbatim = each.verbatim()
        for event in each.events():
            words = " ".join(verbatim[event.start : event.end])
            yield file, each.line, each.speaker, event.kind.value.replace("_", " "), words


def _as_csv(found: dict[str, dict[str, dict[str, Any]]], drafts: Collection[str]) -> str:
    text = io.StringIO()
    names = next((list(row) for rows in found.values() for row in rows.values()), [])
    table = csv.DictWriter(text, ["file", "speaker", *names, "checked"], lineterminator="\n")
    table.writeheader()
    table.writerows(
        {"file": file, "speaker": code} | row | {"checked": NOT_CHECKED if file in drafts else ""}
        for file, rows in found.items()
        for code, row in rows.items()
    )
    return text.getvalue()


_HEAD = ("", "count", "per 100 words", "at the start", "words", "silence after it, ms: quartiles")


def profile_report(files: Sequence[Path], json: bool) -> str:
    """Return the profile of all transcripts in ``files`` together, as a table or as JSON.

    Raises:
        ChatSyntaxError: No file is readable.
    """
    read, unread = readable_transcripts(files)
    found = count_profile(utterance for _, transcript in read for utterance in transcript.utterances)
    if json:
        return as_json(found.as_dict())
    title = f"Disfluencies in {found.fluent_words:,} fluent words"
    return render_text(*banner_lines(read), TerminalTable(title, _HEAD, _rows(found)), *unread)


def _rows(found: DisfluencyProfile) -> list[list[str]]:
    return [
        [
            name.replace("_", " "),
            format_number(one.count),
            format_number(100 * one.count / max(1, found.fluent_words)),
            format_number(one.initial, percent=True),
            format_number(float(one.words)),
            " ".join(map(str, one.silence_ms)) or "-",
        ]
        for name, one in found.classes.items()
    ]
