"""Recordings on disk, read with soundfile or PyAV."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile as sf
import soxr

from lsa_whisper.audio import container, damaged
from lsa_whisper.audio.samples import MAX_MISSING_S, RATES_HZ, SAMPLE_RATE_HZ, Samples, cancelling_channel, mono
from lsa_whisper.errors import AudioError
from lsa_whisper.system.files import paths_of
from lsa_whisper.timespan import TimeSpan

_SUFFIXES = "wav flac aif aiff mp3 ogg opus m4a mp4 mov webm wma amr aac caf mkv avi mpg mpeg 3gp"
AUDIO_SUFFIXES = tuple(f".{suffix}" for suffix in _SUFFIXES.split())
"""File extensions of recordings, in order of preference."""

_MARGIN_S = 0.1  # context for the resampler, so that a cut equals the same part of the whole file
_BLOCK = 48_000  # frames that are read at a time
_EXCERPTS = 8


@dataclass(frozen=True)
class Recording:
    """Audio on disk. Create it with :meth:`open`, which verifies that the file is readable to its end.

    Attributes:
        path: The file.
        duration_s: Decodable duration in seconds, whatever the header says.
        rate_hz: The file's own sample rate.
        channels: The file's own number of channels.
        decoder: ``soundfile`` or ``av``.
        header_s: Duration in the header, in seconds.
        breaks_off: Whether the file ends before its audio does.
        channel: The channel that is loaded, from 0; ``None`` for the mean of all.
        cancels: Whether the channels cancel each other in the mean, so that :meth:`open` chose the louder one.
        messages: What the decoder said about damage, as far as the file has been read.
        gaps: Where no sound could be read, so that silence stands there, as far as the file has been read.
    """

    path: Path
    duration_s: float
    rate_hz: int
    channels: int
    decoder: str = "soundfile"
    header_s: float = 0.0
    breaks_off: bool = False
    channel: int | None = None
    cancels: bool = False
    messages: list[str] = field(default_factory=list, compare=False, repr=False)
    gaps: list[TimeSpan] = field(default_factory=list, compare=False, repr=False)

    @property
    def remark(self) -> str:
        """A remark if audio is missing; otherwise empty."""
        return damaged.remark(self.duration_s, self.header_s, self.breaks_off, self.gaps, self.messages)

    @classmethod
    def open(cls, path: Path | str, *, channel: int | None = None) -> Recording:
        """Return the recording at ``path``.

        Args:
            path: The file.
            channel: Load this channel alone, from 0. By default the mean of all channels is loaded, or the louder of
                two that cancel each other.

        Raises:
            AudioError: The file is missing, has no readable audio, or has no such channel.
            LsaWhisperError: ``path`` is not a path.
        """
        recording = cls._open(*paths_of([path]))
        if channel is not None:
            if not 0 <= channel < recording.channels:
                raise AudioError(f"{path}: has no channel {channel + 1}; it has {recording.channels}")
            return replace(recording, channel=channel)
        if recording.channels != 2 or (louder := cancelling_channel(excerpts(recording))) is None:
            return recording
        return replace(recording, channel=louder, cancels=True)

    @classmethod
    def _open(cls, path: Path) -> Recording:
        try:
            _verify_file(path)
            messages: list[str] = []
            with damaged.keep_messages(messages if damaged.is_mp3(path) else None):
                by_soundfile = _open_soundfile(path)
            estimated, (lost_pages, _) = damaged.is_headerless_mp3(path), damaged.ogg_damage(path)
        except OSError as error:
            raise AudioError(
                f"{path}: cannot be opened ({error.strerror or error}); check the path and its permissions"
            ) from error
        # libsndfile estimates the length of an mp3 without a Xing header, and stops there or at damage.
        early = by_soundfile and by_soundfile.header_s > by_soundfile.duration_s + 0.1 and not by_soundfile.breaks_off
        by_av = _open_container(path) if estimated or lost_pages or early or not by_soundfile else None
        if by_soundfile:
            differs = by_av and (lost_pages or abs(by_av.duration_s - by_soundfile.duration_s) >= 0.2)
            recording = by_av if by_av and differs else by_soundfile
            return replace(recording, header_s=0.0 if estimated else by_soundfile.header_s, messages=messages)
        if by_av:
            return replace(by_av, messages=messages)
        raise AudioError(
            f"{path}: no audio can be read from it (damaged, empty, or not an audio file); convert or copy it again"
        )

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
        return _cut(self, span)[: 16 * span.duration_ms]

    def stream(self, block_s: float = 30.0) -> Iterator[Samples]:
        """Yield the file in blocks of ``block_s`` seconds (the last may be shorter), one in memory at a time.

        Raises:
            AudioError: The file can no longer be read.
        """
        size = max(1, round(block_s * SAMPLE_RATE_HZ))
        pending: list[Samples] = []
        count = 0
        for chunk in _chunks(self):
            pending.append(chunk)
            count += len(chunk)
            if count >= size:
                block = np.concatenate(pending)
                whole = count // size * size
                for start in range(0, whole, size):
                    yield block[start : start + size]
                pending, count = [block[whole:]], count - whole
        if count:
            yield np.concatenate(pending)


def _verify_file(path: Path) -> None:
    """Raise an AudioError if ``path`` is missing, no file or empty, and an OSError if it is not readable."""
    if not path.exists():
        raise AudioError(f"{path}: no such recording; check the path and the file's ending")
    if not path.is_file():
        raise AudioError(f"{path}: this is not a file; name a recording")
    with path.open("rb") as file:
        if not file.read(1):
            raise AudioError(f"{path}: the file is empty (0 bytes); copy it again from its source")


def _sound_file(path: Path) -> sf.SoundFile:
    """Open ``path`` by its bytes, because soundfile cannot encode names that are not UTF-8 (never on Windows)."""
    return sf.SoundFile(path if os.name == "nt" else os.fsencode(path))


def _open_soundfile(path: Path) -> Recording | None:
    """Return the recording as read by soundfile, or ``None`` if soundfile cannot read it."""
    try:
        with _sound_file(path) as file:
            rate, channels, frames = file.samplerate, file.channels, file.frames
            if frames < 1 or not RATES_HZ[0] <= rate <= RATES_HZ[1]:
                return None
            header_frames = frames
            if not _last_frame_reads(file):
                frames = _count_frames(path)
    except sf.LibsndfileError:
        return None
    if frames < 1:
        return None
    missing = damaged.missing_share(path)
    header_s = header_frames / rate / (1 - missing) if missing < 1 else header_frames / rate
    return Recording(
        path, frames / rate, rate, channels, header_s=header_s, breaks_off=missing > 0 or damaged.ogg_damage(path)[1]
    )


def _last_frame_reads(file: sf.SoundFile) -> bool:
    try:
        file.seek(file.frames - 1)
        return len(file.read(1, dtype="float32")) == 1
    except (sf.LibsndfileError, ValueError):  # the place after an unsuccessful seek may be past the end
        return False


def _count_frames(path: Path) -> int:
    """Return the number of decodable frames (the header of a truncated mp3 or flac claims the full length)."""
    count = 0
    with _sound_file(path) as file:
        try:
            while length := len(file.read(4096, dtype="float32")):
                count += length
        except (sf.LibsndfileError, ValueError):
            pass
    return count


def _cut(recording: Recording, span: TimeSpan) -> Samples:
    rate = recording.rate_hz
    # Reading starts at a frame that coincides with a 16 kHz sample, so that cuts and the whole file align.
    grid = rate // np.gcd(rate, SAMPLE_RATE_HZ)
    first = max(0, int((span.start_ms / 1000 - _MARGIN_S) * rate)) // grid * grid
    last = min(int((span.end_ms / 1000 + _MARGIN_S) * rate) + 1, round(recording.duration_s * rate))
    samples = np.concatenate([np.zeros(0, np.float32), *_read(recording, first, last)])
    if rate != SAMPLE_RATE_HZ:
        samples = soxr.resample(samples, rate, SAMPLE_RATE_HZ).astype(np.float32, copy=False)
    return samples[span.start_ms * 16 - first * SAMPLE_RATE_HZ // rate :]


def _chunks(recording: Recording) -> Iterator[Samples]:
    rate = recording.rate_hz
    blocks = _read(recording, 0, round(recording.duration_s * rate))
    if rate == SAMPLE_RATE_HZ:
        yield from blocks
        return
    resampler = soxr.ResampleStream(rate, SAMPLE_RATE_HZ, 1, dtype="float32")
    for block in blocks:
        yield resampler.resample_chunk(block)
    yield resampler.resample_chunk(np.zeros(0, np.float32), last=True)


def _read(recording: Recording, first: int, last: int) -> Iterator[Samples]:
    """Yield the frames from ``first`` to ``last`` at the file's own rate, in blocks."""
    at = first
    decoders = (_decode_soundfile, _decode_container)[recording.decoder == "av" :]
    for decode in decoders:  # PyAV goes on after a damaged part, where soundfile stops
        try:
            for block in decode(recording, at, last):
                yield block[: last - at]
                at += len(block)
                if at >= last:
                    return
        except (sf.LibsndfileError, *container.ERRORS) as error:
            reason = str(error).removeprefix("Error : ").removesuffix(".")
            if decode == decoders[-1]:
                raise _unreadable_error(recording, f"at {at / recording.rate_hz:.1f} s: {reason}") from error
            recording.messages.append(f"damaged after {at / recording.rate_hz:.1f} s: {reason}")
    if last - at > MAX_MISSING_S * recording.rate_hz:
        raise _unreadable_error(recording, f"it breaks off at {at / recording.rate_hz:.1f} s")


def _decode_container(recording: Recording, first: int, _: int) -> Iterator[Samples]:
    return container.decode_container(recording.path, first, recording.channel, recording.gaps)


def _decode_soundfile(recording: Recording, first: int, last: int) -> Iterator[Samples]:
    messages = recording.messages if damaged.is_mp3(recording.path) else None
    with damaged.keep_messages(messages):
        source = _sound_file(recording.path)
    with source as file:
        file.seek(first)
        for at in range(first, last, _BLOCK):
            with damaged.keep_messages(messages):
                samples = mono(file.read(min(_BLOCK, last - at), dtype="float32"), recording.channel)
            if not len(samples):
                return
            yield samples


def _unreadable_error(recording: Recording, reason: str) -> AudioError:
    """Return the error for a recording that was opened but is not readable to its end."""
    return AudioError(
        f"{recording.path}: cannot be read to its end ({reason}); it is damaged, or was moved or changed: copy it again"
    )


def _open_container(path: Path) -> Recording | None:
    """Return the recording as read by PyAV, or ``None`` if PyAV finds no audio."""
    if not (stream := container.probe(path)):
        return None
    duration_s = stream.frames / stream.rate_hz
    return Recording(path, duration_s, stream.rate_hz, stream.channels, "av", stream.header_s)


def excerpts(recording: Recording) -> Iterator[npt.NDArray[np.float32]]:
    """Yield some seconds of all channels of a recording, from everywhere in it."""
    length_ms = min(1000, int(recording.duration_s * 1000))
    for share in range(_EXCERPTS) if length_ms else ():
        start_ms = int((recording.duration_s * 1000 - length_ms) * share / (_EXCERPTS - 1))
        span = TimeSpan(start_ms, start_ms + length_ms)
        try:
            sides = [replace(recording, channel=channel).load(span) for channel in range(recording.channels)]
        except AudioError:  # damaged there; reported when the recording is read
            continue
        shorter = min(map(len, sides))
        yield np.stack([side[:shorter] for side in sides], axis=1)
