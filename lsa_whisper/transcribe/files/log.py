"""One line for each recording of a run, in a file that grows from run to run."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from lsa_whisper import disk
from lsa_whisper.transcribe.files.outcome import FailedFile, TranscribedFile

COLUMNS = ("finished", "outcome", "recording", "sound_s", "took_s", "utterances", "words", "note")


class RunLog:
    """Tab-separated lines, written when a recording is done, kept or given up; without a path, nothing."""

    def __init__(self, path: Path | None):
        """Open the log at ``path``, to go on below what stands there.

        Raises:
            LsaWhisperError: it cannot be written.
        """
        self._path = path
        if path is None:
            return
        with disk.convert_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                empty = file.tell() == 0
        if empty:
            self._put(COLUMNS)

    def outcome(self, became: TranscribedFile | FailedFile, sound_s: float) -> None:
        """Write a line about what became of a recording of ``sound_s`` seconds."""
        if isinstance(became, FailedFile):
            outcome, counts, note = "failed", (0, 0), became.reason
        else:
            outcome, counts, note = "kept" if became.skipped else "done", became.counts, became.note
        finished = datetime.now().astimezone().isoformat(timespec="seconds")
        values = (finished, outcome, became.audio, f"{sound_s:.1f}", f"{became.took_s:.1f}", *counts, note)
        self._put([" ".join(str(value).split()) for value in values])

    def _put(self, values: Iterable[str]) -> None:
        """Add a line, whole or not at all; who looks into the log of a running job sees what is done."""
        if self._path is None:
            return
        line = ("\t".join(values) + "\n").encode("utf-8", "backslashreplace")
        with disk.convert_disk_errors(self._path), self._path.open("ab", buffering=0) as file:
            before = file.tell()
            if file.write(line) < len(line):
                file.truncate(before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
