"""Counts of prepared and rejected data, and their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper.chat import Disfluency
from lsa_whisper.manifest import SPLITS
from lsa_whisper.preparation.session import UtteranceRecord, WindowRow
from lsa_whisper.system.terminal import TerminalTable, render_text


@dataclass
class SplitCounts:
    """Counts of one split, added row by row.

    A long utterance that was split counts once per part.
    """

    segments: int = 0
    utterances: int = 0
    words: int = 0
    audio_ms: int = 0
    speech_ms: int = 0
    sessions: set[str] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)
    with_timestamps: int = 0
    with_prompt: int = 0
    non_speech: int = 0

    def add(self, row: WindowRow) -> None:
        """Count ``row``."""
        segment = row.segment
        self.segments += 1
        self.utterances += len(row.members)
        self.words += sum(count["words"] for count in row.counts.values())
        self.speech_ms += sum(count["speech_ms"] for count in row.counts.values())
        self.audio_ms += round(segment.duration * 1000)
        self.sessions.add(f"{segment.corpus}/{segment.session}")
        self.speakers.update(segment.speaker.split("+") if segment.speaker else ())
        self.with_timestamps += segment.text.startswith("<|")
        self.with_prompt += bool(segment.prompt)
        self.non_speech += not segment.text

    def as_dict(self, context_s: float) -> dict[str, Any]:
        """Return counts and rates; an undefined rate is ``None``."""
        seconds = self.audio_ms / 1000
        return {
            "segments": self.segments,
            "sessions": len(self.sessions),
            "speakers": len(self.speakers),
            "utterances": self.utterances,
            "words": self.words,
            "audio_h": round(seconds / 3600, 6),
            "speech_h": round(self.speech_ms / 3_600_000, 6),
            "words_per_s": round(self.words / seconds, 4) if seconds else None,
            "padding": round(1 - seconds / (self.segments * context_s), 4) if self.segments else None,
            "with_timestamps": self.with_timestamps,
            "with_prompt": self.with_prompt,
            "non_speech": self.non_speech,
        }


_CLASSES = frozenset(kind.value for kind in Disfluency)


@dataclass
class SplicedCounts:
    """Counts of the train split's disfluencies, as recorded and spliced, and the recordings of the spliced ones."""

    windows: int = 0
    audio_ms: int = 0
    recorded: Counter[str] = field(default_factory=Counter)
    with_spliced: Counter[str] = field(default_factory=Counter)
    recordings: set[str] = field(default_factory=set)

    def add(self, row: WindowRow) -> None:
        """Count ``row``."""
        events = sum((Counter(count) for count in row.counts.values()), Counter[str]())
        counts = Counter({kind: count for kind, count in events.items() if kind in _CLASSES})
        if row.segment.spliced:
            self.windows += 1
            self.audio_ms += round(row.segment.duration * 1000)
            self.with_spliced.update(counts)
            self.recordings.add(Path(row.segment.audio_filepath).name)
        else:
            self.recorded.update(counts)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON; spliced windows repeat the disfluencies of their originals."""
        kinds = [kind.value for kind in Disfluency if self.recorded[kind] or self.with_spliced[kind]]
        return {
            "segments": self.windows,
            "audio_h": round(self.audio_ms / 3_600_000, 6),
            "disfluencies": {
                kind: {"recorded": self.recorded[kind], "in_spliced": self.with_spliced[kind]} for kind in kinds
            },
        }


@dataclass
class Rejections:
    """Number and duration of rejected utterances by reason."""

    utterances: Counter[str] = field(default_factory=Counter)
    milliseconds: Counter[str] = field(default_factory=Counter)

    def add(self, source: UtteranceRecord) -> None:
        """Count ``source`` under its reason."""
        self.utterances[source.reason] += 1
        self.milliseconds[source.reason] += max(0, source.end_ms - source.start_ms)

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Return utterances and seconds by reason, the most frequent first."""
        order = sorted(self.utterances, key=lambda reason: (-self.utterances[reason], reason))
        return {
            reason: {"utterances": self.utterances[reason], "seconds": self.milliseconds[reason] / 1000}
            for reason in order
        }


@dataclass(frozen=True)
class Prepared:
    """The result of :func:`lsa_whisper.preparation.prepare`.

    Attributes:
        out: The folder with ``train.jsonl``, ``dev.jsonl``, ``test.jsonl``, ``rejected.jsonl``, ``prepared.json``.
        splits: Counts by split, as in ``prepared.json``.
        rejected: Utterances and seconds by reason.
        skipped_files: Files that were not used, and why.
        notes: What the user should know of persons, splits, recordings and labels.
        spliced: Windows, hours and disfluencies of spliced speech; empty without splicing.
    """

    out: Path
    splits: Mapping[str, Mapping[str, Any]]
    rejected: Mapping[str, Mapping[str, float]]
    skipped_files: Sequence[Mapping[str, str]]
    notes: Sequence[str]
    spliced: Mapping[str, Any] = field(default_factory=dict)

    def table(self) -> str:
        """Return hours, segments and rejections as a table to print."""
        rows: list[list[str]] = [[split, *_cells(self.splits[split])] for split in SPLITS]
        if self.spliced:
            audio_h = f"{self.spliced['audio_h']:.3f}"
            rows.append(["of train, spliced", f"{self.spliced['segments']:,}", "", "", "", audio_h, ""])
        rows.append([])
        for reason, count in self.rejected.items():
            hours = f"{count['seconds'] / 3600:.3f}"
            rows.append([f"rejected: {reason}", "", str(count["utterances"]), "", "", hours, ""])
        if self.skipped_files:
            rows.append(["skipped files (listed in prepared.json)", str(len(self.skipped_files)), *[""] * 5])
        head = ("", "segments", "utterances", "words", "speakers", "hours", "padding")
        table = TerminalTable(f"Prepared in {self.out}", head, rows)
        tables = [table, self._disfluencies()] if self.spliced else [table]
        return render_text(*tables, *(f"note: {note}" for note in self.notes))

    def _disfluencies(self) -> TerminalTable:
        rows = [
            [kind.replace("_", " "), f"{count['recorded']:,}", f"{count['in_spliced']:,}"]
            for kind, count in self.spliced.get("disfluencies", {}).items()
        ]
        return TerminalTable("Disfluencies in train", ("", "as recorded", "in spliced speech"), rows)


def _cells(counts: Mapping[str, Any]) -> list[str]:
    padding = counts["padding"]
    return [
        *(f"{counts[name]:,}" for name in ("segments", "utterances", "words", "speakers")),
        f"{counts['audio_h']:.3f}",
        "-" if padding is None else f"{padding:.1%}",
    ]
