"""Transcribing recordings from the page, in a process of its own: the server needs no model library and no GPU."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from lsa_whisper.errors import LsaWhisperError

_DONE = re.compile(r"([\d.]+) of ([\d.]+) s of audio done")
_KEPT_LINES = 20


class TranscriptionJob:
    """At most one run of ``lsa-whisper transcribe`` at a time."""

    def __init__(self, model: str | None):
        """Transcribe with ``model``, by default the one that ``models use`` chose."""
        self._model = model
        self._process: subprocess.Popen[str] | None = None
        self._lines: list[str] = []
        self._stopped = False

    def start(self, recordings: list[Path]) -> None:
        """Start to transcribe recordings; the transcripts are written next to them.

        Raises:
            LsaWhisperError: A run is in progress.
        """
        if self._process and self._process.poll() is None:
            raise LsaWhisperError("a transcription is running; wait until it ends, or stop it")
        paths = [str(recording.absolute()) for recording in recordings]
        command = [sys.executable, "-m", "lsa_whisper", "transcribe", *paths]
        command += ["--model", self._model] if self._model else []
        self._lines, self._stopped = [], False
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        threading.Thread(target=self._follow, args=(self._process,), daemon=True).start()

    def stop(self) -> None:
        """Stop the run; the same recordings can be transcribed again later, where it ended."""
        if self._process and self._process.poll() is None:
            self._stopped = True
            self._process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Stop the run and wait for its end."""
        self.stop()
        if self._process:
            try:
                self._process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def state(self) -> dict[str, Any]:
        """Return whether a run is in progress, whether it was stopped before its end, its share done and last lines."""
        code = self._process.poll() if self._process else None
        running = self._process is not None and code is None
        match = next((last for line in reversed(self._lines) if (last := _DONE.search(line))), None)
        share = float(match[1]) / max(float(match[2]), 0.1) if match else 0.0
        return {
            "running": running,
            "stopped": self._stopped and bool(code),
            "share": round(share, 3),
            "exit_code": code,
            "lines": self._lines[-_KEPT_LINES:],
        }

    def _follow(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.append(line.rstrip())
            del self._lines[:-_KEPT_LINES]
