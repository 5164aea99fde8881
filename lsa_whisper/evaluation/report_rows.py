"""The aligned utterances of a report, compact enough for the page to draw them while it is scrolled, and their sound.

The sound of each utterance can stand inside the report, so that it can be sent in one file. Waveforms and spectrograms
of the worst ones are made when the report is written, because a page opened from a disk may play a recording beside it,
but not read its samples. They are few, so that a report stays small, and the page reads them when the first one is
opened.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from lsa_whisper.audio import Recording, Samples
from lsa_whisper.audio.clip import data_url, encode_audio
from lsa_whisper.audio.picture import sound_picture
from lsa_whisper.chat import Disfluency
from lsa_whisper.errors import AudioError
from lsa_whisper.evaluation.pairing import find_audio
from lsa_whisper.page.language import gettext, language_of_page
from lsa_whisper.page.terms import class_name, class_title
from lsa_whisper.scoring.aligned_utterances import AlignedColumn, AlignedUtterance
from lsa_whisper.timespan import TimeSpan

MAX_ROWS = 5000
CLASS_ORDER = list(Disfluency)
Timed = list[tuple[str, int, int, bool]]
"""Words with start and end in milliseconds, and whether these are known; if not, they are estimated."""


class ReportRows:
    """The utterances that a report shows: the ``most`` with the most errors in any system, earlier ones first.

    Only these are kept in memory, so that a corpus need not fit there.
    """

    def __init__(self, most: int = MAX_ROWS) -> None:
        self._most = most
        self._added = 0
        self._kept: list[tuple[int, int, list[Any], list[Timed]]] = []

    def add(self, file: int, systems: Sequence[Sequence[AlignedUtterance]]) -> None:
        """Add the utterances of the ``file``-th file, as aligned with each system's transcript."""
        for utterances in _per_utterance(systems):
            scored = [_errors_and_cells(row) for row in utterances]
            marks = [_wrong_marks(row) for row in utterances]
            row = [file, *_speaker_times_text(next(row for row in utterances if row)), scored, marks]
            wrong = (own[0] + sum(map(len, other)) for own, other in zip(scored, marks, strict=True))
            entry = max(wrong), -self._added, row, _timed_words(utterances)
            self._added += 1
            if len(self._kept) < self._most:
                heapq.heappush(self._kept, entry)
            else:
                heapq.heappushpop(self._kept, entry)

    @property
    def rows(self) -> list[list[Any]]:
        """The utterances in order, as plain JSON values.

        Each is ``[file, speaker, start_s, end_s, CHAT text, [per system: [errors, words, cells]], [per system:
        [classes missed, classes made up]]]`` with cells ``[reference, hypothesis, operation, reference class,
        hypothesis class]`` (classes index :data:`CLASS_ORDER`, -1 = none).
        """
        return [row for _, _, row, _ in self._in_order]

    @property
    def worst(self) -> list[tuple[int, list[Timed]]]:
        """The utterances with errors, the worst first: their number among the rows, and the times of their words.

        The first times are those of the reference, the others those of each system.
        """
        ranking = [(-wrong, number, timed) for number, (wrong, _, _, timed) in enumerate(self._in_order) if wrong]
        return [(number, timed) for _, number, timed in sorted(ranking, key=lambda row: row[:2])]

    @property
    def _in_order(self) -> list[tuple[int, int, list[Any], list[Timed]]]:
        return sorted(self._kept, key=lambda entry: -entry[1])

    @property
    def left_out(self) -> int:
        """The number of utterances that are not among the rows."""
        return self._added - len(self._kept)


def page_data(
    systems: Sequence[str], keys: Sequence[str], rows: ReportRows, out: Path, audio: Path | None
) -> dict[str, Any]:
    """Return what the page's script draws utterances from, as plain JSON values.

    Links to the recordings in ``audio`` start at ``out``, the folder of the report.
    """
    recordings = {} if audio is None else find_audio(audio, keys)
    return {
        "systems": list(systems),
        "classes": [
            [kind.value, class_title(kind)]
            if language_of_page() == "en"
            else [kind.value, class_name(kind), class_name(kind, 1)]
            for kind in CLASS_ORDER
        ],
        "files": [[key, _link(recordings.get(key), out)] for key in keys],
        "rows": (plain := rows.rows),
        "left_out": rows.left_out,
        "filters": _filters(plain, systems),
    }


def _filters(rows: Sequence[list[Any]], systems: Sequence[str]) -> list[list[str]]:
    """Return the filters by disfluencies that apply to any of ``rows``, each a value for the script and a title."""
    present = {kind for row in rows for result in row[5] for cell in result[2] for kind in cell[3:5]}
    wrong = {(n, side, kind) for row in rows for n, own in enumerate(row[6]) for side in (0, 1) for kind in own[side]}
    having = gettext("with {classes}")
    filters = [[str(n), having.format(classes=class_name(kind))] for n, kind in enumerate(CLASS_ORDER) if n in present]
    for n, system in enumerate(systems):
        name = f"{system}: " if len(systems) > 1 else ""
        for side, title in enumerate((gettext("missed {classes}"), gettext("made-up {classes}"))):
            kinds = [(at, class_name(kind)) for at, kind in enumerate(CLASS_ORDER) if (n, side, at) in wrong]
            filters += [[f"{n}/{side}/{at}", name + title.format(classes=classes)] for at, classes in kinds]
    return filters


def _link(recording: Path | None, out: Path) -> str | None:
    """Return a link relative to the report's folder, which stays valid if both are moved together."""
    if recording is None:
        return None
    try:
        return quote(Path(os.path.relpath(recording.resolve(), out.resolve())).as_posix())
    except ValueError:  # on Windows, another drive
        return recording.resolve().as_uri()


def _per_utterance(systems: Sequence[Sequence[AlignedUtterance]]) -> list[list[AlignedUtterance | None]]:
    """Return, per reference utterance of one file that has any word, its alignment with every system."""
    by_utterance: dict[int, list[AlignedUtterance | None]] = {}
    for position, rows in enumerate(systems):
        for row in rows:
            if row.columns:
                by_utterance.setdefault(row.utterance, [None] * len(systems))[position] = row
    return [rows for _, rows in sorted(by_utterance.items())]


def _speaker_times_text(row: AlignedUtterance) -> list[Any]:
    times = (None, None) if row.span is None else (row.span.start_ms / 1000, row.span.end_ms / 1000)
    return [row.speaker, *times, row.text]


def _errors_and_cells(row: AlignedUtterance | None) -> list[Any]:
    if row is None:
        return [0, 0, []]
    return [row.errors.errors, row.errors.reference_words, [_cell(cell) for cell in row.columns_with_pauses]]


def _wrong_marks(row: AlignedUtterance | None) -> list[list[int]]:
    """Return the classes of the disfluencies that were missed, and of those that were not spoken."""
    sides = ((), ()) if row is None else (row.missed, row.false_alarms)
    return [[CLASS_ORDER.index(kind) for kind in kinds] for kinds in sides]


def _cell(cell: AlignedColumn) -> list[Any]:
    kinds = (cell.reference_class, cell.hypothesis_class)
    classes = (-1 if kind is None else CLASS_ORDER.index(kind) for kind in kinds)
    return [cell.reference, cell.hypothesis, cell.operation, *classes]


def _timed_words(utterances: Sequence[AlignedUtterance | None]) -> list[Timed]:
    """Return the words with times of the reference, then of each system."""
    cells = [() if row is None else row.columns for row in utterances]
    reference = next((own for own in cells if own), ())
    return [
        [(cell.reference, *cell.reference_span) for cell in reference if cell.reference_span],
        *([(cell.hypothesis, *cell.hypothesis_span) for cell in own if cell.hypothesis_span] for own in cells),
    ]


_MARGIN_MS = 100


class SoundOfRow:
    """The sound of a report's rows; a recording that cannot be read gives none."""

    def __init__(self, keys: Sequence[str], recordings: Mapping[str, Path]) -> None:
        """Open the recordings of the files ``keys``."""
        self._keys = keys
        self._opened = {key: _opened(path) for key, path in recordings.items()}

    def span(self, row: Sequence[Any]) -> TimeSpan | None:
        """Return the span of a row in its recording, with a margin; ``None`` without times or a recording."""
        start_s, end_s = row[2:4]
        if self._opened.get(self._keys[row[0]]) is None or start_s is None or end_s is None:
            return None
        return TimeSpan(max(round(1000 * start_s) - _MARGIN_MS, 0), round(1000 * end_s) + _MARGIN_MS)

    def load(self, row: Sequence[Any]) -> Samples:
        """Return the samples of a row; empty if there are none."""
        recording, span = self._opened.get(self._keys[row[0]]), self.span(row)
        if recording is not None and span is not None:
            try:
                return recording.load(span)
            except AudioError:
                pass
        return np.zeros(0, np.float32)


def embedded_clips(rows: Sequence[list[Any]], keys: Sequence[str], recordings: Mapping[str, Path]) -> list[str]:
    """Return, per row of a report, its sound as a ``data:`` URL; empty without times or a readable recording."""
    sounds = SoundOfRow(keys, recordings)
    return [_clip(sounds.load(row)) for row in rows]


def _opened(path: Path) -> Recording | None:
    try:
        return Recording.open(path)
    except AudioError:
        return None


def _clip(samples: Samples) -> str:
    if not len(samples):
        return ""
    kind, data = encode_audio(samples)
    return data_url(f"audio/{kind}", data)


MAX_PICTURES = 100
_COLUMNS = 300
_MAX_DURATION_MS = 30_000


def sound_pictures(rows: ReportRows, keys: Sequence[str], recordings: Mapping[str, Path]) -> dict[int, list[Any]]:
    """Return the pictures of the utterances with the most errors, by number of their row.

    Each is ``[picture, start_s, end_s, [[word, start_s, end_s, known], ...] per transcript]``, the reference first.
    """
    sounds, plain = SoundOfRow(keys, recordings), rows.rows
    pictures: dict[int, list[Any]] = {}
    for number, timed in rows.worst:
        if len(pictures) == MAX_PICTURES:
            break
        span = sounds.span(plain[number])
        if span is None or span.duration_ms > _MAX_DURATION_MS:
            continue
        picture = data_url("image/png", sound_picture(sounds.load(plain[number]), _COLUMNS))
        if picture:
            words = [[[word, start / 1000, end / 1000, int(exact)] for word, start, end, exact in own] for own in timed]
            pictures[number] = [picture, span.start_ms / 1000, span.end_ms / 1000, words]
    return pictures
