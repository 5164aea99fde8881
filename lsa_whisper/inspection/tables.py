"""The tables of a survey, for the terminal and for the page alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.inspection.distribution import Distribution
from lsa_whisper.inspection.survey import FREQUENT, Survey
from lsa_whisper.inspection.terminal import bars, number, render, table
from lsa_whisper.manifest import Segment

_SHARES = ("padding", "padding_one_utterance", "words_not_in_train")
_NAMES = {
    "padding_one_utterance": "padding if unpacked",
    "longest_tokens": "longest, tokens",
    "over_limit": "segments over the limit",
}


@dataclass(frozen=True)
class Table:
    """A table as text; the first cell of each row names it."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    lead: str = ""


def report(path: Path, survey: Survey) -> str:
    """Return everything as the terminal shows it."""
    parts: list[Any] = [table(one.title, one.head, one.rows) for one in tables(path, survey, most=10, blocks=True)]
    parts += remarks(survey)
    for kind, outliers in (("slow", survey.slow), ("fast", survey.fast)):
        parts += [f"{kind}: {rate:.2f} words/s, {place(row)}" for rate, row in outliers]
    parts += [f"\n{place(row)}\n  {row.text}" for row in survey.examples]
    return render(*parts)


def place(row: Segment) -> str:
    """Return where a row's sound lies, and whose it is."""
    return f"{Path(row.audio_filepath).name} {row.offset:.2f} s + {row.duration:.2f} s, {row.speaker or 'unknown'}"


def remarks(survey: Survey) -> list[str]:
    """Return what must be read before training, a sentence each."""
    said = [f"note: {note}" for note in survey.summary.get("notes", [])]
    if shared := survey.shared:
        said.append(f"warning: heard in more than one split: {', '.join(shared[:10])}{_more(shared, 10)}")
    if over := sum(count > survey.tokens.limit for count in survey.everything.tokens):
        mend = "use shorter windows" if survey.tokens.exact else "count them exactly with --model"
        said.append(f"warning: {over} segment(s) may exceed the decoder's {survey.tokens.limit} tokens; {mend}")
    if outside := Distribution(survey.everything.rates).outside:
        said.append(f"note: {outside} segment(s) hold far more or fewer words per second than the rest; listen to some")
    return said


def tables(path: Path, survey: Survey, *, most: int, blocks: bool = False) -> list[Table]:
    """Return the tables that have something to say.

    Args:
        path: What was looked at.
        survey: What was found.
        most: The longest lists end after so many rows.
        blocks: Draw each distribution in a last column.
    """
    made = [
        _splits(path, survey),
        _distributions(survey, blocks),
        _disfluencies(survey),
        _speakers(survey, most),
        _words(survey, min(most, FREQUENT)),
        _rejected(survey.summary.get("rejected", {})),
        _unpaired(survey.summary.get("unpaired", []), most),
    ]
    return [one for one in made if one.rows]


def _splits(path: Path, survey: Survey) -> Table:
    found = survey.as_dict()["splits"]
    if len(found) > 1:
        found["all"] = {
            **survey.everything.as_dict(survey.context_s, survey.tokens.limit),
            "padding_one_utterance": survey.unpacked(list(survey.splits)),
            "words_not_in_train": None,
        }
    columns = list(found.values())
    names = [name for name in columns[0] if any(one[name] is not None for one in columns)]
    rows = [
        [_NAMES.get(name, name.replace("_", " ")), *(number(one[name], percent=name in _SHARES) for one in columns)]
        for name in names
    ]
    lead = (
        "Padding is the share of the model's input that is silence added to fill the window; "
        "unpacked, every utterance would be a window of its own."
    )
    return Table(f"{path}, windows of up to {survey.context_s:g} s", ["", *found], rows, lead)


def _distributions(survey: Survey, blocks: bool) -> Table:
    everything = survey.everything
    counted = "tokens" if survey.tokens.exact else "tokens (estimate)"
    measures: dict[str, tuple[Sequence[float], float]] = {
        "seconds": (everything.durations, survey.context_s),
        f"{counted} of {survey.tokens.limit}": (everything.tokens, 0.0),
        "words per second": (everything.rates, 0.0),
    }
    rows = []
    for name, (values, top) in measures.items():
        distribution = Distribution(values)
        if quartiles := distribution.quartiles:
            drawn = [bars(distribution.histogram(top, bins=20)[0])] if blocks else []
            rows.append([name, *map(number, quartiles), *drawn])
    head = ["", "least", "25 %", "median", "75 %", "most", *(["from 0 to most"] if blocks else [])]
    lead = "Over all windows; a quarter of them lies below 25 %, half below the median."
    return Table("Lengths and tempo", head, rows, lead)


def _disfluencies(survey: Survey) -> Table:
    rates = survey.rates()
    kinds = [kind.value for kind in Disfluency if any(kind.value in rate for rate in rates.values())]
    rows = [[kind.replace("_", " "), *(number(rate.get(kind, 0.0)) for rate in rates.values())] for kind in kinds]
    return Table("Disfluencies per 100 fluent words", ["", *rates], rows)


def _speakers(survey: Survey, most: int) -> Table:
    hours = survey.everything.ms_by_speaker.most_common()
    rows = [[who, *(number(_hours(survey, split, who)) for split in survey.splits)] for who, _ in hours[:most]]
    title = f"Speakers by hours of windows they are heard in{_more(hours, most)}"
    return Table(title, ["", *survey.splits], rows)


def _hours(survey: Survey, split: str, speaker: str) -> float | None:
    ms = survey.splits[split].ms_by_speaker.get(speaker)
    return ms / 3_600_000 if ms else None


def _words(survey: Survey, most: int) -> Table:
    vocabulary = survey.everything.vocabulary
    words = max(1, vocabulary.total())
    frequent = vocabulary.most_common(most)
    rows = [[word, number(count), number(count / words, percent=True)] for word, count in frequent]
    return Table(f"Most frequent of {len(vocabulary):,} different words", ["", "times", "share"], rows)


def _rejected(rejected: Mapping[str, Mapping[str, Any]]) -> Table:
    rows = [[reason, number(found["utterances"]), number(found["seconds"])] for reason, found in rejected.items()]
    return Table("Rejected", ["", "utterances", "seconds"], rows, "rejected.jsonl names each of them.")


def _unpaired(unpaired: Sequence[Mapping[str, str]], most: int) -> Table:
    rows = [[one["path"], one["reason"]] for one in unpaired[:most]]
    return Table(f"{len(unpaired)} file(s) without a partner{_more(unpaired, most)}", ["", "why"], rows)


def _more(listed: Sequence[Any], shown: int) -> str:
    return f" (and {len(listed) - shown} more)" if len(listed) > shown else ""
