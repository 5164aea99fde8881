"""Decoded windows of an unfinished recording on disk, from which an interrupted run resumes.

A hidden file next to the future transcript has one line of JSON per batch of decoded windows. Its name contains the
digest of recording, model and options, so only a run that would decode the same windows finds it. An incomplete last
line is ignored. The file is deleted once the transcript is written.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow, TimedToken
from lsa_whisper.system import disk, plain_json
from lsa_whisper.system.atomic_write import replace_file, truncate_name
from lsa_whisper.system.own_files import LinkError, append_own, read_own
from lsa_whisper.timespan import TimeSpan

WindowResult = tuple[TimeSpan, DecodedWindow]
"""The place of a window in the recording, and its decoded text."""


class PartialDecoding:
    """The file with the decoded windows of one recording."""

    def __init__(self, target: Path, inputs: str):
        """Name the file for the transcript ``target`` and the digest ``inputs`` of its inputs."""
        self._folder, self._name = target.parent, truncate_name(target.stem)
        self._target, self.inputs = target, inputs
        self.path = target.with_name(f".{self._name}.{inputs}.windows.jsonl")

    def of_channel(self, channel: int) -> PartialDecoding:
        """Return the file of one channel, for a recording whose channels are decoded one after the other."""
        return PartialDecoding(self._target, hashlib.sha256(f"{self.inputs} {channel}".encode()).hexdigest()[:16])

    def read(self, windows: Sequence[TimeSpan] | None = None) -> list[WindowResult]:
        """Return the windows that an earlier run decoded, in order; an incomplete last line is removed.

        Stored windows that differ from ``windows``, those of this run if known, are discarded.
        """
        try:
            data = read_own(self.path)
        except FileNotFoundError:
            return []
        except LinkError:  # not written by this program: what it leads to must not be overwritten
            self.path.unlink()
            return []
        results: list[WindowResult] = []
        intact = 0
        for line in data.splitlines(keepends=True):
            try:
                if not line.endswith(b"\n"):
                    break
                results += [_window(row) for row in plain_json.parse(line)]
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
                break  # damaged: this window and all later ones are decoded again
            intact += len(line)
        if windows is not None and [span for span, _ in results] != list(windows[: len(results)]):
            results, intact = [], 0
        if intact < len(data):
            with disk.convert_disk_errors(self.path):
                replace_file(data[:intact], self.path)
        return results

    def append(self, results: Sequence[WindowResult]) -> None:
        """Append a batch of windows, which is read back completely or not at all.

        Raises:
            DiskError: The file cannot be written.
        """
        rows = [[span.start_ms, span.end_ms, asdict(result)] for span, result in results]
        with disk.convert_disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            append_own(self.path, json.dumps(rows).encode() + b"\n")

    def remove(self) -> None:
        """Delete the files of this transcript, including those of other models and options."""
        digest = "[0-9a-f]" * 16  # `*` would also match the names of other recordings
        for path in self._folder.glob(f".{glob.escape(self._name)}.{digest}.windows.jsonl"):
            path.unlink(missing_ok=True)


def _window(row: Any) -> WindowResult:
    start_ms, end_ms, fields = row
    segments = tuple(_piece(**piece) for piece in fields.pop("segments"))
    removed, unspoken = (tuple(map(str, fields.pop(name, ()))) for name in ("removed", "unspoken"))
    return TimeSpan(int(start_ms), int(end_ms)), DecodedWindow(segments, **fields, removed=removed, unspoken=unspoken)


def _piece(*, timed: list[Any], logprobs: list[Any], **fields: Any) -> DecodedSegment:
    return DecodedSegment(
        timed=tuple(TimedToken(**token) for token in timed),
        logprobs=tuple((text, logprob) for text, logprob in logprobs),
        **fields,
    )
