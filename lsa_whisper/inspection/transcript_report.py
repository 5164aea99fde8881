"""Reports on transcripts: disfluencies per speaker."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper import chat
from lsa_whisper.chat import Transcript
from lsa_whisper.chat.flucalc import COUNTS
from lsa_whisper.errors import ChatSyntaxError, printable
from lsa_whisper.inspection.left_out import banner_lines, is_complete, with_gaps
from lsa_whisper.inspection.measure_names import explained, measure_name
from lsa_whisper.inspection.text_output import as_json, format_number
from lsa_whisper.labels import read_coverage
from lsa_whisper.system.failed_files import FailedFile
from lsa_whisper.system.terminal import TerminalTable, render_text

_ROWS = ("utterances", *COUNTS, "words", "sld", "td", "sld_per_100_words", "weighted_sld")
_SUMMARY = _ROWS[-5:]
_SIDE_BY_SIDE = 6


def fluency_report(
    path: Path, files: Sequence[Path], unreadable_folders: Sequence[FailedFile], mode: str, json: bool
) -> str:
    """Return the disfluency counts of CHAT ``files`` per file and speaker; unreadable files are listed.

    Raises:
        LsaWhisperError: ``mode`` is unknown.
        ChatSyntaxError: No file is readable.
    """
    read, unread = readable_transcripts(files)
    unread += [f"{one.path}: {one.reason}" for one in unreadable_folders]
    counts = {
        file: {
            code: with_gaps(one.as_dict(), read_coverage(transcript)) for code, one in transcript.fluency(mode).items()
        }
        for file, transcript in read
    }
    first, terms = banner_lines(read), explained(mode, norm=is_complete(transcript for _, transcript in read))
    if json:
        for problem in (*first, *unread):  # the JSON has counts only
            print(printable(problem), file=sys.stderr)
        return as_json(next(iter(counts.values())) if path.is_file() else counts)
    title = f"Disfluencies per speaker ({mode} counting)"
    columns = [(file, code, row) for file, rows in counts.items() for code, row in rows.items()]
    if len(columns) > _SIDE_BY_SIDE:  # many speakers fit better as rows than as columns
        rows = ([f"{Path(file).stem} {code}", *(_cell(row, name) for name in _SUMMARY)] for file, code, row in columns)
        table = TerminalTable(title, ["", *(measure_name(name) for name in _SUMMARY)], rows)
        return render_text(*first, table, *terms, *unread)
    heads = [code if len(counts) == 1 else f"{Path(file).stem} {code}" for file, code, _ in columns]
    rows = ([measure_name(name), *(_cell(row, name) for _, _, row in columns)] for name in _ROWS)
    return render_text(*first, TerminalTable(title, ["", *heads], rows), *terms, *unread)


def readable_transcripts(files: Sequence[Path]) -> tuple[list[tuple[str, Transcript]], list[str]]:
    """Return the transcripts that have utterances by path, and a message for each of the other files.

    Raises:
        ChatSyntaxError: No file is readable, or none has an utterance.
    """
    read: list[tuple[str, Transcript]] = []
    unread: list[ChatSyntaxError] = []
    for file in files:
        try:
            transcript = chat.read(file)
            if not transcript.utterances:
                raise ChatSyntaxError("has no utterances; check that it is a CHAT transcript", path=str(file))
            read.append((str(file), transcript))
        except ChatSyntaxError as error:
            unread.append(error)
    if unread and not read:
        raise unread[0]
    return read, [str(error) for error in unread]


def _cell(row: Mapping[str, Any], name: str) -> str:
    return format_number(row["counts"][name] if name in row["counts"] else row[name])
