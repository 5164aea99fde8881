"""Tables (CSV in UTF-8) that several calls add to: what is in them, and what a person wrote into them, stays."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.atomic_write import write_atomic
from lsa_whisper.system.disk import convert_disk_errors
from lsa_whisper.system.own_files import read_own


def add_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Add to the table at ``path`` those rows that are not in it; a missing table is created.

    Raises:
        LinkError: ``path`` is a link.
        LsaWhisperError: The file is not such a table, or cannot be written.
    """
    present, earlier = read_table(path, columns)
    text = io.StringIO(newline="")
    table, seen = csv.writer(text, lineterminator="\n"), {tuple(row) for row in earlier}
    table.writerows([columns] if not earlier else [])
    table.writerows(row for row in rows if tuple(map(str, row)) not in seen)
    end = "\n" if present and not present.endswith("\n") else ""
    with convert_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(f"{present}{end}{text.getvalue()}", path)


def read_table(path: Path, columns: Sequence[str]) -> tuple[str, list[list[str]]]:
    """Return the text of the table at ``path`` and its rows, the names of its columns first; empty if it is missing.

    Raises:
        LinkError: ``path`` is a link.
        LsaWhisperError: The file is not such a table, so that no rows can be added.
    """
    try:
        present = read_own(path).decode("utf-8-sig") if path.exists() or path.is_symlink() else ""
        rows = list(csv.reader(io.StringIO(present, newline="")))
    except (UnicodeDecodeError, csv.Error):
        rows, present = [[]], "?"
    except OSError as error:
        raise LsaWhisperError(f"{path}: cannot be read ({error.strerror}); choose another file") from error
    if rows and rows[0] != list(columns):
        raise LsaWhisperError(f"{path}: exists, and its columns are not {', '.join(columns)}; choose another file")
    return present, rows
