"""The log of transcription: one line for each recording, in a file that later runs append to."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from lsa_whisper.system import disk
from lsa_whisper.system.failed_files import FailedFile
from lsa_whisper.system.own_files import append_own
from lsa_whisper.transcription.files.outcome import TranscribedFile

LOG_COLUMNS = ("finished", "outcome", "recording", "sound_s", "took_s", "utterances", "words", "note")


class RunLog:
    """Tab-separated lines, each written as soon as its recording has ended; without a path, nothing is written."""

    def __init__(self, path: Path | None):
        """Open the log at ``path`` to append to it.

        Raises:
            LsaWhisperError: it cannot be written.
        """
        self._path = path
        if path is None:
            return
        with disk.convert_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            append_own(path, b"")
            empty = path.stat().st_size == 0
        if empty:
            self._append(LOG_COLUMNS)

    def outcome(self, file: TranscribedFile | FailedFile, duration_s: float) -> None:
        """Add the line of a recording of ``duration_s`` seconds."""
        if isinstance(file, FailedFile):
            outcome, path, counts, note = "failed", file.path, (0, 0), file.reason
        else:
            outcome, path, counts, note = "kept" if file.skipped else "done", file.audio, file.counts, _note(file)
        finished = datetime.now().astimezone().isoformat(timespec="seconds")
        values = (finished, outcome, path, f"{duration_s:.1f}", f"{file.took_s:.1f}", *counts, note)
        self._append([" ".join(str(value).split()) for value in values])

    def _append(self, values: Iterable[str]) -> None:
        """Add a line at once, completely or not at all."""
        if self._path is None:
            return
        line = ("\t".join(values) + "\n").encode("utf-8", "backslashreplace")
        with disk.convert_disk_errors(self._path):
            append_own(self._path, line)


def _note(file: TranscribedFile) -> str:
    """Return the remarks, and what the decoder said: each line once, with the number of the others."""
    said = list(dict.fromkeys(file.messages))
    more = f" and {len(said) - 3} more" if len(said) > 3 else ""
    return "; ".join(
        part for part in (file.note, f"the decoder said: {', '.join(said[:3])}{more}" if said else "") if part
    )
