"""Cutting, joining and matching of sounds. All arrays are float32, mono, 16 kHz."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import soxr

from lsa_whisper.audio import SAMPLE_RATE_HZ, Samples

FADE = SAMPLE_RATE_HZ // 100
"""Samples of a cross-fade: 10 ms."""
_FRAME = SAMPLE_RATE_HZ // 200
_ZERO_CROSSING = SAMPLE_RATE_HZ // 400
_LEVEL_LIMITS = (0.5, 2.0)
_PITCH_LIMITS = (0.93, 1.07)
"""About a semitone either way: more would change the speaker's voice."""
_F0_HZ = (75, 450)
_STFT_SIZE = 512


def quiet_place(samples: Samples, start: int, end: int) -> int:
    """Return the best place for a cut from ``start`` to ``end``: a zero crossing where the sound is softest.

    >>> wave = np.sin(np.arange(4000) / 20).astype(np.float32)
    >>> wave[2000:2400] *= 0.01
    >>> 2000 <= quiet_place(wave, 1000, 3000) <= 2400
    True
    """
    start, end = max(0, start), min(len(samples), end)
    if end - start < 2:
        return max(0, min(start, len(samples)))
    power = np.convolve(samples[start:end] ** 2, np.ones(min(_FRAME, end - start)), mode="same")
    place = start + int(np.argmin(power))
    low, high = max(start, place - _ZERO_CROSSING), min(end - 1, place + _ZERO_CROSSING)
    signs = np.signbit(samples[low : high + 1])
    crossings = low + 1 + np.flatnonzero(signs[1:] != signs[:-1])
    return int(crossings[np.argmin(np.abs(crossings - place))]) if len(crossings) else place


def cross_fade(segments: Sequence[Samples]) -> tuple[Samples, list[int]]:
    """Return the segments joined, each overlapping the next by :data:`FADE`, and where each segment starts.

    The weights of both sounds add up to one, so that a join is never louder or sharper than the sounds that it joins.
    A segment must be at least twice as long as a cross-fade.
    """
    ramp = np.sin(np.linspace(0, np.pi / 2, FADE, dtype=np.float32)) ** 2
    total = sum(map(len, segments)) - FADE * (len(segments) - 1)
    whole = np.zeros(total, np.float32)
    starts: list[int] = []
    at = 0
    for number, segment in enumerate(segments):
        part = segment.astype(np.float32, copy=True)
        if number:
            part[:FADE] *= ramp
        if number < len(segments) - 1:
            part[-FADE:] *= ramp[::-1]
        whole[at : at + len(part)] += part
        starts.append(at)
        at += len(part) - FADE
    return whole, starts


def sharpness(samples: Samples, places: Sequence[int], around: int) -> npt.NDArray[np.float64]:
    """Return the largest second difference within ``around`` samples of each place: a click has a large one."""
    second = np.abs(np.diff(samples.astype(np.float64), 2))
    if not len(places) or len(second) < 2 * around:
        return np.zeros(0)
    windows = np.lib.stride_tricks.sliding_window_view(second, 2 * around)
    return np.asarray(windows[np.clip(np.asarray(places) - around, 0, len(windows) - 1)].max(axis=1))


def rms(samples: Samples) -> float:
    """Return the root mean square of ``samples``; 0.0 for none."""
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2))) if len(samples) else 0.0


@dataclass(frozen=True)
class RoomNoise:
    """Excerpts of a recording without speech."""

    excerpts: tuple[Samples, ...]

    @classmethod
    def choose(cls, silences: Sequence[Samples]) -> RoomNoise:
        """Return the noise of those ``silences`` that are softest, without the very softest: these may be dropouts."""
        by_level = sorted((silence for silence in silences if len(silence) >= 3 * FADE), key=rms)
        softest = by_level[len(by_level) // 10 : len(by_level) // 10 + max(1, len(by_level) // 2)]
        return cls(tuple(softest))

    def draw(self, length: int, rng: random.Random) -> Samples:
        """Return ``length`` samples of noise: random excerpts, cross-faded; zeros if there is no excerpt."""
        if not self.excerpts:
            return np.zeros(length, np.float32)
        parts: list[Samples] = []
        while sum(map(len, parts)) - FADE * len(parts) < length:
            excerpt = rng.choice(self.excerpts)
            start = rng.randint(0, max(0, len(excerpt) - 3 * FADE) // 2)
            parts.append(excerpt[start:])
        return cross_fade(parts)[0][:length]


def hold(samples: Samples, length: int) -> Samples:
    """Return ``samples`` stretched to ``length`` at their own pitch and level."""
    from librosa.effects import time_stretch

    padded = np.pad(samples, _STFT_SIZE, mode="reflect") if len(samples) > _STFT_SIZE else samples
    around = (len(padded) - len(samples)) // 2
    rate = len(samples) / length
    stretched = time_stretch(padded, rate=rate, n_fft=_STFT_SIZE, hop_length=_STFT_SIZE // 4)
    start = round(around / rate)
    result = np.asarray(stretched[start : start + length], np.float32)
    if not rms(result):
        return np.zeros(length, np.float32)
    result *= np.float32(rms(samples) / rms(result))  # the vocoder's phases do not add up, which takes level
    return np.pad(result, (0, length - len(result)), mode="edge")


def pitch_hz(samples: Samples) -> float | None:
    """Return the median fundamental frequency of the voiced frames, by autocorrelation; ``None`` without any."""
    size, hop = 640, 320
    if len(samples) < size:
        return None
    frames = np.lib.stride_tricks.sliding_window_view(samples, size)[::hop].astype(np.float64)
    frames = (frames - frames.mean(axis=1, keepdims=True)) * np.hanning(size)
    powers = (frames**2).sum(axis=1)
    spectra = np.abs(np.fft.rfft(frames, 2 * size)) ** 2
    correlation = np.fft.irfft(spectra)[:, :size] / np.maximum(powers, 1e-9)[:, None]
    low, high = SAMPLE_RATE_HZ // _F0_HZ[1], SAMPLE_RATE_HZ // _F0_HZ[0]
    lags = low + correlation[:, low:high].argmax(axis=1)
    strength = correlation[np.arange(len(lags)), lags] / (1 - lags / size)
    voiced = (strength > 0.6) & (powers > 0.1 * powers.max())
    return float(np.median(SAMPLE_RATE_HZ / lags[voiced])) if voiced.any() else None


def match_voice(clip: Samples, around: Samples, source: Samples) -> Samples:
    """Return ``clip``, cut out of ``source``, at the level and pitch of the speech ``around`` its new place."""
    level = rms(around) / rms(source) if rms(source) and rms(around) else 1.0
    clip = clip * np.float32(min(max(level, _LEVEL_LIMITS[0]), _LEVEL_LIMITS[1]))
    old_hz, new_hz = pitch_hz(source), pitch_hz(around)
    if old_hz is None or new_hz is None:
        return clip
    ratio = min(max(new_hz / old_hz, _PITCH_LIMITS[0]), _PITCH_LIMITS[1])
    return np.asarray(soxr.resample(clip, ratio, 1.0), np.float32) if abs(ratio - 1) > 0.01 else clip


def creak(voice: Samples, length: int, rng: random.Random) -> Samples:
    """Return the strained voice of a block: single pulses of ``voice``, slow and irregular, and soft.

    Each pulse is one period around the strongest sample of the voice.
    """
    half = SAMPLE_RATE_HZ // 200
    if len(voice) < 4 * half:
        return np.zeros(length, np.float32)
    peak = half + int(np.argmax(np.abs(voice[half:-half])))
    pulse = voice[peak - half : peak + half] * np.hanning(2 * half).astype(np.float32)
    result = np.zeros(length + 2 * half, np.float32)
    at = 0
    while at < length:
        result[at : at + 2 * half] += pulse[: len(result) - at] * np.float32(rng.uniform(0.08, 0.2))
        at += round(SAMPLE_RATE_HZ / 45 * rng.uniform(0.8, 1.25))
    return result[:length]
