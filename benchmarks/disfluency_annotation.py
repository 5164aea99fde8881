"""Read hand-made disfluency annotation of meetings (AMI corpus): one JSON line per utterance, plain or gzipped.

A line has ``meeting``, ``tokens`` ([text, kind, start_ms, end_ms]) and ``disfluencies`` ({type, reparandum?, ...} with
half-open token indices).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lsa_whisper.labels.infer_marks import PLAIN_FILLERS
from lsa_whisper.retraces.training import AnnotatedUtterance
from lsa_whisper.retraces.words import NOT_TAKEN_BACK, SpokenWord
from lsa_whisper.timespan import TimeSpan

KINDS = {
    "repeat": "repeat",
    "replace": "revision",
    "insert": "revision",
    "delete": "revision",
    "restart": "reformulation",
}
"""The annotated types whose reparandum was taken back. ``mistake`` and ``order`` are errors that were left standing."""

_ENDS = frozenset(".?!")


def read(paths: Iterable[Path]) -> list[tuple[str, AnnotatedUtterance]]:
    """Return the group of speakers (``ES2002`` of meeting ``ES2002a``) and the words of every sentence."""
    return [found for path in paths for row in rows(path) for found in _sentences(row)]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the annotated turns in a file."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    yield from (json.loads(line) for line in text.splitlines() if line.strip())


def _sentences(row: dict[str, Any]) -> Iterator[tuple[str, AnnotatedUtterance]]:
    labels = _labels(row)
    words: list[SpokenWord] = []
    kept: list[str] = []
    filler = comma = False
    for (text, kind, start_ms, end_ms), label in zip(row["tokens"], labels, strict=True):
        if kind == "punctuation":
            comma = comma or text == ","
            if text in _ENDS:
                yield from _ended(row, words, kept)
                words, kept, filler, comma = [], [], False, False
        elif kind == "word" and text.casefold() in PLAIN_FILLERS:
            filler = True
        elif kind in ("word", "cut_off"):
            bare = text.casefold().strip("_")
            span = TimeSpan(start_ms, end_ms)
            words.append(SpokenWord(bare, kind == "cut_off", filler, comma, span=span))
            kept.append(label)
            filler = comma = False
    yield from _ended(row, words, kept)


def _ended(row: dict[str, Any], words: list[SpokenWord], labels: list[str]) -> Iterator[tuple[str, AnnotatedUtterance]]:
    if words:
        yield row["meeting"][:6], AnnotatedUtterance(tuple(words), tuple(labels))


def _labels(row: dict[str, Any]) -> list[str]:
    """Return a label for each token; where annotations overlap, a repetition wins."""
    labels = [NOT_TAKEN_BACK] * len(row["tokens"])
    for found in sorted(row["disfluencies"], key=lambda found: found["type"] == "repeat"):
        if found["type"] in KINDS and "reparandum" in found:
            first, end = found["reparandum"]
            kind = KINDS[found["type"]]
            labels[first:end] = [f"begin {kind}"] + [f"inside {kind}"] * (end - first - 1)
    return labels
