"""The sound in m4a, mp4, mov, webm, wma, amr and other containers, decoded with PyAV.

Containers are opened as file objects, and only with the demuxers listed here: a file that names other files or
addresses, such as a playlist, is never followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import av.logging
import numpy as np
import numpy.typing as npt
from av.stream import Discard

from lsa_whisper.audio.damaged import is_mp3
from lsa_whisper.audio.samples import RATES_HZ, Samples, mono
from lsa_whisper.timespan import TimeSpan

av.logging.set_level(None)  # what FFmpeg says of damage is not for the terminal

ERRORS = (av.FFmpegError, OSError, ValueError, EOFError, IndexError)
"""What PyAV raises about a file that it cannot read."""

_MAGIC = (
    (0, b"\x1a\x45\xdf\xa3", "matroska"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (0, b"#!AMR", "amr"),
    (0, b"OggS", "ogg"),
    (0, b"fLaC", "flac"),
    (0, b"caff", "caf"),
    (0, b"FLV", "flv"),
    (0, b"\0\0\1\xba", "mpeg"),
    (8, b"WAVE", "wav"),
    (8, b"AVI ", "avi"),
    (8, b"AIF", "aiff"),
    *((4, box, "mov") for box in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")),
)
_SEEKABLE = ("mov", "matroska")  # the time after a seek is exact, not estimated from a bit rate
_WITHOUT_LENGTH = ("mp3", "aac", "amr")  # the length is estimated from a bit rate
_PREROLL_S = 0.5  # what a codec needs before the first sample that equals the same sample of a whole decode
_GAP_S = 0.05  # shorter differences of time are rounding
_MAX_GAP_S = 600.0  # a longer one is a false time, not silence
_OPUS_PAUSE_S = 0.5  # Opus stores silence as gaps of up to 0.4 s
_TAIL_S = 2.0

_Frame = npt.NDArray[Any]


@dataclass(frozen=True)
class Properties:
    """Properties of a file: frames that can be decoded, duration in the header, sample rate, and channels."""

    frames: int
    header_s: float
    rate_hz: int
    channels: int


def probe(path: Path) -> Properties | None:
    """Return the properties of ``path``, or ``None`` if it has no sound."""
    try:
        with _sound(path) as (container, stream):
            rate, channels = stream.rate or 0, stream.channels or 0
            header_s = max(0.0, _header_s(container, stream))
            tail = int((header_s - _TAIL_S) * rate) if _is_seekable(container, stream) else 0
    except ERRORS:
        return None
    if not RATES_HZ[0] <= rate <= RATES_HZ[1] or channels < 1:
        return None
    frames = (_count(path, tail) if tail > 0 else 0) or _count(path, 0)
    return Properties(frames, header_s, rate, channels) if frames else None


def _header_s(container: Any, stream: Any) -> float:
    if container.format.name in _WITHOUT_LENGTH:
        return 0.0
    return float((stream.duration or 0) * stream.time_base) or float((container.duration or 0) / av.time_base)


def _is_seekable(container: Any, stream: Any) -> bool:
    if stream.time_base * (stream.rate or 0) > 1 and stream.codec_context.name.startswith("pcm"):
        return False  # places cannot be derived from such times: see _places
    return container.format.name.split(",")[0] in _SEEKABLE


def _count(path: Path, first: int) -> int:
    """Return the number of frames, decoding from ``first``; 0 if nothing can be decoded there."""
    count = 0
    try:
        for block in decode_container(path, first):
            count += len(block)
    except ERRORS:
        pass  # what comes before it counts
    return first + count if count else 0


def decode_container(
    path: Path, first: int = 0, channel: int | None = None, gaps: list[TimeSpan] | None = None
) -> Iterator[Samples]:
    """Yield the mono samples from frame ``first`` to the end at the file's own rate, in blocks of about one second.

    Sound that begins later than the other streams, and gaps such as omitted silence, are filled with silence. Gaps, but
    not the short pauses of Opus, are appended to ``gaps``.

    Raises:
        Exception: One of ``ERRORS``.
    """
    with _sound(path) as (container, stream):
        pending: list[_Frame] = []
        count = 0
        for at, samples in _fill_gaps(_frames(container, stream, first), stream, first, [] if gaps is None else gaps):
            pending.append(samples[max(0, first - at) :])
            count += len(pending[-1])
            if count >= stream.rate:
                yield _mono(np.concatenate(pending), channel)
                pending, count = [], 0
        if count:
            yield _mono(np.concatenate(pending), channel)


@contextmanager
def _sound(path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield the open container and its first stream of sound that can be decoded."""
    with path.open("rb") as file:
        name = _demuxer(file.read(16), path)
        file.seek(0)
        options = {"protocol_whitelist": "none"}
        with av.open(file, "r", name, container_options=options, metadata_errors="ignore") as container:
            stream = next((candidate for candidate in container.streams.audio if candidate.codec_context), None)
            if stream is None:
                raise ValueError("it has no sound that can be decoded")
            stream.codec_context.thread_count = 1
            if stream.codec_context.name == "flac":  # a damaged frame would be a burst of loud noise
                stream.codec_context.options = {"err_detect": "crccheck+explode"}
            for other in container.streams:
                if other is not stream:
                    other.discard = Discard.all
            yield container, stream


def _demuxer(head: bytes, path: Path) -> str:
    for at, magic, name in _MAGIC:
        if head[at:].startswith(magic):
            return name
    if path.suffix.lower() == ".aac" or (head[:1] == b"\xff" and head[1:2] and head[1] & 0xF6 == 0xF0):
        return "aac"
    if is_mp3(path):
        return "mp3"
    raise ValueError("the format is not known")


def _frames(container: Any, stream: Any, first: int) -> Iterator[tuple[int | None, _Frame]]:
    """Yield the place of each decoded frame, ``None`` if unknown, and its samples; from a little before ``first``."""
    frames = _decoded(container, stream)
    frame = next(frames, None)
    if frame is None:
        return
    place = _places(container, stream, frame)
    skipped_s = first / stream.rate - _PREROLL_S
    if skipped_s > 1 and _is_seekable(container, stream) and frame.pts is not None:
        ahead = int((skipped_s - place(frame.pts) / stream.rate) / stream.time_base)
        container.seek(frame.pts + ahead, stream=stream)
        frames = _decoded(container, stream)
        next(frames, None)  # lacks what overlaps with the one before it
        frame = next(frames, None)
    while frame is not None:
        if frame.sample_rate != stream.rate:
            raise ValueError(f"its sample rate changes from {stream.rate} to {frame.sample_rate} Hz")
        yield None if frame.pts is None else place(frame.pts), _array(frame, stream.channels)
        frame = next(frames, None)


def _decoded(container: Any, stream: Any) -> Iterator[Any]:
    for packet in container.demux(stream):
        try:
            frames = packet.decode()
        except ERRORS:
            continue  # a damaged packet; the gap is filled
        yield from (frame for frame in frames if frame.samples)


def _places(container: Any, stream: Any, frame: Any) -> Callable[[int], int]:
    """Return the function from the time of a frame to its place, given the first ``frame``."""
    rate, base = stream.rate, stream.time_base
    began = frame.pts or 0
    late_s = float(began * base) - (container.start_time or 0) / av.time_base
    late = round(late_s * rate) if _GAP_S < late_s < _MAX_GAP_S else 0
    # Times in milliseconds are too coarse for a sample; lengths of frames are multiples of these (Opus: of 2.5 ms).
    grid = 120 if stream.codec_context.name == "opus" else 64
    exact = base * rate <= 1
    phase, scale = frame.samples % grid, float(base * rate)

    def place(time: int) -> int:
        frames = (time - began) * scale
        return late + (round(frames) if exact or not frames else phase + grid * round((frames - phase) / grid))

    return place


def _fill_gaps(
    frames: Iterator[tuple[int | None, _Frame]], stream: Any, first: int, gaps: list[TimeSpan]
) -> Iterator[tuple[int, _Frame]]:
    """Yield the place and samples of each frame, with silence where there is a gap."""
    at: int | None = None
    rate = stream.rate
    told = rate * (_OPUS_PAUSE_S if stream.codec_context.name == "opus" else _GAP_S)
    for place, samples in frames:
        shortest = 0.0 if at is None else _GAP_S * rate
        at = min(first, place or 0) if at is None else at
        gap = 0 if place is None else place - at
        if shortest < gap < _MAX_GAP_S * rate:
            span = TimeSpan(at * 1000 // rate, (at + gap) * 1000 // rate)
            if shortest and gap > told and span not in gaps:
                gaps.append(span)
            for start in range(at, at + gap, rate):
                shape = min(rate, at + gap - start), samples.shape[1]
                yield start, np.full(shape, 128 if samples.dtype == np.uint8 else 0, samples.dtype)
            at += gap
        yield at, samples
        at += len(samples)


def _array(frame: Any, channels: int) -> _Frame:
    """Return the samples of a frame, ``(frames, channels)``, as they are stored."""
    data: _Frame = frame.to_ndarray()
    data = data.T if frame.format.is_planar else data.reshape(frame.samples, -1)
    return data if data.shape[1] == channels else np.repeat(data[:, :1], channels, axis=1)


def _mono(data: _Frame, channel: int | None) -> Samples:
    if data.dtype == np.uint8:
        data = (data.astype(np.float32) - 128) / 128
    elif data.dtype.kind == "i":
        data = data / np.float32(-float(np.iinfo(data.dtype).min))
    return mono(data.astype(np.float32, copy=False), channel)
