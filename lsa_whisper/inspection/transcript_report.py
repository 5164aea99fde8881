"""Reports on transcripts: disfluencies and measures per speaker, every disfluency with its line, and their profile.

A report is a table or JSON; that of the measures is CSV, too. The profile is how often, where and how long.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Transcript
from lsa_whisper.chat.flucalc import COUNTS
from lsa_whisper.errors import ChatSyntaxError, printable
from lsa_whisper.inspection.left_out import banner_lines, is_complete, with_gaps
from lsa_whisper.inspection.measure_names import SUMMARY_MEASURES, explained, measure_cell, measure_name, unit_remarks
from lsa_whisper.inspection.measures import coded_errors, measure_speakers
from lsa_whisper.inspection.text_output import as_json, format_number
from lsa_whisper.labels import NOT_TRANSCRIBED, Coverage, is_draft, read_coverage
from lsa_whisper.labels.coverage import NOT_CHECKED
from lsa_whisper.page.language import gettext
from lsa_whisper.page.terms import class_name
from lsa_whisper.page.text import names_below
from lsa_whisper.splice import DisfluencyProfile, count_profile
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.files import FailedFile
from lsa_whisper.system.terminal import TerminalTable, counted, render_text

_ROWS = ("utterances", *COUNTS, "words", "sld", "td", "sld_per_100_words", "weighted_sld")
_SIDE_BY_SIDE = 6
_Row = Mapping[str, Any]


def fluency_report(
    path: Path, files: Sequence[Path], unreadable_folders: Sequence[FailedFile], mode: str, json: bool
) -> str:
    """Return the disfluency counts of CHAT ``files`` per file and speaker; unreadable files are listed.

    Raises:
        LsaWhisperError: ``mode`` is unknown.
        ChatSyntaxError: No file is readable.
    """
    transcripts, unread = readable_transcripts(files)
    unread += [f"{failure.path}: {failure.reason}" for failure in unreadable_folders]
    counts = {
        file: {
            code: with_gaps(own.as_dict(), read_coverage(transcript)) for code, own in transcript.fluency(mode).items()
        }
        for file, transcript in transcripts
    }
    first, terms = banner_lines(transcripts), explained(mode, norm=is_complete(own for _, own in transcripts))
    if json:
        for problem in (*first, *unread):  # the JSON has counts only
            print(printable(problem), file=sys.stderr)
        return as_json(next(iter(counts.values())) if path.is_file() else counts)
    table, _ = _speaker_table(f"Disfluencies per speaker ({mode} counting)", counts, _ROWS, _ROWS[-5:], _cell)
    return render_text(*first, table, *terms, *unread)


def _speaker_table(
    title: str,
    measures: Mapping[str, Mapping[str, _Row]],
    names: Sequence[str],
    summary: Sequence[str],
    cell: Callable[[_Row, str], str],
) -> tuple[TerminalTable, bool]:
    """Return the measures of each speaker of each file, and whether these are all of them.

    Many speakers fit better as rows than as columns, with those of a ``summary`` only.
    """
    names_of_files = names_below(measures)
    columns = [(names_of_files[file], code, row) for file, rows in measures.items() for code, row in rows.items()]
    if len(columns) > _SIDE_BY_SIDE:
        lines = [[f"{file} {code}", *(cell(row, name) for name in summary)] for file, code, row in columns]
        return TerminalTable(title, ["", *map(measure_name, summary)], lines), False
    heads = [code if len(measures) == 1 else f"{file} {code}" for file, code, _ in columns]
    lines = [[measure_name(name), *(cell(row, name) for _, _, row in columns)] for name in names]
    return TerminalTable(title, ["", *heads], lines), True


def readable_transcripts(files: Sequence[Path]) -> tuple[list[tuple[str, Transcript]], list[str]]:
    """Return the transcripts that have utterances by path, and a message for each of the other files.

    Raises:
        ChatSyntaxError: No file is readable, or none has an utterance.
    """
    transcripts: list[tuple[str, Transcript]] = []
    unread: list[ChatSyntaxError] = []
    for file in files:
        try:
            transcript = chat.read(file)
            if not transcript.utterances:
                if transcript.headers:
                    raise ChatSyntaxError(gettext("has no utterances; nothing was transcribed"), path=str(file))
                raise ChatSyntaxError("has no utterances; check that it is a CHAT transcript", path=str(file))
            transcripts.append((str(file), transcript))
        except ChatSyntaxError as error:
            unread.append(error)
    if unread and not transcripts:
        raise unread[0]
    return transcripts, [str(error) for error in unread]


def _cell(row: _Row, name: str) -> str:
    return format_number(row["counts"][name] if name in row["counts"] else row[name])


_EVENT_HEAD = ("", "line", "tier", "class", "words")


def measures_report(files: Sequence[Path], mode: str, json: bool, out: Path | None = None) -> str:
    """Return the language-sample measures of each speaker of CHAT ``files``; unreadable files are listed.

    ``out`` is a CSV file to write as well: a row for each speaker of each file, empty where a measure has no value, and
    whether a person has checked the transcript.

    Raises:
        ChatSyntaxError: No file is readable.
        LsaWhisperError: ``out`` cannot be written.
    """
    transcripts, unread = readable_transcripts(files)
    measures = {
        file: {code: speaker.as_dict() for code, speaker in measure_speakers(transcript, mode).items()}
        for file, transcript in transcripts
    }
    first = banner_lines(transcripts)
    terms = explained(mode, measures=True, norm=is_complete(transcript for _, transcript in transcripts))
    units = [*_error_codes(transcripts), *unit_remarks(transcript for _, transcript in transcripts)]
    if out is not None:
        write_atomic(_as_csv(measures, {file for file, own in transcripts if is_draft(own)}).encode(), out)
    if json:
        for line in first:
            print(printable(line), file=sys.stderr)
        return as_json(measures)
    title = f"Language-sample measures per speaker (disfluencies: {mode} counting)"
    table, is_whole = _speaker_table(title, measures, _measures_of(measures), SUMMARY_MEASURES, measure_cell)
    more = [] if is_whole or out is not None else ["--csv FILE writes all measures"]
    return render_text(*first, table, *terms, *units, *unread, *more)


def _measures_of(measures: Mapping[str, Mapping[str, _Row]]) -> list[str]:
    return next((list(row) for rows in measures.values() for row in rows.values()), [])


def _error_codes(transcripts: Sequence[tuple[str, Transcript]]) -> Iterator[str]:
    """Yield a line for each speaker of a transcript with error codes: how often each code occurs."""
    names = names_below([file for file, _ in transcripts])
    for file, transcript in transcripts:
        for code in dict.fromkeys(utterance.speaker for utterance in transcript.utterances):
            counts = coded_errors([own for own in transcript.utterances if own.speaker == code]).by_code
            who = code if len(transcripts) == 1 else f"{names[file]} {code}"
            if counts:
                yield f"error codes of {who}: {', '.join(f'{name} {count}' for name, count in counts.most_common())}"


def events_report(files: Sequence[Path], json: bool) -> str:
    """Return every disfluency in CHAT ``files`` with its line, speaker, class and words.

    Raises:
        ChatSyntaxError: No file is readable.
    """
    transcripts, unread = readable_transcripts(files)
    rows = [row for file, transcript in transcripts for row in _events(file, transcript)]
    if json:
        return as_json([dict(zip(("file", *_EVENT_HEAD[1:]), row, strict=True)) for row in rows])
    names = names_below([file for file, _ in transcripts])
    cells = (
        [names[file], str(line), speaker, class_name(Disfluency(kind.replace(" ", "_")), 1), words]
        for file, line, speaker, kind, words in rows
    )
    gap = any(read_coverage(transcript) != Coverage() for _, transcript in transcripts)
    title = counted(len(rows), "disfluency") if rows or not gap else f"disfluencies: {NOT_TRANSCRIBED}"
    return render_text(*banner_lines(transcripts), TerminalTable(title, _EVENT_HEAD, cells), *unread)


def _events(file: str, transcript: Transcript) -> Iterator[tuple[str, int | None, str, str, str]]:
    for utterance in transcript.utterances:
        verbatim = utterance.verbatim()
        for event in utterance.events():
            words = " ".join(verbatim[event.start : event.end])
            yield file, utterance.line, utterance.speaker, event.kind.value.replace("_", " "), words


def _as_csv(measures: dict[str, dict[str, dict[str, Any]]], drafts: Collection[str]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, ["file", "speaker", *_measures_of(measures), "checked"], lineterminator="\n")
    table.writeheader()
    table.writerows(
        {"file": file, "speaker": code} | row | {"checked": NOT_CHECKED if file in drafts else ""}
        for file, rows in measures.items()
        for code, row in rows.items()
    )
    return text.getvalue()


_HEAD = ("", "count", "per 100 words", "at the start", "words each", "silence after it, ms: quartiles")


def profile_report(files: Sequence[Path], json: bool) -> str:
    """Return the profile of all transcripts in ``files`` together, as a table or as JSON.

    Raises:
        ChatSyntaxError: No file is readable.
    """
    transcripts, unread = readable_transcripts(files)
    profile = count_profile(utterance for _, transcript in transcripts for utterance in transcript.utterances)
    if json:
        return as_json(profile.as_dict())
    title = f"Disfluencies in {counted(profile.fluent_words, 'fluent word')}"
    return render_text(*banner_lines(transcripts), TerminalTable(title, _HEAD, _rows(profile)), *unread)


def _rows(profile: DisfluencyProfile) -> list[list[str]]:
    return [
        [
            class_name(Disfluency(name)),
            format_number(row["count"]),
            format_number(row["per_100_words"]),
            format_number(row["initial"], percent=True),
            format_number(float(row["words"])),
            " ".join(map(str, row["silence_ms"])) or "-",
        ]
        for name, row in profile.as_dict()["classes"].items()
    ]
