"""Transcripts as they are: their disfluencies per speaker, and what breaks CHAT's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lsa_whisper import chat
from lsa_whisper.inspection.terminal import as_json, number, render, table

_ROWS = (
    *("utterances", "prolongation", "broken_word", "block", "part_word_repetition", "part_word_repetition_iterations"),
    *("whole_word_repetition", "monosyllabic_whole_word_repetition", "fragment", "phrase_repetition", "word_revision"),
    *("phrase_revision", "pause", "filled_pause", "words", "sld", "td", "sld_per_100_words", "weighted_sld"),
)
_SUMMARY = _ROWS[-5:]
_SIDE_BY_SIDE = 6


def fluency(path: Path, files: Sequence[Path], mode: str, json: bool) -> str:
    """Return the disfluencies in CHAT ``files``, per file and speaker.

    Raises:
        LsaWhisperError: There is no such counting ``mode``.
        ChatSyntaxError: A file cannot be read.
    """
    counts = {str(file): {code: one.as_dict() for code, one in chat.read(file).fluency(mode).items()} for file in files}
    if json:
        return as_json(next(iter(counts.values())) if path.is_file() else counts)
    title = f"Disfluencies per speaker ({mode} counting)"
    columns = [(file, code, row) for file, rows in counts.items() for code, row in rows.items()]
    if len(columns) > _SIDE_BY_SIDE:  # few speakers read best side by side, many one below the other
        rows = ([f"{Path(file).stem} {code}", *(_cell(row, name) for name in _SUMMARY)] for file, code, row in columns)
        return render(table(title, ["", *(name.replace("_", " ") for name in _SUMMARY)], rows))
    heads = [code if len(counts) == 1 else f"{Path(file).stem} {code}" for file, code, _ in columns]
    rows = ([name.replace("_", " "), *(_cell(row, name) for _, _, row in columns)] for name in _ROWS)
    return render(table(title, ["", *heads], rows))


def _cell(row: Mapping[str, Any], name: str) -> str:
    return number(row["counts"][name] if name in row["counts"] else row[name])


def problems(files: Sequence[Path], json: bool) -> str:
    """Return what breaks CHAT's rules in ``files``, one line each, and how many there are."""
    found = [problem for file in files for problem in chat.check(chat.read(file))]
    if json:
        return as_json([{**vars(problem)} for problem in found])
    broken = len({problem.path for problem in found})
    summary = f"{len(found)} problem(s) in {broken} of {len(files)} file(s)"
    return "\n".join([*(str(problem) for problem in found), summary])
