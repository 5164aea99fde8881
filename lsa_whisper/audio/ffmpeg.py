"""Decoding with the ``ffmpeg`` program, and probing with ``ffprobe``."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lsa_whisper.audio.samples import MAX_MISSING_S, RATES_HZ, SAMPLE_RATE_HZ, Samples, mono
from lsa_whisper.errors import AudioError
from lsa_whisper.system import plain_json

_TAIL_S = 0.5
_CHUNK_S = 1.0


@dataclass(frozen=True)
class ProbeResult:
    """Properties of a file: decodable duration, duration in the header, sample rate, and channels."""

    duration_s: float
    header_s: float
    rate_hz: int
    channels: int


def is_installed() -> bool:
    """Return whether both programs are installed."""
    return shutil.which("ffmpeg") is not None and shutil.which("ffprobe") is not None


def probe(path: Path) -> ProbeResult | None:
    """Return the properties of ``path``, or ``None`` if ffmpeg finds no audio."""
    command = ["ffprobe", "-v", "error", "-protocol_whitelist", "file", "-select_streams", "a:0", "-of", "json"]
    command += ["-show_entries", "stream=sample_rate,channels:format=duration", f"file:{path.absolute()}"]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    found: dict[str, Any] = plain_json.parse(done.stdout or b"{}") if done.returncode == 0 else {}
    if not found.get("streams"):
        return None
    stream = found["streams"][0]
    rate, channels = int(stream.get("sample_rate", 0)), int(stream.get("channels", 0))
    if not RATES_HZ[0] <= rate <= RATES_HZ[1] or channels < 1:
        return None
    duration_s = header_s = _seconds(found.get("format", {}).get("duration"))
    if not _tail_reads(path, header_s):
        duration_s = sum(map(len, decode_stream(path))) / SAMPLE_RATE_HZ
    return ProbeResult(duration_s, header_s, rate, channels) if duration_s > 0 else None


def _seconds(text: Any) -> float:
    """Return the duration that ffprobe reports; 0 if it is missing or invalid."""
    try:
        seconds = float(text)
    except (TypeError, ValueError):
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0


def _tail_reads(path: Path, duration_s: float) -> bool:
    """Return whether the audio ends where the header says: the last half second exists and nothing follows."""
    if duration_s < _TAIL_S:
        return False
    tail = sum(map(len, decode_stream(path, start_s=duration_s - _TAIL_S)))
    return abs(tail / SAMPLE_RATE_HZ - _TAIL_S) < 0.05


def decode_stream(
    path: Path,
    start_s: float | None = None,
    duration_s: float | None = None,
    *,
    expected_s: float = 0.0,
    channel: int | None = None,
) -> Iterator[Samples]:
    """Yield the decoded samples in blocks of one second.

    Raises:
        AudioError: The audio is shorter than ``expected_s``. If ffmpeg reports no error, half of it may be missing:
            containers of recorded calls omit silence.
    """
    # `file:` and the whitelist keep a hostile container (a playlist named .mp4) from reaching the network.
    command = ["ffmpeg", "-v", "error", "-nostdin", "-protocol_whitelist", "file,pipe"]
    command += [] if start_s is None else ["-ss", f"{start_s:.3f}"]
    command += [] if duration_s is None else ["-t", f"{duration_s:.3f}"]
    command += ["-i", f"file:{path.absolute()}", "-map", "a:0", "-vn"]
    command += ["-ac", "1"] if channel is None else ["-af", f"pan=mono|c0=c{channel}"]
    command += ["-ar", str(SAMPLE_RATE_HZ), "-f", "f32le", "pipe:1"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
        assert job.stdout is not None
        decoded_s = 0.0
        try:
            while data := job.stdout.read(int(_CHUNK_S * SAMPLE_RATE_HZ) * 4):
                decoded_s += len(data) / 4 / SAMPLE_RATE_HZ
                yield mono(np.frombuffer(data[: len(data) // 4 * 4], "<f4").astype(np.float32, copy=True))
            status = job.wait()
        finally:
            job.kill()  # a reader that stops early must not leave ffmpeg waiting on a full pipe
    allowed_s = MAX_MISSING_S if status else max(MAX_MISSING_S, expected_s / 2)
    if expected_s - decoded_s > allowed_s:
        ended = f"ffmpeg ended with status {status} after" if status else "ffmpeg found no more than"
        raise unreadable_error(path, f"{ended} {decoded_s:.1f} of {expected_s:.1f} s")


def unreadable_error(path: Path, reason: str) -> AudioError:
    """Return the error for a recording that was opened but is no longer readable."""
    return AudioError(f"{path}: is no longer readable ({reason}); was it moved or changed?")
