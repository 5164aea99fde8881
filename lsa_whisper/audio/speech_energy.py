"""Voice activity detection from the log-energy of the audio, in constant memory.

Energy suffices for windows (cut in silence, skip long silences) and needs no model. The threshold adapts to the
recording: the noise floor is measured around each moment, the level of speech over the whole recording. It prefers
false alarms: an additional window costs a second, a missed word is lost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lsa_whisper.timespan import TimeSpan

FRAME_S = 0.02
_NOTHING_DB = -160.0
_SILENCE_DB = -80.0
_RANGE_DB = 55.0  # quieter than speech by more is silence; in quiet recordings, that is lower than _SILENCE_DB
_QUIET_DB = -52.0  # speech at this level or lower is raised to _RAISED_DB before it is decoded
_RAISED_DB = -30.0
_FLOOR_AROUND_S = 60.0
_MIN_RANGE_DB = 8.0  # white noise or a hum spans 1 to 3 dB, speech at least 20
_ABOVE_FLOOR = 0.25  # threshold, as a fraction of the distance from the floor to the level of speech
_SILENCE_AROUND_S = 15.0
_SILENCE_RANGE_DB = 6.0  # a frame this far below the threshold is certainly silent
_MIN_VOICED_S = 2.0  # less is not enough to know the level of speech
_GAP_S = 0.3
_BURST_S = 0.06  # "b- b- ball": a fragment is short, a click is shorter


@dataclass(frozen=True)
class SpeechActivity:
    """The speech in a recording.

    Attributes:
        level_db: Smoothed log-energy, one value per frame of ``FRAME_S``.
        regions: Half-open ranges of frames with speech, in order, with silence between them.
        voiced: Those in which a model heard a voice; ``None`` where energy alone was measured.
    """

    level_db: npt.NDArray[np.float32]
    regions: tuple[tuple[int, int], ...]
    voiced: tuple[tuple[int, int], ...] | None = None

    @cached_property
    def speech_db(self) -> float | None:
        """The level of the speech: below it are 98 % of the recording; ``None`` without sound."""
        loud = float(np.percentile(self.level_db, 98)) if len(self.level_db) else _NOTHING_DB
        return loud if loud > _NOTHING_DB + 1 else None

    @cached_property
    def gain(self) -> float:
        """The factor for the samples of a quiet recording, at whose level models lose words; 1 for others.

        >>> round(SpeechActivity(np.full(50, -50, np.float32), ()).gain)
        1
        >>> round(SpeechActivity(np.full(50, -70, np.float32), ()).gain)
        100
        """
        level = self.speech_db
        return 1.0 if level is None or level > _QUIET_DB else float(10 ** ((_RAISED_DB - level) / 20))

    def relative_db(self, span: TimeSpan) -> float:
        """Return the level of a span's louder sounds (below it are 90 %), compared with that of the speech.

        >>> level_db = np.repeat(np.array([-60, -20], np.float32), 50)
        >>> SpeechActivity(level_db, ()).relative_db(TimeSpan(0, 1000))
        -40.0
        """
        inside = self.level_db[round(span.start_ms / 1000 / FRAME_S) : round(span.end_ms / 1000 / FRAME_S)]
        speech_db = self.speech_db
        return 0.0 if speech_db is None or not len(inside) else float(np.percentile(inside, 90)) - speech_db

    def within(self, span: TimeSpan) -> tuple[tuple[float, float], ...]:
        """Return the speech within a span, in seconds from its start.

        >>> SpeechActivity(np.zeros(500, np.float32), ((0, 100), (150, 400))).within(TimeSpan(1000, 4000))
        ((0.0, 1.0), (2.0, 3.0))
        """
        return _within(self.regions, span)

    def voiced_within(self, span: TimeSpan) -> tuple[tuple[float, float], ...] | None:
        """Return where a model heard a voice within a span, in seconds from its start; ``None`` if none listened."""
        return None if self.voiced is None else _within(self.voiced, span)

    def silence(self, span: TimeSpan) -> npt.NDArray[np.float32]:
        """Return how silent each frame of a span is, from 0 (speech) to 1, compared with the sound around it.

        >>> level_db = np.repeat(np.array([-60, -20, -60], np.float32), 50)
        >>> SpeechActivity(level_db, ((50, 100),)).silence(TimeSpan(980, 1040)).tolist()
        [1.0, 0.0, 0.0]
        """
        first, last = round(span.start_ms / 1000 / FRAME_S), round(span.end_ms / 1000 / FRAME_S)
        margin = round(_SILENCE_AROUND_S / FRAME_S)
        around = self.level_db[max(0, first - margin) : last + margin]
        if not len(around):
            return np.zeros(max(0, last - first), np.float32)
        quiet, loud = np.percentile(around, (5, 98))
        below = quiet + _ABOVE_FLOOR * (loud - quiet) - self.level_db[first:last]
        degree: npt.NDArray[np.float32] = np.clip(below / _SILENCE_RANGE_DB, 0.0, 1.0).astype(np.float32)
        return degree

    def inside(self, span: TimeSpan) -> SpeechActivity:
        """Return the same recording with the speech inside a span only.

        >>> SpeechActivity(np.zeros(500, np.float32), ((0, 100), (150, 400))).inside(TimeSpan(1000, 4000)).regions
        ((50, 100), (150, 200))
        """
        first, last = round(span.start_ms / 1000 / FRAME_S), round(span.end_ms / 1000 / FRAME_S)
        parts = ((max(start, first), min(end, last)) for start, end in self.regions)
        return SpeechActivity(self.level_db, tuple((start, end) for start, end in parts if start < end), self.voiced)


def _within(regions: tuple[tuple[int, int], ...], span: TimeSpan) -> tuple[tuple[float, float], ...]:
    """Return the parts of regions, which are in order, within a span, in seconds from its start."""
    begin_ms, frame_ms = span.start_ms, 1000 * FRAME_S
    first = bisect_right(regions, begin_ms / frame_ms, key=lambda region: region[1])
    last = bisect_left(regions, span.end_ms / frame_ms, lo=first, key=lambda region: region[0])
    near = (TimeSpan(round(start * frame_ms), round(end * frame_ms)) for start, end in regions[first:last])
    inside = (part & span for part in near)
    return tuple(((part.start_ms - begin_ms) / 1000, (part.end_ms - begin_ms) / 1000) for part in inside if part)


def find_speech(blocks: Iterable[npt.NDArray[np.float32]], rate_hz: int) -> SpeechActivity:
    """Return the speech in a recording given block by block.

    The blocks are float32 mono samples, ``(n,)`` each.

    >>> tone = 0.3 * np.sin(2 * np.pi * 200 * np.arange(16_000) / 16_000).astype(np.float32)
    >>> find_speech([np.zeros(16_000, np.float32), tone, np.zeros(16_000, np.float32)], 16_000).regions
    ((49, 101),)
    """
    level = _levels_db(blocks, rate_hz)
    return SpeechActivity(level, merge_active_frames(loud_frames(level)))


def loud_frames(
    level_db: npt.NDArray[np.float32], voiced: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.bool_]:
    """Return which frames are speech by their level.

    The level is the smoothed log-energy of each frame. If the frames in which a model heard a voice are softer than the
    rest, their level is that of speech, so that a soft voice is still speech beside applause.
    """
    is_known = voiced is not None and voiced.sum() * FRAME_S >= _MIN_VOICED_S
    threshold = _threshold_db(level_db, level_db[voiced] if is_known else level_db) if len(level_db) else None
    return np.zeros(len(level_db), bool) if threshold is None else level_db > threshold


def silence_of(samples: npt.NDArray[np.float32], rate_hz: int) -> npt.NDArray[np.float32]:
    """Return how silent each frame of a window is, from 0 (speech) to 1, compared with the rest of the window.

    The samples are float32, mono, ``(n,)``.

    >>> tone = 0.3 * np.sin(2 * np.pi * 200 * np.arange(1600) / 16_000).astype(np.float32)
    >>> silence_of(np.concatenate([tone, np.zeros(1600, np.float32)]), 16_000).round().tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    """
    level = _levels_db([samples], rate_hz)
    return SpeechActivity(level, ()).silence(TimeSpan(0, round(1000 * FRAME_S * len(level))))


def _levels_db(blocks: Iterable[npt.NDArray[np.float32]], rate_hz: int) -> npt.NDArray[np.float32]:
    levels = EnergyMeter(rate_hz)
    deque(levels.measure(blocks), maxlen=0)  # only passes through
    return levels.smoothed()


class EnergyMeter:
    """Measures the log-energy of each frame while the audio passes through to another consumer."""

    def __init__(self, rate_hz: int):
        """Measure audio at ``rate_hz``."""
        self._size = round(rate_hz * FRAME_S)
        self._levels: list[npt.NDArray[np.float32]] = []

    def measure(self, blocks: Iterable[npt.NDArray[np.float32]]) -> Iterator[npt.NDArray[np.float32]]:
        """Yield the blocks unchanged; a first difference removes hum and offset from the measurement."""
        rest, last = np.zeros(0, np.float32), 0.0
        for block in blocks:
            if not len(block):
                continue
            sharpened = block - 0.97 * np.concatenate(([last], block[:-1])).astype(np.float32)
            last = float(block[-1])
            samples = np.concatenate((rest, sharpened))
            complete = len(samples) // self._size * self._size
            self._levels.append(_power_db(samples[:complete].reshape(-1, self._size)))
            rest = samples[complete:]
            yield block
        if len(rest):
            self._levels.append(_power_db(rest[None]))

    def smoothed(self) -> npt.NDArray[np.float32]:
        """Return the level of each frame in dB, averaged with its neighbors."""
        from scipy.ndimage import uniform_filter1d

        level = np.concatenate(self._levels) if self._levels else np.zeros(0, np.float32)
        if len(level):
            level = np.maximum(level, min(_SILENCE_DB, max(_NOTHING_DB, float(np.percentile(level, 98)) - _RANGE_DB)))
        smooth: npt.NDArray[np.float32] = uniform_filter1d(level, 3, mode="nearest") if len(level) else level
        return smooth


def _power_db(frames: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    power = np.square(frames, dtype=np.float64).mean(axis=1) if len(frames) else np.zeros(0)
    level_db: npt.NDArray[np.float32] = (10 * np.log10(power + 10 ** (_NOTHING_DB / 10))).astype(np.float32)
    return level_db


def _threshold_db(level: npt.NDArray[np.float32], spoken: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
    """Return the level above which each frame is speech, from that of ``spoken`` ones; ``None`` without speech."""
    from scipy.ndimage import percentile_filter

    speech = min(float(np.percentile(levels, 98)) for levels in (level, spoken))
    if speech - float(np.percentile(level, 2)) < _MIN_RANGE_DB:
        return None
    # One floor per second is enough and keeps the filter fast for hours of audio.
    seconds = round(1 / FRAME_S)
    padded = np.pad(level, (0, -len(level) % seconds), mode="edge").reshape(-1, seconds)
    quiet = np.percentile(padded, 10, axis=1)
    floor = percentile_filter(quiet, 10, size=round(_FLOOR_AROUND_S) + 1, mode="nearest")
    # A minute without a pause has no floor of its own, so the floor is limited to half the level of speech.
    floor = np.minimum(np.repeat(floor, seconds)[: len(level)], (speech + float(np.percentile(level, 2))) / 2)
    above = np.maximum(_ABOVE_FLOOR * (speech - floor), _MIN_RANGE_DB / 2)
    threshold: npt.NDArray[np.float32] = (floor + above).astype(np.float32)
    return threshold


def merge_active_frames(active: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return runs of active frames, with short gaps closed and clicks removed."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], active.astype(np.int8), [0]))))
    regions: list[list[int]] = []
    for start, end in edges.reshape(-1, 2).tolist():
        if regions and (start - regions[-1][1]) * FRAME_S < _GAP_S:
            regions[-1][1] = end
        else:
            regions.append([start, end])
    return tuple((start, end) for start, end in regions if (end - start) * FRAME_S > _BURST_S)
