"""Voice activity detection with Silero's model, which distinguishes speech from music, traffic and toys.

Neither detector is right alone: by energy, windows open on noise; Silero's model misses soft and hoarse voices. With
``either``, a stretch is speech if one of them hears it, and what the model heard is kept as evidence about the text.

Only the weights of the package ``silero-vad`` are used: a TorchScript file that needs torch and nothing else. The
package itself is never imported, because doing so sets torch to one thread for the whole process, and releases before
6.2 also import torchaudio, which breaks transformers' speech models.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lsa_whisper.audio.speech_energy import (
    FRAME_S,
    EnergyMeter,
    SpeechActivity,
    find_speech,
    loud_frames,
    merge_active_frames,
)
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.library_internals import SileroStream

DETECTORS = ("either", "silero", "energy")
_RATE_HZ = 16_000
_CHUNK = 512  # samples of which the model gives one probability
_ONSET = 0.4  # the model's defaults of 0.5 and 0.35 lose quiet filled pauses and fragments
_OFFSET = 0.25
_lock = threading.Lock()
_numbers: list[int] = []
"""For each recording that is heard now, how many threads torch had before."""


def detect_speech(name: str, blocks: Iterable[npt.NDArray[np.float32]]) -> SpeechActivity:
    """Return the speech in a recording.

    ``name`` is one of :data:`DETECTORS`; the blocks are float32 mono samples at 16 kHz, ``(n,)`` each.

    Raises:
        LsaWhisperError: There is no such detector, or its model is not installed.
    """
    if name not in DETECTORS:
        raise LsaWhisperError(f"voice activity detector {name!r} is not known; choose {', '.join(DETECTORS)}")
    if name == "energy":
        return find_speech(blocks, _RATE_HZ)
    levels = EnergyMeter(_RATE_HZ)
    probabilities = np.fromiter(_probabilities(levels.measure(blocks)), np.float32)
    level = levels.smoothed()
    # The model's chunks last 32 ms, frames 20 ms: a frame gets the probability of the chunk around its middle.
    middles = ((np.arange(len(level)) + 0.5) * FRAME_S * _RATE_HZ / _CHUNK).astype(int)
    chunks = np.minimum(middles, len(probabilities) - 1)
    active = _active(probabilities[chunks] if len(probabilities) else np.zeros(len(level), np.float32))
    voiced = merge_active_frames(active)
    regions = voiced if name == "silero" else merge_active_frames(active | loud_frames(level, active))
    return SpeechActivity(level, regions, voiced)


def _active(probabilities: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which frames are speech: runs above the offset threshold with a frame above the onset threshold.

    >>> _active(np.array([0.3, 0.5, 0.3, 0.1, 0.3], np.float32)).tolist()
    [True, True, True, False, False]
    """
    from scipy.ndimage import label

    runs, _ = label(probabilities > _OFFSET)
    sure = np.unique(runs[probabilities > _ONSET])
    active: npt.NDArray[np.bool_] = np.isin(runs, sure[sure > 0])
    return active


def _probabilities(blocks: Iterable[npt.NDArray[np.float32]]) -> Iterator[float]:
    """Yield the probability of speech in each chunk, the last one padded with silence."""
    import torch

    stream = SileroStream(str(_weights()))  # one for each recording: it has a state
    # The parts are so small that sharing them among threads costs more than it saves.
    with _lock:  # a caller that starts meanwhile must not take the 1 of this one for the number to restore
        _numbers.append(_numbers[0] if _numbers else torch.get_num_threads())
        torch.set_num_threads(1)
    try:
        for chunks in _whole_chunks(blocks):
            with torch.inference_mode():  # not while the caller computes with what is yielded
                found = [*stream.probabilities(torch.from_numpy(chunks))]
            yield from found
    finally:
        with _lock:
            torch.set_num_threads(_numbers.pop())


def _whole_chunks(blocks: Iterable[npt.NDArray[np.float32]]) -> Iterator[npt.NDArray[np.float32]]:
    """Yield the samples again, in blocks of whole chunks."""
    rest = np.zeros(0, np.float32)
    for block in blocks:
        samples = np.concatenate((rest, block))
        complete = len(samples) // _CHUNK * _CHUNK
        yield samples[:complete]
        rest = samples[complete:]
    yield np.pad(rest, (0, -len(rest) % _CHUNK))


def _weights() -> Path:
    """Return the file with the weights, found without importing its package."""
    package = find_spec("silero_vad")
    for folder in (package.submodule_search_locations or ()) if package else ():
        path = Path(folder) / "data" / "silero_vad.jit"
        if path.is_file():
            return path
    raise LsaWhisperError("the package silero-vad, which finds speech, is not complete; install lsa-whisper again")
