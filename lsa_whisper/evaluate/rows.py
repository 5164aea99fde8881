"""The aligned utterances of a report, compact enough to be drawn by the page as one scrolls."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluate.cells import Cell, Row
from lsa_whisper.evaluate.glossary import CLASSES
from lsa_whisper.evaluate.pairing import find_audio
from lsa_whisper.evaluate.results import Evaluation

MOST_ROWS = 5000
_KINDS = list(Disfluency)


def payload(evaluation: Evaluation, out: Path, audio: Path | None) -> dict[str, Any]:
    """Return what the page draws the utterances from, as plain JSON values.

    ``rows`` are ``[file, speaker, start_s, end_s, CHAT text, [per system: [errors, words, cells]]]`` with cells
    ``[reference, hypothesis, operation, reference class, hypothesis class]`` (classes index ``classes``, -1 = none).
    Of more than :data:`MOST_ROWS` utterances those with most errors are kept, and ``left_out`` says how many are not.
    """
    systems = list(evaluation.systems.values())
    keys = [scores.key for scores in systems[0].files]
    rows = [
        [number, *_facts(next(row for row in aligned if row)), [_scored(row) for row in aligned]]
        for number in range(len(keys))
        for aligned in _per_utterance([system.files[number].rows for system in systems])
    ]
    kept = rows
    if len(rows) > MOST_ROWS:
        worst = sorted(range(len(rows)), key=lambda n: -max(scored[0] for scored in rows[n][5]))
        kept = [rows[n] for n in sorted(worst[:MOST_ROWS])]
    return {
        "systems": list(evaluation.systems),
        "classes": [[kind.value, CLASSES[kind][0]] for kind in _KINDS],
        "files": [[key, _link(find_audio(audio, key), out)] for key in keys],
        "rows": kept,
        "left_out": len(rows) - len(kept),
    }


def _per_utterance(systems: Sequence[Sequence[Row]]) -> list[list[Row | None]]:
    """Return, per reference utterance of one file with anything to show, its row in every system."""
    found: dict[int, list[Row | None]] = {}
    for position, rows in enumerate(systems):
        for row in rows:
            if row.cells:
                found.setdefault(row.utterance, [None] * len(systems))[position] = row
    return [rows for _, rows in sorted(found.items())]


def _facts(row: Row) -> list[Any]:
    times = (None, None) if row.span is None else (row.span.start_ms / 1000, row.span.end_ms / 1000)
    return [row.speaker, *times, row.text]


def _scored(row: Row | None) -> list[Any]:
    if row is None:
        return [0, 0, []]
    return [row.errors.errors, row.errors.reference_words, [_cell(cell) for cell in row.cells]]


def _cell(cell: Cell) -> list[Any]:
    return [
        cell.reference,
        cell.hypothesis,
        cell.operation,
        _index(cell.reference_class),
        _index(cell.hypothesis_class),
    ]


def _index(kind: Disfluency | None) -> int:
    return -1 if kind is None else _KINDS.index(kind)


def _link(recording: Path | None, out: Path) -> str | None:
    """Return a link that works from the report's folder, also after both were moved together."""
    if recording is None:
        return None
    try:
        return quote(Path(os.path.relpath(recording.resolve(), out.resolve())).as_posix())
    except ValueError:  # on Windows, another drive
        return recording.resolve().as_uri()
