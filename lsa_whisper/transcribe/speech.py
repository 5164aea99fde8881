"""Where somebody speaks: voice activity from the log-energy of the sound, in constant memory.

Energy is enough for what windows need (cut in silence, leave long silences out) and needs no model. The threshold
adapts to the room: the noise floor is measured around each moment, the level of speech over the whole recording.
It errs on the side of hearing too much: a window more costs a second, a word lost is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FRAME_S = 0.02
_SILENCE_DB = -80.0
_FLOOR_AROUND_S = 60.0
_LEAST_RANGE_DB = 8.0  # white noise or a hum spans 1 to 3 dB, speech 20 and more
_ABOVE_FLOOR = 0.25  # share of the way from the floor up to the level of speech
_GAP_S = 0.3
_BURST_S = 0.06  # "b- b- ball": a fragment is short, a click is shorter


@dataclass(frozen=True)
class Speech:
    """What was found in a recording.

    Attributes:
        level_db: smoothed log-energy, one value for each ``FRAME_S`` of sound.
        regions: half-open stretches of speech in frames, in order, with silence between them.
    """

    level_db: npt.NDArray[np.float32]
    regions: tuple[tuple[int, int], ...]


def find_speech(blocks: Iterable[npt.NDArray[np.float32]], rate_hz: int) -> Speech:
    """Return the stretches of speech in a recording given block by block.

    Args:
        blocks: float32 mono samples, ``(n,)`` each.
        rate_hz: their sample rate.

    >>> tone = 0.3 * np.sin(2 * np.pi * 200 * np.arange(16_000) / 16_000).astype(np.float32)
    >>> find_speech([np.zeros(16_000, np.float32), tone, np.zeros(16_000, np.float32)], 16_000).regions
    ((49, 101),)
    """
    from scipy.ndimage import uniform_filter1d

    level = _levels_db(blocks, rate_hz)
    if not len(level):
        return Speech(level, ())
    level = uniform_filter1d(level, 3, mode="nearest")
    threshold = _threshold_db(level)
    return Speech(level, _regions(level > threshold) if threshold is not None else ())


def _levels_db(blocks: Iterable[npt.NDArray[np.float32]], rate_hz: int) -> npt.NDArray[np.float32]:
    """Return the log-energy of each frame after a first difference, which takes hum and offset away."""
    size = round(rate_hz * FRAME_S)
    levels, rest, last = [], np.zeros(0, np.float32), 0.0
    for block in blocks:
        if not len(block):
            continue
        sharpened = block - 0.97 * np.concatenate(([last], block[:-1])).astype(np.float32)
        last = float(block[-1])
        samples = np.concatenate((rest, sharpened))
        whole = len(samples) // size * size
        levels.append(_power_db(samples[:whole].reshape(-1, size)))
        rest = samples[whole:]
    if len(rest):
        levels.append(_power_db(rest[None]))
    return np.concatenate(levels) if levels else np.zeros(0, np.float32)


def _power_db(frames: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    power = np.square(frames, dtype=np.float64).mean(axis=1) if len(frames) else np.zeros(0)
    return np.maximum(10 * np.log10(power + 1e-12), _SILENCE_DB).astype(np.float32)


def _threshold_db(level: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
    """Return the level above which a frame is speech, for each frame; ``None`` when nothing stands out."""
    from scipy.ndimage import percentile_filter

    speech = float(np.percentile(level, 98))
    if speech - float(np.percentile(level, 2)) < _LEAST_RANGE_DB:
        return None
    # One floor per second is enough and keeps the filter quick for hours of sound.
    seconds = round(1 / FRAME_S)
    padded = np.pad(level, (0, -len(level) % seconds), mode="edge").reshape(-1, seconds)
    quiet = np.percentile(padded, 10, axis=1)
    floor = percentile_filter(quiet, 10, size=round(_FLOOR_AROUND_S) + 1, mode="nearest")
    # A minute without a pause has no floor of its own: never let it rise above half-way to speech.
    floor = np.minimum(np.repeat(floor, seconds)[: len(level)], (speech + float(np.percentile(level, 2))) / 2)
    above = np.maximum(_ABOVE_FLOOR * (speech - floor), _LEAST_RANGE_DB / 2)
    threshold: npt.NDArray[np.float32] = (floor + above).astype(np.float32)
    return threshold


def _regions(active: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return runs of active frames, short gaps bridged and clicks left out."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], active.astype(np.int8), [0]))))
    regions: list[list[int]] = []
    for start, end in edges.reshape(-1, 2).tolist():
        if regions and (start - regions[-1][1]) * FRAME_S < _GAP_S:
            regions[-1][1] = end
        else:
            regions.append([start, end])
    return tuple((start, end) for start, end in regions if (end - start) * FRAME_S > _BURST_S)
