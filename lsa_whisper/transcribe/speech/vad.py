"""Where somebody speaks, asked of Silero's voice activity model: it tells speech from music, traffic and toys.

Only the weights of the package ``silero-vad`` are used: a TorchScript file that needs torch and nothing else. The
package itself is never imported, because doing so sets torch to one thread for the whole process, and releases before
6.2 also import torchaudio, which breaks transformers' speech models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lsa_whisper.errors import LsaWhisperError, MissingExtraError
from lsa_whisper.transcribe.speech.energy import FRAME_S, FrameLevels, SpeechActivity, find_speech, merge_active_frames

DETECTORS = ("auto", "silero", "energy")
_RATE_HZ = 16_000
_CHUNK = 512  # samples the model hears at once; it remembers those before
_BEGIN = 0.4  # its authors' 0.5 and 0.35 lose quiet fillers and fragments, which are what we are here for
_GO_ON = 0.25


def resolve(name: str) -> str:
    """Return the detector that ``auto`` stands for here: ``silero`` where it is installed, else ``energy``.

    Raises:
        MissingExtraError: ``silero`` is asked for and not installed.
    """
    if name == "energy" or (name == "auto" and _weights() is None):
        return "energy"
    if _weights() is None:
        raise MissingExtraError("finding speech with silero", "silero-vad", "vad")
    return "silero"


def detect_speech(name: str, blocks: Iterable[npt.NDArray[np.float32]], rate_hz: int) -> SpeechActivity:
    """Return the stretches of speech in a recording.

    Args:
        name: ``silero`` or ``energy``, as :func:`resolve` gives it.
        blocks: float32 mono samples, ``(n,)`` each.
        rate_hz: their sample rate.
    """
    if name == "energy":
        return find_speech(blocks, rate_hz)
    if rate_hz != _RATE_HZ:
        raise LsaWhisperError(f"silero hears {_RATE_HZ} Hz, not {rate_hz}; use --vad energy")
    levels = FrameLevels(rate_hz)
    chances = np.fromiter(_chances(levels.passing(blocks)), np.float32)
    level = levels.smoothed()
    # The model's chunks last 32 ms, our frames 20: a frame has the chance of the chunk its middle lies in.
    middles = ((np.arange(len(level)) + 0.5) * FRAME_S * _RATE_HZ / _CHUNK).astype(int)
    by_frame = chances[np.minimum(middles, len(chances) - 1)] if len(chances) else np.zeros(len(level), np.float32)
    return SpeechActivity(level, merge_active_frames(_active(by_frame)))


def _active(chances: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which frames are speech: those above the lower threshold that hang together with one above the upper.

    >>> _active(np.array([0.3, 0.5, 0.3, 0.1, 0.3], np.float32)).tolist()
    [True, True, True, False, False]
    """
    from scipy.ndimage import label

    runs, _ = label(chances > _GO_ON)
    sure = np.unique(runs[chances > _BEGIN])
    active: npt.NDArray[np.bool_] = np.isin(runs, sure[sure > 0])
    return active


def _chances(blocks: Iterable[npt.NDArray[np.float32]]) -> Iterator[float]:
    """Yield the probability of speech in each chunk, the last one padded with silence."""
    import torch

    model = _load()
    threads = torch.get_num_threads()
    # A chunk is so little work that sharing it among threads costs more than it saves.
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            for chunk in _chunks(blocks):
                yield model(torch.from_numpy(chunk), _RATE_HZ).item()
    finally:
        torch.set_num_threads(threads)


def _chunks(blocks: Iterable[npt.NDArray[np.float32]]) -> Iterator[npt.NDArray[np.float32]]:
    rest = np.zeros(0, np.float32)
    for block in blocks:
        samples = np.concatenate((rest, block))
        whole = len(samples) // _CHUNK * _CHUNK
        yield from samples[:whole].reshape(-1, _CHUNK)
        rest = samples[whole:]
    if len(rest):
        yield np.pad(rest, (0, _CHUNK - len(rest)))


def _load() -> Any:
    import torch

    weights = _weights()
    if weights is None:
        raise MissingExtraError("finding speech with silero", "silero-vad", "vad")
    # Loaded for each recording: the model remembers what it heard, and two recordings must not share that.
    return torch.jit.load(str(weights), map_location="cpu").eval()


def _weights() -> Path | None:
    """Return the file with the weights, found without importing the package that holds it."""
    found = find_spec("silero_vad")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / "data" / "silero_vad.jit"
        if path.is_file():
            return path
    return None
