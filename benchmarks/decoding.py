"""How fast five minutes in an m4a, mp4 or webm are decoded: as a whole, and as cuts of five seconds.

Beside it, the ``ffmpeg`` program does the same work if it is on ``PATH``.

    python -m benchmarks.decoding
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np

from benchmarks import result
from lsa_whisper.audio import Recording
from lsa_whisper.timespan import TimeSpan

SECONDS, RATE_HZ, CUT_MS, ROUNDS = 300, 48_000, 5000, 3
CODECS = {"m4a": ("ipod", "aac"), "mp4": ("mp4", "aac"), "webm": ("webm", "libopus")}
STARTS_MS = range(0, SECONDS * 1000 - CUT_MS, 30_000)


def main() -> None:
    """Measure each format in turns and write the result."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for suffix, (form, codec) in CODECS.items():
            path = Path(folder) / f"noise.{suffix}"
            encode(path, form, codec)
            figures[suffix] = measure(path)
    result.write("decoding", ("av", "soxr"), f"{SECONDS} s of noise, {RATE_HZ} Hz, one channel", cpu_seconds=figures)


def encode(path: Path, form: str, codec: str) -> None:
    """Write noise in blocks of a second."""
    rng = np.random.default_rng(0)
    with av.open(str(path), "w", form) as container:
        stream = container.add_stream(codec, rate=RATE_HZ, layout="mono")
        for second in range(SECONDS):
            noise = (0.1 * rng.standard_normal((1, RATE_HZ))).astype(np.float32)
            frame = av.AudioFrame.from_ndarray(noise, "fltp", "mono")
            frame.sample_rate, frame.pts = RATE_HZ, second * RATE_HZ
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def measure(path: Path) -> dict[str, dict[str, float]]:
    """Return the processor time of the whole and of a cut, the least of some rounds, for each way to decode."""
    recording = Recording.open(path)
    ways: dict[str, Callable[[], object]] = {
        "whole": lambda: [len(block) for block in recording.stream()],
        "cut": lambda: [recording.load(TimeSpan(start, start + CUT_MS)) for start in STARTS_MS],
    }
    figures = {"lsa_whisper": {name: least(way) for name, way in ways.items()}}
    if shutil.which("ffmpeg"):
        ways = {
            "whole": lambda: program(path),
            "cut": lambda: [program(path, "-ss", f"{start / 1000}", "-t", f"{CUT_MS / 1000}") for start in STARTS_MS],
        }
        figures["ffmpeg"] = {name: least(way) for name, way in ways.items()}
    for each in figures.values():
        each["cut"] = round(each["cut"] / len(STARTS_MS), 4)
    return figures


def program(path: Path, *span: str) -> int:
    """Return how many bytes of 16 kHz mono the ffmpeg program gives."""
    command = ["ffmpeg", "-v", "error", "-nostdin", *span, "-i", str(path), "-map", "a:0", "-ac", "1", "-ar", "16000"]
    return len(subprocess.run([*command, "-f", "f32le", "pipe:1"], capture_output=True, check=True).stdout)


def least(way: Callable[[], object]) -> float:
    """Return the least processor time of some rounds, programs that it starts included."""
    seconds = []
    for _ in range(ROUNDS):
        began = cpu_s()
        way()
        seconds.append(cpu_s() - began)
    return round(min(seconds), 3)


def cpu_s() -> float:
    """Return the processor time of this process and of the programs that it has started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


if __name__ == "__main__":
    main()
