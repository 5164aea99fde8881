"""Where somebody speaks: voice activity from the log-energy of the sound, in constant memory.

Energy is enough for what windows need (cut in silence, leave long silences out) and needs no model. The threshold
adapts to the room: the noise floor is measured around each moment, the level of speech over the whole recording.
It errs on the side of hearing too much: a window more costs a second, a word lost is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lsa_whisper.timespan import TimeSpan

FRAME_S = 0.02
_SILENCE_DB = -80.0
_FLOOR_AROUND_S = 60.0
_LEAST_RANGE_DB = 8.0  # white noise or a hum spans 1 to 3 dB, speech 20 and more
_ABOVE_FLOOR = 0.25  # share of the way from the floor up to the level of speech
_GAP_S = 0.3
_BURST_S = 0.06  # "b- b- ball": a fragment is short, a click is shorter


@dataclass(frozen=True)
class SpeechActivity:
    """What was found in a recording.

    Attributes:
        level_db: smoothed log-energy, one value for each ``FRAME_S`` of sound.
        regions: half-open stretches of speech in frames, in order, with silence between them.
    """

    level_db: npt.NDArray[np.float32]
    regions: tuple[tuple[int, int], ...]

    def within(self, span: TimeSpan) -> tuple[tuple[float, float], ...]:
        """Return where in a span somebody speaks, in seconds after its start.

        >>> SpeechActivity(np.zeros(500, np.float32), ((0, 100), (150, 400))).within(TimeSpan(1000, 4000))
        ((0.0, 1.0), (2.0, 3.0))
        """
        regions = (TimeSpan(round(start * FRAME_S * 1000), round(end * FRAME_S * 1000)) for start, end in self.regions)
        inside = (each & span for each in regions)
        begin_ms = span.start_ms
        return tuple(((each.start_ms - begin_ms) / 1000, (each.end_ms - begin_ms) / 1000) for each in inside if each)


def find_speech(blocks: Iterable[npt.NDArray[np.float32]], rate_hz: int) -> SpeechActivity:
    """Return the stretches of speech in a recording given block by block.

    Args:
        blocks: float32 mono samples, ``(n,)`` each.
        rate_hz: their sample rate.

    >>> tone = 0.3 * np.sin(2 * np.pi * 200 * np.arange(16_000) / 16_000).astype(np.float32)
    >>> find_speech([np.zeros(16_000, np.float32), tone, np.zeros(16_000, np.float32)], 16_000).regions
    ((49, 101),)
    """
    levels = FrameLevels(rate_hz)
    for _ in levels.passing(blocks):
        pass
    level = levels.smoothed()
    threshold = _threshold_db(level) if len(level) else None
    return SpeechActivity(level, merge_active_frames(level > threshold) if threshold is not None else ())


class FrameLevels:
    """Measures the log-energy of each frame while the sound passes through to another listener."""

    def __init__(self, rate_hz: int):
        """Measure sound of ``rate_hz``."""
        self._size = round(rate_hz * FRAME_S)
        self._levels: list[npt.NDArray[np.float32]] = []

    def passing(self, blocks: Iterable[npt.NDArray[np.float32]]) -> Iterator[npt.NDArray[np.float32]]:
        """Yield the blocks as they are; a first difference takes hum and offset out of what is measured."""
        rest, last = np.zeros(0, np.float32), 0.0
        for block in blocks:
            if not len(block):
                continue
            sharpened = block - 0.97 * np.concatenate(([last], block[:-1])).astype(np.float32)
            last = float(block[-1])
            samples = np.concatenate((rest, sharpened))
            whole = len(samples) // self._size * self._size
            self._levels.append(_power_db(samples[:whole].reshape(-1, self._size)))
            rest = samples[whole:]
            yield block
        if len(rest):
            self._levels.append(_power_db(rest[None]))

    def smoothed(self) -> npt.NDArray[np.float32]:
        """Return the level of each frame in dB, averaged with its neighbours."""
        from scipy.ndimage import uniform_filter1d

        level = np.concatenate(self._levels) if self._levels else np.zeros(0, np.float32)
        smooth: npt.NDArray[np.float32] = uniform_filter1d(level, 3, mode="nearest") if len(level) else level
        return smooth


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


def merge_active_frames(active: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return runs of active frames, short gaps bridged and clicks left out."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], active.astype(np.int8), [0]))))
    regions: list[list[int]] = []
    for start, end in edges.reshape(-1, 2).tolist():
        if regions and (start - regions[-1][1]) * FRAME_S < _GAP_S:
            regions[-1][1] = end
        else:
            regions.append([start, end])
    return tuple((start, end) for start, end in regions if (end - start) * FRAME_S > _BURST_S)
