"""Recordings that will disappoint: silent, far too quiet, clipped, with opposite phases, or cut off.

Some excerpts of each recording are read, so that thousands of recordings are checked in minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import numpy.typing as npt
import soundfile as sf

from lsa_whisper.audio import Recording

_EXCERPTS = 12
_EXCERPT_S = 2.0
_SILENT_PEAK = 0.001
"""-60 dB: no speech is that quiet."""
_QUIET_RMS = 0.002
"""-54 dB in the loudest excerpt: speech is 30 dB below what a recorder gives at a usual level."""
_CLIPPED_SHARE = 0.01
_CLIPPED_LEVEL = 0.999
_OGG_PAGE = 1 << 17
"""A page of Ogg has at most 65,307 bytes."""
_OPPOSITE = -0.9
"""Correlation of the two channels; their mean, which is what the model gets, is close to nothing."""


def recording_problems(recording: Recording) -> list[str]:
    """Return what is wrong with ``recording``, each in a sentence; an empty list if nothing is."""
    problems = [recording.remark] if recording.remark else []
    if not problems and (missing := _missing(recording)):
        problems.append(f"it is cut off: {missing}")
    excerpts = list(_excerpts(recording))
    if not excerpts:
        return problems
    peak = max(float(np.abs(each).max(initial=0.0)) for each in excerpts)
    if peak < _SILENT_PEAK:
        return [*problems, "it is silent; check the recorder's input, or the export"]
    if opposite := _opposite(excerpts):
        problems.append(
            f"its two channels have opposite phases (correlation {opposite:.2f}), so their mean is silent; keep one"
        )
    loudest = max(float(np.sqrt(np.mean(np.square(each)))) for each in excerpts)
    if loudest < _QUIET_RMS:
        problems.append(f"it is far too quiet ({20 * np.log10(loudest):.0f} dB in its loudest part); amplify it")
    clipped = float(np.mean(np.concatenate([np.abs(each).max(axis=1) >= _CLIPPED_LEVEL for each in excerpts])))
    if clipped > _CLIPPED_SHARE:
        problems.append(f"{clipped:.0%} of it is clipped; record it again at a lower level if you can")
    return problems


def _excerpts(recording: Recording) -> Iterator[npt.NDArray[np.float32]]:
    """Yield excerpts ``(frames, channels)`` that are spread over the recording."""
    if recording.decoder != "soundfile":
        for block in recording.stream(_EXCERPT_S):
            yield block[:, None]
        return
    frames, size = round(recording.duration_s * recording.rate_hz), round(_EXCERPT_S * recording.rate_hz)
    starts = np.linspace(0, max(0, frames - size), min(_EXCERPTS, max(1, frames // max(1, size)))).astype(int)
    try:
        with sf.SoundFile(recording.path if os.name == "nt" else os.fsencode(recording.path)) as file:
            for start in dict.fromkeys(starts.tolist()):
                file.seek(start)
                samples = np.nan_to_num(file.read(size, dtype="float32", always_2d=True))
                if len(samples):
                    yield samples
    except (sf.LibsndfileError, OSError):  # reported when it is read as a whole
        return


def _opposite(excerpts: list[npt.NDArray[np.float32]]) -> float:
    """Return the correlation of two channels if it is close to -1, else 0."""
    if excerpts[0].shape[1] != 2:
        return 0.0
    left, right = np.concatenate(excerpts).astype(np.float64).T
    power = float(np.sqrt(np.sum(left**2) * np.sum(right**2)))
    correlation = float(np.sum(left * right)) / power if power else 0.0
    return correlation if correlation < _OPPOSITE else 0.0


def _missing(recording: Recording) -> str:
    """Return what a file lacks by its own header, which libsndfile passes over; empty if it is complete."""
    path = Path(recording.path)
    try:
        with path.open("rb") as file:
            head = file.read(12)
            file.seek(max(0, path.stat().st_size - _OGG_PAGE))
            tail = file.read()
            claimed = _claimed_bytes(file, head)
    except OSError:  # reported when it is read as a whole
        return ""
    if head[:4] == b"OggS":
        last = tail.rfind(b"OggS")
        ended = last >= 0 and len(tail) > last + 5 and tail[last + 5] & 4
        return "" if ended else "its last page is missing"
    size = path.stat().st_size
    missing_s = (claimed - size) / size * recording.duration_s
    return f"its header claims {missing_s:.1f} s more than the file has" if missing_s > 0.5 else ""


def _claimed_bytes(file: BinaryIO, head: bytes) -> int:
    """Return where the sound of a wav or aiff file ends by its header; 0 if the header does not say."""
    order: Literal["little", "big"] = "little" if head[:4] == b"RIFF" else "big"
    if head[:4] not in (b"RIFF", b"FORM"):
        return 0
    at, size = 12, file.seek(0, os.SEEK_END)
    while at + 8 <= size:
        file.seek(at)
        name, length = file.read(4), int.from_bytes(file.read(4), order)
        if name in (b"data", b"SSND"):
            streamed = length >= 0xFFFFFFFF - 8  # the program did not know the length in advance
            return 0 if streamed else at + 8 + length
        at += 8 + length + length % 2
    return 0
