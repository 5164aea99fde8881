"""What is decoded of a recording so far, kept on disk, so that a run that was killed goes on where it was.

Beside the transcript to be lies a hidden file with one line of JSON for each batch of decoded windows. Its name holds
the digest of recording, model and settings, so it can only be found by a run that would decode the same again. A line
that was not finished is not read; the file goes when the transcript is there.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsa_whisper import disk, plain_json
from lsa_whisper.atomic_write import truncate_name
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.timespan import TimeSpan

WindowResult = tuple[TimeSpan, DecodedWindow]
"""A window and what the engine made of it."""


class PartialDecoding:
    """The decoded windows of one recording on disk."""

    def __init__(self, target: Path, inputs: str):
        """Keep them beside the transcript ``target``, which is to be made from ``inputs``."""
        self._folder, self._name = target.parent, truncate_name(target.stem)
        self.path = target.with_name(f".{self._name}.{inputs}.windows.jsonl")

    def read(self, windows: Sequence[TimeSpan] | None = None) -> list[WindowResult]:
        """Return the windows an earlier run decoded, in order; what it left unfinished is cut off the file.

        Args:
            windows: those of this run, where they are known; what was decoded of others is thrown away.
        """
        if self.path.is_symlink():  # none of ours: what it leads to is not to be written
            self.path.unlink()
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        heard: list[WindowResult] = []
        whole = 0
        for line in data.splitlines(keepends=True):
            try:
                if not line.endswith(b"\n"):
                    break
                heard += [_window(each) for each in plain_json.parse(line)]
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
                break  # damaged: this window and all after it are decoded again
            whole += len(line)
        if windows is not None and [span for span, _ in heard] != list(windows[: len(heard)]):
            heard, whole = [], 0
        if whole < len(data):
            self._write(data[:whole], "wb")
        return heard

    def append(self, heard: Sequence[WindowResult]) -> None:
        """Add a batch of windows, which will be read back together or not at all.

        Raises:
            LsaWhisperError: the folder cannot be written to.
        """
        rows = [[span.start_ms, span.end_ms, asdict(result)] for span, result in heard]
        self._write(json.dumps(rows).encode() + b"\n", "ab")

    def _write(self, data: bytes, mode: str) -> None:
        with disk.convert_disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open(mode) as file:
                file.write(data)

    def remove(self) -> None:
        """Delete what is kept for this transcript, that of other models and settings too."""
        digest = "[0-9a-f]" * 16  # no star: it would reach over the point of another recording's longer name
        for path in self._folder.glob(f".{glob.escape(self._name)}.{digest}.windows.jsonl"):
            path.unlink(missing_ok=True)


def _window(row: Any) -> WindowResult:
    start_ms, end_ms, fields = row
    segments = tuple(_piece(**each) for each in fields.pop("segments"))
    return TimeSpan(int(start_ms), int(end_ms)), DecodedWindow(segments, **fields)


def _piece(*, timed: list[Any], logprobs: list[Any], **fields: Any) -> DecodedSegment:
    return DecodedSegment(
        timed=tuple(TimedToken(**each) for each in timed),
        logprobs=tuple((text, logprob) for text, logprob in logprobs),
        **fields,
    )
