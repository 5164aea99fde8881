"""``Recording``: audio on disk; opened, brought to 16 kHz mono, cut to a ``TimeSpan``, or streamed in constant memory.

soundfile reads wav, flac, mp3, ogg, opus and aiff. What it cannot read (m4a, mp4, webm, a film's sound track), or reads
wrongly, goes through the ``ffmpeg`` program where that is installed. Samples that are not finite become silence.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile as sf
import soxr

from lsa_whisper import plain_json
from lsa_whisper.errors import AudioError
from lsa_whisper.timespan import TimeSpan

SAMPLE_RATE_HZ = 16_000
"""Whisper's sample rate; every array this module returns has it."""

AUDIO_SUFFIXES = (".wav", ".flac", ".aif", ".aiff", ".mp3", ".ogg", ".opus", ".m4a", ".mp4", ".mov", ".webm")
"""File endings looked for beside transcripts, the preferred one first."""

Samples = npt.NDArray[np.float32]

_RATES_HZ = (1_000, 768_000)
_MARGIN_S = 0.1  # what the resampler must see on both sides of a cut so that a cut equals the same part of the whole
_TAIL_S = 0.5
_CHUNK_S = 1.0


@dataclass(frozen=True)
class Recording:
    """Audio on disk. Make one with :meth:`open`, which has made sure that the end of the file can be read.

    Attributes:
        path: The file.
        duration_s: Seconds of sound that can really be decoded, whatever the header says.
        rate_hz: The file's own sample rate.
        channels: The file's own number of channels.
        decoder: ``soundfile`` or ``ffmpeg``.
        claimed_s: Seconds of sound its header promises.
    """

    path: Path
    duration_s: float
    rate_hz: int
    channels: int
    decoder: str = "soundfile"
    claimed_s: float = 0.0

    @property
    def remark(self) -> str:
        """A sentence about a header that promises more than there is; empty where it is true."""
        if self.claimed_s <= self.duration_s + 1:
            return ""
        return f"its header claims {self.claimed_s:.1f} s, and {self.duration_s:.1f} s of it can be read"

    @classmethod
    def open(cls, path: Path | str) -> Recording:
        """Return the recording at ``path``.

        Raises:
            AudioError: There is no such file, or no sound in it that can be read.
        """
        path = Path(path)
        if not path.exists():
            raise AudioError(f"{path}: no such recording; check the path and the file's ending")
        if not path.is_file():
            raise AudioError(f"{path}: this is not a file; name one recording")
        if path.stat().st_size == 0:
            raise AudioError(f"{path}: the file is empty (0 bytes); copy it again from its source")
        by_soundfile = _open_soundfile(path)
        if by_soundfile and not _is_headerless_mp3(path):
            return by_soundfile
        by_ffmpeg = _open_ffmpeg(path) if shutil.which("ffmpeg") and shutil.which("ffprobe") else None
        # libsndfile guesses the length of an mp3 without a Xing header from its first frame and then stops there.
        if by_soundfile and (by_ffmpeg is None or abs(by_ffmpeg.duration_s - by_soundfile.duration_s) < 0.2):
            return by_soundfile
        if by_ffmpeg:
            return by_ffmpeg
        raise AudioError(_why_unreadable(path))

    def load(self, span: TimeSpan | None = None) -> Samples:
        """Return the samples of ``span`` (or of the whole file), float32, mono, 16 kHz, shape ``(samples,)``.

        A cut equals the same part of the whole: 16 samples per millisecond, less only where the file ends.

        Raises:
            AudioError: The span is empty or begins after the end, or the file can no longer be read.
        """
        if span is None:
            blocks = list(self.stream())
            return np.concatenate(blocks) if blocks else np.zeros(0, np.float32)
        if span.duration_ms <= 0 or span.start_ms < 0 or span.start_ms >= self.duration_s * 1000:
            raise AudioError(
                f"{self.path}: cannot cut {span.start_ms} to {span.end_ms} ms out of {self.duration_s:.3f} s of sound"
            )
        cut = _cut_ffmpeg(self, span) if self.decoder == "ffmpeg" else _cut_soundfile(self, span)
        return cut[: 16 * span.duration_ms]

    def stream(self, block_s: float = 30.0) -> Iterator[Samples]:
        """Yield the whole file in blocks of ``block_s`` seconds (the last one shorter), never holding more than one.

        Raises:
            AudioError: The file can no longer be read.
        """
        size = max(1, round(block_s * SAMPLE_RATE_HZ))
        pending: list[Samples] = []
        held = 0
        for chunk in _chunks_ffmpeg(self) if self.decoder == "ffmpeg" else _chunks_soundfile(self):
            pending.append(chunk)
            held += len(chunk)
            if held >= size:
                joined = np.concatenate(pending)
                whole = held // size * size
                for start in range(0, whole, size):
                    yield joined[start : start + size]
                pending, held = [joined[whole:]], held - whole
        if held:
            yield np.concatenate(pending)


def _mono(samples: npt.NDArray[np.float32]) -> Samples:
    mixed = samples.mean(axis=1, dtype=np.float32) if samples.ndim == 2 else samples
    # A float wav may hold NaN or infinity: one such sample would poison every feature of its window.
    return np.nan_to_num(mixed, nan=0.0, posinf=0.0, neginf=0.0)


def _open_soundfile(path: Path) -> Recording | None:
    """Return the recording as soundfile sees it, or ``None`` where soundfile reads nothing."""
    try:
        with sf.SoundFile(path) as file:
            rate, channels, frames = file.samplerate, file.channels, file.frames
            if frames < 1 or not _RATES_HZ[0] <= rate <= _RATES_HZ[1]:
                return None
            claimed = frames
            if not _last_frame_reads(file):
                frames = _count_frames(path)
    except sf.LibsndfileError:
        return None
    return Recording(path, frames / rate, rate, channels, claimed_s=claimed / rate) if frames > 0 else None


def _last_frame_reads(file: sf.SoundFile) -> bool:
    try:
        file.seek(file.frames - 1)
        return len(file.read(1, dtype="float32")) == 1
    except sf.LibsndfileError:
        return False


def _count_frames(path: Path) -> int:
    """Return how many frames decode before the file breaks off (a truncated mp3 or flac keeps its full header)."""
    count = 0
    with sf.SoundFile(path) as file:
        try:
            while got := len(file.read(4096, dtype="float32")):
                count += got
        except sf.LibsndfileError:
            pass
    return count


def _is_headerless_mp3(path: Path) -> bool:
    if path.suffix.lower() != ".mp3":
        return False
    with path.open("rb") as file:
        head = file.read(10)
        if head[:3] == b"ID3":  # sizes in ID3 tags have seven bits to the byte
            file.seek(10 + sum(byte << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=False)))
        first_frame = file.read(4096)
    return not any(tag in first_frame for tag in (b"Xing", b"Info", b"VBRI"))


def _cut_soundfile(recording: Recording, span: TimeSpan) -> Samples:
    rate = recording.rate_hz
    # Reading begins on a frame that falls exactly on a 16 kHz sample, so that cut and whole share one grid.
    grid = rate // np.gcd(rate, SAMPLE_RATE_HZ)
    first = max(0, int((span.start_ms / 1000 - _MARGIN_S) * rate)) // grid * grid
    last = min(int((span.end_ms / 1000 + _MARGIN_S) * rate) + 1, round(recording.duration_s * rate))
    try:
        with sf.SoundFile(recording.path) as file:
            file.seek(first)
            samples = _mono(file.read(last - first, dtype="float32"))
    except (sf.LibsndfileError, OSError) as error:
        raise AudioError(f"{recording.path}: cannot be read any more ({error}); was it moved or changed?") from error
    if rate != SAMPLE_RATE_HZ:
        samples = soxr.resample(samples, rate, SAMPLE_RATE_HZ).astype(np.float32, copy=False)
    return samples[span.start_ms * 16 - first * SAMPLE_RATE_HZ // rate :]


def _chunks_soundfile(recording: Recording) -> Iterator[Samples]:
    rate = recording.rate_hz
    resampler = soxr.ResampleStream(rate, SAMPLE_RATE_HZ, 1, dtype="float32") if rate != SAMPLE_RATE_HZ else None
    left, size = round(recording.duration_s * rate), max(1, int(_CHUNK_S * rate))
    try:
        with sf.SoundFile(recording.path) as file:
            while left > 0:
                samples = _mono(file.read(min(size, left), dtype="float32"))
                left = left - len(samples) if len(samples) else 0
                yield resampler.resample_chunk(samples, last=left <= 0) if resampler else samples
    except (sf.LibsndfileError, OSError) as error:
        raise AudioError(f"{recording.path}: cannot be read any more ({error}); was it moved or changed?") from error


def _open_ffmpeg(path: Path) -> Recording | None:
    """Return the recording as ffmpeg sees it, or ``None`` where ffmpeg finds no sound."""
    command = ["ffprobe", "-v", "error", "-protocol_whitelist", "file", "-select_streams", "a:0", "-of", "json"]
    command += ["-show_entries", "stream=sample_rate,channels:format=duration", f"file:{path.absolute()}"]
    probe = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    found: dict[str, Any] = plain_json.load(probe.stdout or b"{}") if probe.returncode == 0 else {}
    if not found.get("streams"):
        return None
    stream = found["streams"][0]
    rate, channels = int(stream.get("sample_rate", 0)), int(stream.get("channels", 0))
    if not _RATES_HZ[0] <= rate <= _RATES_HZ[1] or channels < 1:
        return None
    recording = Recording(path, _seconds(found.get("format", {}).get("duration")), rate, channels, "ffmpeg")
    if not _tail_reads(recording):
        samples = sum(len(chunk) for chunk in _chunks_ffmpeg(recording))
        recording = Recording(path, samples / SAMPLE_RATE_HZ, rate, channels, "ffmpeg", recording.duration_s)
    return recording if recording.duration_s > 0 else None


def _seconds(said: Any) -> float:
    """Return a duration as ffprobe says it; 0 where it says none that can be."""
    try:
        seconds = float(said)
    except (TypeError, ValueError):
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0


def _tail_reads(recording: Recording) -> bool:
    """Whether the last half second is there, and nothing after it: the header's duration is true."""
    if recording.duration_s < _TAIL_S:
        return False
    tail = sum(map(len, _chunks_ffmpeg(recording, start_s=recording.duration_s - _TAIL_S)))
    return abs(tail / SAMPLE_RATE_HZ - _TAIL_S) < 0.05


def _cut_ffmpeg(recording: Recording, span: TimeSpan) -> Samples:
    chunks = list(_chunks_ffmpeg(recording, start_s=span.start_ms / 1000, duration_s=span.duration_ms / 1000))
    return np.concatenate(chunks) if chunks else np.zeros(0, np.float32)


def _chunks_ffmpeg(
    recording: Recording, start_s: float | None = None, duration_s: float | None = None
) -> Iterator[Samples]:
    # `file:` and the whitelist keep a hostile container (a playlist named .mp4) from reaching the network.
    command = ["ffmpeg", "-v", "error", "-nostdin", "-protocol_whitelist", "file,pipe"]
    command += [] if start_s is None else ["-ss", f"{start_s:.3f}"]
    command += [] if duration_s is None else ["-t", f"{duration_s:.3f}"]
    command += ["-i", f"file:{recording.path.absolute()}", "-map", "a:0", "-vn", "-ac", "1"]
    command += ["-ar", str(SAMPLE_RATE_HZ), "-f", "f32le", "pipe:1"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
        assert job.stdout is not None
        try:
            while data := job.stdout.read(int(_CHUNK_S * SAMPLE_RATE_HZ) * 4):
                yield _mono(np.frombuffer(data[: len(data) // 4 * 4], "<f4").astype(np.float32, copy=True))
        finally:
            job.kill()  # a reader that stops early must not leave ffmpeg waiting on a full pipe


def _why_unreadable(path: Path) -> str:
    if not shutil.which("ffmpeg"):
        return f"{path}: cannot be read as audio; install the ffmpeg program, or convert the file to wav or flac"
    return f"{path}: no sound can be read from it (damaged, no samples, or no audio file); convert or copy it again"
