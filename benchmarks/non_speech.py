"""Eleven sounds without speech, made from seeds: what recordings hold before, between and after their speech.

All are float32 mono at 16 kHz. The levels are those of rooms, not of studios: noise from -60 to -25 dB, applause and
music as loud as speech. The crowd is the only one made of recordings: clips of meetings on top of one another, far
away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.signal import butter, fftconvolve, sosfilt

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording

Samples = npt.NDArray[np.float32]
LENGTH_S = 60.0
CROWD_DB = -40.0


def at_level(samples: npt.NDArray[np.floating], level_db: float) -> Samples:
    """Return a sound with its root mean square at ``level_db`` below full scale, clipped."""
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) or 1.0
    return np.clip(samples * (10 ** (level_db / 20) / rms), -1, 1).astype(np.float32)


def white_noise(random: np.random.Generator, size: int) -> Samples:
    return at_level(random.standard_normal(size), -35)


def pink_noise(random: np.random.Generator, size: int) -> Samples:
    return at_level(_sloped(random, size, 1.0), -30)


def rain(random: np.random.Generator, size: int) -> Samples:
    """Hiss with 40 drops a second, of different loudness."""
    drops = _struck(random, size, rate_hz=40, decay_s=0.004, band_hz=(1500, 6500))
    return at_level(_band(random.standard_normal(size), 800, 7000) * 0.02 + drops, -32)


def applause(random: np.random.Generator, size: int) -> Samples:
    """Claps of many hands that swell and fade every ten seconds."""
    seconds = np.arange(size) / SAMPLE_RATE_HZ
    swell = 0.15 + np.sin(np.pi * seconds / 10) ** 2
    return at_level(_struck(random, size, rate_hz=60, decay_s=0.012, band_hz=(600, 4000)) * swell, -20)


def music(random: np.random.Generator, size: int) -> Samples:
    """Chords of three tones with a melody above them, plucked, every half second."""
    step, sound = SAMPLE_RATE_HZ // 2, np.zeros(size)
    for number, start in enumerate(range(0, size - step, step)):
        root = 110 * 2 ** ((0, 5, 7, 3)[number // 4 % 4] / 12)
        tones = [root, root * 2 ** (4 / 12), root * 2 ** (7 / 12), root * 4 * 2 ** (random.integers(0, 12) / 12)]
        sound[start : start + step] += sum(_tone(tone, step, harmonics=6) for tone in tones) * _decay(step, 0.3)
    return at_level(sound, -22)


def hum(random: np.random.Generator, size: int) -> Samples:
    """The mains with its harmonics, and a little hiss."""
    return at_level(_tone(50, size, harmonics=9) + 0.02 * random.standard_normal(size), -35)


def typing(random: np.random.Generator, size: int) -> Samples:
    """Keys struck five times a second, in bursts, in a quiet room."""
    seconds = np.arange(size) / SAMPLE_RATE_HZ
    keys = _struck(random, size, rate_hz=5, decay_s=0.008, band_hz=(1000, 5000)) * (np.sin(seconds / 1.5) > -0.3)
    return (at_level(keys, -35) + at_level(_sloped(random, size, 1.0), -62)).astype(np.float32)


def breathing(random: np.random.Generator, size: int) -> Samples:
    """Noise through a mouth, in and out every four seconds."""
    seconds = np.arange(size) / SAMPLE_RATE_HZ
    flow = (
        np.maximum(0, np.sin(2 * np.pi * seconds / 4)) ** 2 + 0.5 * np.maximum(0, -np.sin(2 * np.pi * seconds / 4)) ** 2
    )
    return at_level(_band(random.standard_normal(size), 400, 2500) * flow, -38)


def room_tone(random: np.random.Generator, size: int) -> Samples:
    """An empty room: a low rumble and six bumps a minute."""
    bumps = _struck(random, size, rate_hz=0.1, decay_s=0.06, band_hz=(60, 400))
    return (at_level(_sloped(random, size, 2.0), -55) + at_level(bumps, -50)).astype(np.float32)


def ringing(random: np.random.Generator, size: int) -> Samples:
    """A telephone: two seconds of two tones, four of line noise."""
    seconds = np.arange(size) / SAMPLE_RATE_HZ
    tones = _tone(440, size) + _tone(480, size)
    return at_level(tones * (seconds % 6 < 2) + 0.01 * random.standard_normal(size), -25)


def crowd(random: np.random.Generator, size: int, voices: Sequence[Samples]) -> Samples:
    """Voices on top of one another, each from a place of its own, so that no word is understood."""
    sound = np.zeros(size)
    for voice in voices:
        loop = np.resize(np.roll(voice, int(random.integers(len(voice)))), size)
        sound += loop + np.roll(loop, int(random.integers(size)))
    return at_level(sound, CROWD_DB)


MADE: dict[str, Callable[[np.random.Generator, int], Samples]] = {
    "white noise": white_noise,
    "pink noise": pink_noise,
    "rain": rain,
    "applause": applause,
    "music": music,
    "hum": hum,
    "typing": typing,
    "breathing": breathing,
    "room tone": room_tone,
    "ringing": ringing,
}


def sounds(voices: Sequence[Path] = (), *, length_s: float = LENGTH_S, seed: int = 0) -> dict[str, Samples]:
    """Return the sounds by name; the crowd only with recordings of ``voices``."""
    size = round(length_s * SAMPLE_RATE_HZ)
    found = {name: make(np.random.default_rng([seed, at]), size) for at, (name, make) in enumerate(MADE.items())}
    if voices:
        loaded = [Recording.open(path).load() for path in voices]
        found["crowd"] = crowd(np.random.default_rng([seed, len(MADE)]), size, loaded)
    return found


def _sloped(random: np.random.Generator, size: int, power: float) -> npt.NDArray[np.float64]:
    """Return noise whose power falls with the frequency to ``power``: 1 is pink, 2 is brown."""
    spectrum = np.fft.rfft(random.standard_normal(size))
    frequency = np.maximum(np.fft.rfftfreq(size, 1 / SAMPLE_RATE_HZ), 20.0)
    return np.asarray(np.fft.irfft(spectrum / frequency ** (power / 2), size))


def _band(samples: npt.NDArray[np.float64], low_hz: float, high_hz: float) -> npt.NDArray[np.float64]:
    return np.asarray(sosfilt(butter(2, (low_hz, high_hz), "bandpass", fs=SAMPLE_RATE_HZ, output="sos"), samples))


def _struck(
    random: np.random.Generator, size: int, *, rate_hz: float, decay_s: float, band_hz: tuple[float, float]
) -> npt.NDArray[np.float64]:
    """Return short bursts of noise at random times, of different loudness."""
    hits = (random.random(size) < rate_hz / SAMPLE_RATE_HZ) * random.uniform(0.3, 1.0, size)
    length = round(6 * decay_s * SAMPLE_RATE_HZ)
    burst = _band(random.standard_normal(length), *band_hz) * _decay(length, decay_s)
    return np.asarray(fftconvolve(hits, burst)[:size])


def _tone(frequency_hz: float, size: int, harmonics: int = 1) -> npt.NDArray[np.float64]:
    seconds = np.arange(size) / SAMPLE_RATE_HZ
    parts = (np.sin(2 * np.pi * frequency_hz * number * seconds) / number for number in range(1, harmonics + 1))
    return np.asarray(sum(parts))


def _decay(size: int, seconds: float) -> npt.NDArray[np.float64]:
    return np.asarray(np.exp(-np.arange(size) / SAMPLE_RATE_HZ / seconds))
