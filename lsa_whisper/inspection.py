"""What a careful person looks at: the fluency of a transcript, and what prepared data hold before training."""

from __future__ import annotations

import json as jsonlib
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from lsa_whisper import chat, manifest
from lsa_whisper.chat import Disfluency
from lsa_whisper.errors import CorpusError
from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import SPLITS, Segment

EXAMPLES = 10
_TIMESTAMP = re.compile(r"<\|\d+\.\d\d\|>")


def inspect(path: Path, *, mode: str = "strict", json: bool = False, check: bool = False) -> str:
    """Return, as text to print, what ``path`` holds.

    Args:
        path: A CHAT file, a folder of them, a prepared folder, or one manifest (``.jsonl``).
        mode: How disfluencies are counted: ``strict``, or ``flucalc`` as CLAN does.
        json: Give JSON instead of tables.
        check: List what breaks CHAT's rules instead of counting.

    Raises:
        CorpusError: There is nothing at ``path`` that can be inspected.
        ManifestError: A manifest is malformed.
    """
    path = Path(path)
    if not path.exists():
        raise CorpusError(f"{path}: no such file or folder; check the path")
    manifests = _manifests(path)
    if manifests and not check:
        found = survey(manifests)
        return _as_json(found) if json else _render(*_survey_tables(path, found))
    files = [path] if path.is_file() and not manifests else sorted(path.rglob("*.[cC][hH][aA]"))
    if not files:
        wanted = "a CHAT file (*.cha), a folder of them, or a folder made by 'lsa-whisper prepare'"
        raise CorpusError(f"{path}: nothing to inspect here; name {wanted}")
    if check:
        return _problems(files, json)
    counts = {str(file): {code: one.as_dict() for code, one in chat.read(file).fluency(mode).items()} for file in files}
    if json:
        return _as_json(next(iter(counts.values())) if path.is_file() else counts)
    return _render(_fluency_table(counts, mode))


def _manifests(path: Path) -> dict[str, Path]:
    """Return the manifests at ``path`` by split; empty where ``path`` is something else."""
    if path.is_file():
        return {path.stem: path} if path.suffix == ".jsonl" else {}
    return {split: file for split in SPLITS if (file := path / f"{split}.jsonl").is_file()}


def _problems(files: Sequence[Path], json: bool) -> str:
    problems = [problem for file in files for problem in chat.check(chat.read(file))]
    if json:
        return _as_json([{**vars(problem)} for problem in problems])
    broken = len({problem.path for problem in problems})
    summary = f"{len(problems)} problem(s) in {broken} of {len(files)} file(s)"
    return "\n".join([*(str(problem) for problem in problems), summary])


def _fluency_table(counts: Mapping[str, Mapping[str, Mapping[str, Any]]], mode: str) -> Any:
    from rich.table import Table

    table = Table(title=f"Disfluencies per speaker ({mode} counting)")
    table.add_column("")
    columns = [(file, code, row) for file, rows in counts.items() for code, row in rows.items()]
    if len(columns) <= 6:  # few speakers read best side by side, many one below the other
        for file, code, _ in columns:
            table.add_column(code if len(counts) == 1 else f"{Path(file).stem} {code}", justify="right")
        for name in _ROWS:
            table.add_row(name.replace("_", " "), *(_number(_value(row, name)) for _, _, row in columns))
        return table
    for name in _ROWS[-5:]:
        table.add_column(name.replace("_", " "), justify="right")
    for file, code, row in columns:
        table.add_row(f"{Path(file).stem} {code}", *(_number(_value(row, name)) for name in _ROWS[-5:]))
    return table


_ROWS = (
    *("utterances", "prolongation", "broken_word", "block", "part_word_repetition", "part_word_repetition_iterations"),
    *("whole_word_repetition", "monosyllabic_whole_word_repetition", "fragment", "phrase_repetition", "word_revision"),
    *("phrase_revision", "pause", "filled_pause", "words", "sld", "td", "sld_per_100_words", "weighted_sld"),
)


def _value(row: Mapping[str, Any], name: str) -> Any:
    return row["counts"][name] if name in row["counts"] else row[name]


@dataclass
class _Split:
    """Counts of one split, row by row."""

    context_s: float
    durations: list[float] = field(default_factory=list)
    words: int = 0
    fluent_words: int = 0
    events: Counter[str] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    vocabulary: set[str] = field(default_factory=set)
    longest_text: int = 0

    def add(self, row: Segment) -> None:
        words, meant, events = read_text(row)
        self.durations.append(row.duration)
        self.words += len(words)
        self.fluent_words += meant
        self.vocabulary.update(words)
        self.events.update(events)
        self.speakers.update(dict.fromkeys(row.speaker.split("+"), 1) if row.speaker else ())
        self.sessions.add(f"{row.corpus}/{row.session}")
        self.longest_text = max(self.longest_text, len(row.text))

    def as_dict(self) -> dict[str, Any]:
        seconds, count = sum(self.durations), len(self.durations)
        ordered = sorted(self.durations)
        return {
            "segments": count,
            "hours": round(seconds / 3600, 6),
            "shortest_s": ordered[0] if ordered else None,
            "median_s": ordered[count // 2] if ordered else None,
            "longest_s": ordered[-1] if ordered else None,
            "padding": round(1 - seconds / (count * self.context_s), 4) if count else None,
            "words": self.words,
            "words_per_s": round(self.words / seconds, 3) if seconds else None,
            "vocabulary": len(self.vocabulary),
            "longest_text": self.longest_text,
            "sessions": len(self.sessions),
            "speakers": len(self.speakers),
        }


def read_text(row: Segment) -> tuple[list[str], int, list[str]]:
    """Return the words in a row's text, how many of them are fluent, and the kinds of its disfluencies.

    >>> read_text(Segment("a.wav", 0, 2, "<|0.00|>&-um I want [/] want it .<|1.90|>"))
    (['um', 'I', 'want', 'want', 'it'], 3, ['filled_pause', 'repetition'])
    """
    said = decode(_TIMESTAMP.sub(" ", row.text), Labels.from_name(row.labels)).utterances
    words = [word for utterance in said for word in utterance.verbatim()]
    meant = sum(len(utterance.fluent()) for utterance in said)
    return words, meant, [event.kind.value for utterance in said for event in utterance.events()]


def survey(manifests: Mapping[str, Path]) -> dict[str, Any]:
    """Return what the manifests (by split) hold, ready for JSON.

    ``events_per_100_fluent_words`` is by CHAT role where ``prepared.json`` lies beside the manifests and knows the
    roles, and otherwise for everyone together.

    Raises:
        ManifestError: A manifest is malformed.
    """
    summary = _summary(next(iter(manifests.values())).parent)
    context_s = float(summary.get("options", {}).get("context_s", 30.0))
    splits, rows = dict[str, _Split](), list[Segment]()
    everyone: Counter[str] = Counter()
    speakers: dict[str, Counter[str]] = {}
    chance = random.Random(0)
    for at, (name, row) in enumerate((name, row) for name, path in manifests.items() for row in manifest.stream(path)):
        splits.setdefault(name, _Split(context_s)).add(row)
        speakers.setdefault(name, Counter())[row.speaker or "unknown"] += round(row.duration * 1000)
        # A reservoir: every row has the same chance to be an example, however many there are.
        if len(rows) < EXAMPLES:
            rows.append(row)
        elif (place := chance.randrange(at + 1)) < EXAMPLES:
            rows[place] = row
    for split in splits.values():
        everyone.update(split.events)
        everyone["fluent_words"] += split.fluent_words
    roles = summary.get("roles") or {"everyone": everyone}
    return {
        "splits": {name: splits.get(name, _Split(context_s)).as_dict() for name in manifests},
        "context_s": context_s,
        "events_per_100_fluent_words": {role: _rates(count) for role, count in roles.items()},
        "speaker_hours": {
            name: {speaker: round(ms / 3_600_000, 6) for speaker, ms in count.most_common()}
            for name, count in speakers.items()
        },
        "rejected": summary.get("rejected", {}),
        "unpaired": len(summary.get("unpaired", ())),
        "notes": summary.get("notes", []),
        "examples": [_example(row) for row in rows],
    }


def _summary(folder: Path) -> dict[str, Any]:
    try:
        found = jsonlib.loads((folder / "prepared.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a manifest of another tool has none
        return {}
    return found if isinstance(found, dict) else {}


def _rates(count: Mapping[str, int]) -> dict[str, float | None]:
    kinds = [kind.value for kind in Disfluency if kind.value in count]
    words = count.get("fluent_words", 0)
    return {kind: round(100 * count[kind] / words, 3) if words else None for kind in kinds}


def _example(row: Segment) -> dict[str, Any]:
    names = ("audio_filepath", "offset", "duration", "speaker", "split", "text")
    return {name: getattr(row, name) for name in names}


def _survey_tables(path: Path, found: Mapping[str, Any]) -> Iterator[Any]:
    splits, rates = found["splits"], found["events_per_100_fluent_words"]
    names = list(next(iter(splits.values())))
    yield _table(
        f"{path}, windows of up to {found['context_s']:g} s",
        ["", *splits],
        (
            [name.replace("_", " "), *(_number(split[name], name == "padding") for split in splits.values())]
            for name in names
        ),
    )
    kinds = [kind.value for kind in Disfluency if any(kind.value in rate for rate in rates.values())]
    if kinds:
        yield _table(
            "Disfluencies per 100 fluent words",
            ["", *rates],
            ([kind.replace("_", " "), *(_number(rate.get(kind, 0.0)) for rate in rates.values())] for kind in kinds),
        )
    if found["rejected"]:
        yield _table(
            "Rejected",
            ["", "utterances", "seconds"],
            (
                [reason, _number(count["utterances"]), _number(count["seconds"])]
                for reason, count in found["rejected"].items()
            ),
        )
    for note in found["notes"]:
        yield f"note: {note}"
    for row in found["examples"]:
        place = f"{Path(row['audio_filepath']).name} {row['offset']:.2f} s + {row['duration']:.2f} s, {row['speaker']}"
        yield f"\n{place}\n  {row['text']}"


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:
    from rich.table import Table

    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _number(value: Any, percent: bool = False) -> str:
    if value is None:
        return "-"
    if percent:
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}" if 0 < value < 1 else f"{value:.2f}"


def _as_json(found: Any) -> str:
    return jsonlib.dumps(found, ensure_ascii=False, indent=1)


def _render(*parts: Any) -> str:
    from rich.console import Console

    console = Console(file=StringIO(), width=shutil.get_terminal_size((100, 24)).columns)
    with console.capture() as captured:
        for part in parts:
            # Words such as [//] and <|0.00|> are text, not styles.
            console.print(part, markup=False, highlight=False)
    return captured.get().rstrip()
