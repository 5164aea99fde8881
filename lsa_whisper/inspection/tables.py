"""Tables and notes of a survey, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.inspection.counts import Distribution
from lsa_whisper.inspection.survey import FREQUENT, Survey
from lsa_whisper.inspection.text_output import format_number, sparkline
from lsa_whisper.manifest import Segment
from lsa_whisper.page.terms import CLASSES
from lsa_whisper.system.terminal import TerminalTable, render_text, wrapped

_SHARES = ("padding", "padding_one_utterance", "oov_rate")
_NAMES = {
    "padding_one_utterance": "padding without packing",
    "longest_tokens": "longest, tokens",
    "over_limit": "segments over the limit",
    "oov_rate": "words not in train (OOV)",
}


@dataclass(frozen=True)
class TextTable(TerminalTable):
    """A table of text; the first cell of each row is its name."""

    rows: Sequence[Sequence[str]]
    note: str = ""


def survey_report(path: Path, survey: Survey) -> str:
    """Return all tables, notes and examples as text for the terminal."""
    parts: list[Any] = [*survey_tables(path, survey, most=10, blocks=True), *survey_notes(survey)]
    for kind, outliers in (("slow", survey.slow), ("fast", survey.fast)):
        parts += [wrapped(f"{kind}: {rate:.2f} words/s, {describe_segment(row)}", 0) for rate, row in outliers]
    parts += [f"\n{describe_segment(row)}\n{wrapped(row.text)}" for row in survey.examples]
    return render_text(*parts)


def describe_segment(row: Segment) -> str:
    """Return the recording, position and speakers of a row."""
    return f"{Path(row.audio_filepath).name} {row.offset:.2f} s + {row.duration:.2f} s, {row.speaker or 'unknown'}"


def survey_notes(survey: Survey) -> list[str]:
    """Return notes and warnings to read before training."""
    notes = [f"note: {note}" for note in survey.summary.get("notes", [])]
    if shared := survey.shared:
        notes.append(f"warning: speakers in more than one split: {', '.join(shared[:10])}{_more(shared, 10)}")
    if over := sum(count > survey.tokens.limit for count in survey.everything.tokens):
        remedy = "use shorter windows" if survey.tokens.exact else "count them exactly with --model"
        notes.append(f"warning: {over} segment(s) may exceed the decoder's {survey.tokens.limit} tokens; {remedy}")
    if outliers := Distribution(survey.everything.rates).outliers:
        notes.append(f"note: {outliers} segment(s) are outliers in words per second; listen to some of them")
    return notes


def survey_tables(path: Path, survey: Survey, *, most: int, blocks: bool = False) -> list[TextTable]:
    """Return the tables that have rows.

    ``most`` is the maximum number of rows of long lists; ``blocks`` adds a column with a sparkline of each
    distribution.
    """
    tables = [
        _splits(path, survey),
        _distributions(survey, blocks),
        _disfluencies(survey),
        _spliced(survey.summary.get("spliced", {})),
        _speakers(survey, most),
        _words(survey, min(most, FREQUENT)),
        _rejected(survey.summary.get("rejected", {})),
        _skipped_files(survey.summary.get("skipped_files", []), most),
    ]
    return [table for table in tables if table.rows]


def _splits(path: Path, survey: Survey) -> TextTable:
    splits = survey.as_dict()["splits"]
    if len(splits) > 1:
        splits["all"] = {
            **survey.everything.as_dict(survey.context_s, survey.tokens.limit),
            "padding_one_utterance": survey.unpacked_padding(list(survey.splits)),
            "oov_rate": None,
        }
    columns = list(splits.values())
    names = [name for name in columns[0] if any(column[name] is not None for column in columns)]
    rows = [
        [
            _NAMES.get(name, name.replace("_", " ")),
            *(format_number(column[name], percent=name in _SHARES) for column in columns),
        ]
        for name in names
    ]
    note = (
        "Padding is the share of the model's input that is added silence; "
        "without packing, every utterance would be its own window."
    )
    return TextTable(f"{path}, windows of up to {survey.context_s:g} s", ["", *splits], rows, note)


def _distributions(survey: Survey, blocks: bool) -> TextTable:
    everything = survey.everything
    unit = "tokens" if survey.tokens.exact else "tokens (estimate)"
    measures: dict[str, tuple[Sequence[float], float]] = {
        "seconds": (everything.durations, survey.context_s),
        f"{unit} of {survey.tokens.limit}": (everything.tokens, 0.0),
        "words per second": (everything.rates, 0.0),
    }
    rows = []
    for name, (values, top) in measures.items():
        distribution = Distribution(values)
        if quartiles := distribution.quartiles:
            sparklines = [sparkline(distribution.histogram(top, bins=14)[0])] if blocks else []
            rows.append([name, *map(format_number, quartiles), *sparklines])
    head = ["", "minimum", "25 %", "median", "75 %", "maximum", *(["from 0 to maximum"] if blocks else [])]
    note = "Over all windows: a quarter of the values lie below 25 %, half below the median."
    return TextTable("Duration, tokens and speech rate", head, rows, note)


def _disfluencies(survey: Survey) -> TextTable:
    rates = survey.rates()
    kinds = [kind for kind in Disfluency if any(kind.value in rate for rate in rates.values())]
    rows = [
        [CLASSES[kind][0].lower(), *(format_number(rate.get(kind.value, 0.0)) for rate in rates.values())]
        for kind in kinds
    ]
    return TextTable("Disfluencies per 100 fluent words", ["", *rates], rows)


def _spliced(spliced: Mapping[str, Any]) -> TextTable:
    rows = [
        [_class_name(kind), format_number(count["recorded"]), format_number(count["in_spliced"])]
        for kind, count in spliced.get("disfluencies", {}).items()
    ]
    windows, audio_h = spliced.get("segments", 0), spliced.get("audio_h", 0.0)
    title = f"Disfluencies in train, with {windows:,} windows ({audio_h:.2f} h) of spliced speech"
    note = "Spliced utterances have the disfluencies of their originals and one or two more."
    return TextTable(title, ["", "as recorded", "in spliced speech"], rows, note)


def _class_name(kind: str) -> str:
    """Return the name of a class on all pages; ``prepared.json`` of another version may have others."""
    return CLASSES[Disfluency(kind)][0].lower() if kind in list(Disfluency) else kind.replace("_", " ")


def _speakers(survey: Survey, most: int) -> TextTable:
    hours = survey.everything.ms_by_speaker.most_common()
    rows = [[who, *(format_number(_hours(survey, split, who)) for split in survey.splits)] for who, _ in hours[:most]]
    title = f"Speakers by hours of audio{_more(hours, most)}"
    return TextTable(title, ["", *survey.splits], rows)


def _hours(survey: Survey, split: str, speaker: str) -> float | None:
    ms = survey.splits[split].ms_by_speaker.get(speaker)
    return ms / 3_600_000 if ms else None


def _words(survey: Survey, most: int) -> TextTable:
    vocabulary = survey.everything.vocabulary
    words = max(1, vocabulary.total())
    frequent = vocabulary.most_common(most)
    rows = [[word, format_number(count), format_number(count / words, percent=True)] for word, count in frequent]
    return TextTable(f"Most frequent of {len(vocabulary):,} different words", ["", "count", "share"], rows)


def _rejected(rejected: Mapping[str, Mapping[str, Any]]) -> TextTable:
    rows = [
        [reason, format_number(counts["utterances"]), format_number(counts["seconds"])]
        for reason, counts in rejected.items()
    ]
    return TextTable("Rejected", ["", "utterances", "seconds"], rows, "Listed in rejected.jsonl.")


def _skipped_files(skipped_files: Sequence[Mapping[str, str]], most: int) -> TextTable:
    rows = [[file["path"], file["reason"]] for file in skipped_files[:most]]
    return TextTable(f"{len(skipped_files)} skipped file(s){_more(skipped_files, most)}", ["", "reason"], rows)


def _more(rows: Sequence[Any], limit: int) -> str:
    return f" (and {len(rows) - limit} more)" if len(rows) > limit else ""
