"""Recordings that will disappoint: silent, far too quiet, clipped, with opposite phases, or cut off.

Some excerpts of each recording are read, so that thousands of recordings are checked in minutes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

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


def recording_problems(recording: Recording) -> list[str]:
    """Return what is wrong with ``recording``, each in a sentence; an empty list if nothing is."""
    problems = [recording.remark] if recording.remark else []
    excerpts = list(_excerpts(recording))
    if not excerpts:
        return problems
    peak = max(float(np.abs(each).max(initial=0.0)) for each in excerpts)
    if peak < _SILENT_PEAK:
        return [*problems, "it is silent; check the recorder's input, or the export"]
    if recording.cancels:
        problems.append("its two channels have opposite phases, so only the louder one is used")
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
