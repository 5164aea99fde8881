"""Audio of a plan: prolonged sounds, cut-off words, blocks, silences, and a room."""

from __future__ import annotations

import numpy as np
from scipy.signal import fftconvolve, lfilter

from .plan import Piece, Plan
from .speech import RATE_HZ, Spoken

_FADE = RATE_HZ // 200
_GRAIN = RATE_HZ * 30 // 1000
_CREAK_HZ = 45

WordTime = tuple[str, int, int]
"""A spoken word, with its first sample and the sample after its last."""


def perform(plan: Plan, spoken: Spoken, rng: np.random.Generator) -> tuple[np.ndarray, list[WordTime]]:
    """Return the sound of ``plan`` at 16 kHz and the exact place of each word in it."""
    parts: list[np.ndarray] = []
    times: list[WordTime] = []
    at = 0
    for piece, sounds in zip(plan.pieces, spoken.sounds, strict=True):
        for word, samples, gap in _pieces_of(piece, spoken.samples, sounds, rng):
            parts += [samples, np.zeros(gap, np.float32)]
            times.append((word, at, at + len(samples)))
            at += len(samples) + gap
    return np.concatenate(parts), times


def _pieces_of(
    piece: Piece, samples: np.ndarray, sounds: tuple[int, ...], rng: np.random.Generator
) -> list[tuple[str, np.ndarray, int]]:
    """Return (word, samples, silence after it in samples) for every sound of ``piece``."""
    word = samples[sounds[0] : sounds[-1]]
    gap = piece.gap_ms * RATE_HZ // 1000
    if piece.onset_sounds and not piece.copies:
        return [(piece.words[0], _faded(samples[sounds[0] : _edge(sounds, piece.onset_sounds)]), gap)]
    if piece.stretch_ms:
        first = sounds[1] - sounds[0]
        word = np.concatenate([hold(word[:first], piece.stretch_ms * RATE_HZ // 1000), word[first:]])
    if piece.drawl > 1:
        word = hold(word, round(len(word) * piece.drawl))
    if piece.block_ms:
        word = np.concatenate([_creak(piece.block_ms, rng) * _level(word), word])
    if gap:
        word = _faded(word)
    heard = []
    for text in piece.words[: piece.copies]:
        begun = _faded(samples[sounds[0] : _edge(sounds, piece.onset_sounds)][: RATE_HZ * 160 // 1000])
        heard.append((text, begun, int(rng.integers(40, 130)) * RATE_HZ // 1000))
    return [*heard, (piece.words[-1], word, gap)]


def _edge(sounds: tuple[int, ...], count: int) -> int:
    return sounds[min(count, len(sounds) - 1)]


def _level(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(samples**2)) + 1e-6)


def _faded(samples: np.ndarray) -> np.ndarray:
    """Return a copy with faded ends, so that they do not click."""
    faded = samples.copy()
    length = min(_FADE, len(faded) // 2)
    ramp = np.linspace(0, 1, length, dtype=np.float32)
    faded[:length] *= ramp
    faded[len(faded) - length :] *= ramp[::-1]
    return faded


def hold(samples: np.ndarray, length: int) -> np.ndarray:
    """Return one sound stretched to ``length`` samples at its own pitch.

    Overlapping grains are taken along the sound at a slower pace, each shifted to where it continues the last one best
    (WSOLA: Verhelst & Roelands 1993), so that voiced sounds keep their periods.
    """
    if len(samples) < _GRAIN // 2 or length <= len(samples):
        return samples
    source = np.pad(samples, (_GRAIN, 2 * _GRAIN), mode="reflect" if len(samples) > 2 * _GRAIN else "wrap")
    hop, window = _GRAIN // 2, np.hanning(_GRAIN).astype(np.float32)
    output = np.zeros(length + 2 * _GRAIN, np.float32)
    search = np.arange(-hop // 2, hop // 2, 4)
    place = _GRAIN
    for start in range(0, length, hop):
        wanted = _GRAIN + round(start / length * max(1, len(samples) - _GRAIN))
        if start:
            follow = source[place + hop : place + hop + _GRAIN]
            scores = [float(follow @ source[wanted + s : wanted + s + _GRAIN][: len(follow)]) for s in search]
            wanted += int(search[int(np.argmax(scores))])
        place = int(np.clip(wanted, 0, len(source) - 2 * _GRAIN))
        output[start : start + _GRAIN] += source[place : place + _GRAIN] * window
    return output[hop : hop + length]


def _creak(length_ms: int, rng: np.random.Generator) -> np.ndarray:
    """Return the strained, near-silent voice of a block: slow irregular glottal pulses through a closed mouth."""
    count = length_ms * RATE_HZ // 1000
    pulses = np.zeros(count, np.float32)
    at = 0
    while at < count:
        pulses[at] = 1
        at += int(RATE_HZ / _CREAK_HZ * rng.uniform(0.85, 1.15))
    creak = lfilter([1.0], [1.0, -1.82, 0.86], pulses)
    return (0.35 * creak / (_level(creak))).astype(np.float32)


def room(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return ``samples`` with the acoustics of a small room: short reverberation and soft low-frequency noise."""
    length = int(rng.uniform(0.08, 0.16) * RATE_HZ)
    tail = rng.standard_normal(length) * np.exp(-6.0 * np.arange(length) / length)
    wet = fftconvolve(samples, tail / np.sqrt(np.sum(tail**2)))[: len(samples)]
    heard = samples + rng.uniform(0.02, 0.12) * wet
    noise = lfilter([1.0], [1.0, -0.95], rng.standard_normal(len(samples)))
    snr_db = rng.uniform(26, 40)
    return (heard + noise * _level(heard) / _level(noise) * 10 ** (-snr_db / 20)).astype(np.float32)


def quantised(samples: np.ndarray, peak: float = 0.7) -> np.ndarray:
    """Return 16-bit samples of 9 significant bits: still below the room's noise, and a third of the size as FLAC."""
    scaled = samples * (peak / max(1e-6, float(np.abs(samples).max())))
    return (np.round(scaled * 256) * 128).astype(np.int16)
