"""The synthesisers: a sentence in, samples and the times of every word's sounds out.

espeak-ng reports each phoneme as it renders it; flite keeps its segments in the utterance. Both are read through
their C libraries, because their programs do not print these times.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, c_char, c_char_p, c_float, c_int, c_short, c_uint, c_void_p
from dataclasses import dataclass
from functools import cache

import numpy as np
import soxr

RATE_HZ = 16_000


@dataclass(frozen=True)
class Spoken:
    """Speech at 16 kHz and, for each word, the boundaries of its sounds in samples (one more than there are sounds)."""

    samples: np.ndarray
    sounds: tuple[tuple[int, ...], ...]


class SynthesisError(Exception):
    """The voice merged words, so their times are unknown."""


class _Number(ctypes.Union):
    _fields_ = (("number", c_int), ("name", c_char_p), ("string", c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", c_int), ("identifier", c_uint), ("text_position", c_int), ("length", c_int),
        ("audio_ms", c_int), ("sample", c_int), ("user", c_void_p), ("id", _Number),
    )  # fmt: skip


_RETRIEVE, _PHONEME_EVENTS, _UTF8_WITH_PHONEMES = 2, 1, 1 | 0x100
_WORD, _END, _PHONEME = 1, 5, 7
_RATE, _PITCH, _RANGE = 1, 3, 4
_ESPEAK_SPELLING = {"the": "[[D@2]]"}
"""espeak-ng's dictionary speaks "in the" as one word, unless the article is given as sounds."""
_Callback = ctypes.CFUNCTYPE(c_int, POINTER(c_short), c_int, POINTER(_Event))


class _Espeak:
    """The espeak-ng library, one per process (it keeps global state)."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate_hz = self.library.espeak_Initialize(_RETRIEVE, 0, None, _PHONEME_EVENTS)
        self.blocks: list[np.ndarray] = []
        self.events: list[tuple[int, int, bytes]] = []
        self._callback = _Callback(self._receive)
        self.library.espeak_SetSynthCallback(self._callback)

    def _receive(self, wave, count, events) -> int:
        if wave and count > 0:
            self.blocks.append(np.ctypeslib.as_array(wave, (count,)).astype(np.float32) / 32768)
        index = 0
        while events[index].type:
            event = events[index]
            self.events.append((event.type, event.sample, bytes(event.id.string)))
            index += 1
        return 0

    def speak(self, words: list[str], voice: str, rate: int, pitch: int, pitch_range: int) -> Spoken:
        if self.library.espeak_SetVoiceByName(voice.encode()):
            raise SynthesisError(f"espeak-ng has no voice {voice}")
        for parameter, value in ((_RATE, rate), (_PITCH, pitch), (_RANGE, pitch_range)):
            self.library.espeak_SetParameter(parameter, value, 0)
        self.blocks, self.events = [], []
        text = " ".join(_ESPEAK_SPELLING.get(word, word) for word in words).encode() + b" ."
        self.library.espeak_Synth(text, len(text) + 1, 0, 1, 0, _UTF8_WITH_PHONEMES, None, None)
        return _resampled(np.concatenate(self.blocks), self._sounds(len(words)), self.rate_hz)

    def _sounds(self, count: int) -> list[list[int]]:
        words: list[list[int]] = []
        for kind, sample, name in self.events:
            if kind == _WORD:
                words.append([])
            elif kind in (_PHONEME, _END) and words:
                if name.startswith(b"_") or kind == _END:
                    if len(words) == count and words[-1]:
                        words[-1].append(sample)
                        break
                    continue
                words[-1].append(sample)
        if len(words) != count or not all(words):
            raise SynthesisError("espeak-ng joined words")
        return [starts + words[i + 1][:1] if i + 1 < count else starts for i, starts in enumerate(words)]


class _Wave(ctypes.Structure):
    _fields_ = (
        ("type", c_char_p),
        ("rate", c_int),
        ("count", c_int),
        ("channels", c_int),
        ("samples", POINTER(c_short)),
    )


class _Flite:
    """One flite voice."""

    def __init__(self, voice: str) -> None:
        self.library = ctypes.CDLL("libflite.so.1", mode=ctypes.RTLD_GLOBAL)
        for part in ("usenglish", "cmulex"):
            ctypes.CDLL(f"libflite_{part}.so.1", mode=ctypes.RTLD_GLOBAL)
        self.library.flite_init()
        register = getattr(ctypes.CDLL(f"libflite_cmu_{voice}.so.1"), f"register_cmu_{voice}")
        register.restype, register.argtypes = c_void_p, [c_char_p]
        self.voice = register(None)
        for name, result, *arguments in (
            ("flite_synth_text", c_void_p, c_char_p, c_void_p), ("utt_relation", c_void_p, c_void_p, c_char_p),
            ("relation_head", c_void_p, c_void_p), ("item_next", c_void_p, c_void_p),
            ("ffeature_float", c_float, c_void_p, c_char_p),
            ("utt_wave", POINTER(_Wave), c_void_p), ("delete_utterance", None, c_void_p),
            ("feat_set_float", None, c_void_p, c_char_p, c_float), ("feat_float", c_float, c_void_p, c_char_p),
        ):  # fmt: skip
            function = getattr(self.library, name)
            function.restype, function.argtypes = result, list(arguments)

        self.settings = ctypes.cast(self.voice, POINTER(c_void_p))[1]
        self.mean_hz = self.library.feat_float(self.settings, b"int_f0_target_mean") if "kal" in voice else 0.0

    def speak(self, words: list[str], rate: int, pitch: int) -> Spoken:
        self.library.feat_set_float(self.settings, b"duration_stretch", 155 / rate)
        higher = 2 ** ((pitch - 45) / 60)
        self.library.feat_set_float(self.settings, b"int_f0_target_mean", self.mean_hz * higher)
        utterance = self.library.flite_synth_text((" ".join(words) + ".").encode(), self.voice)
        try:
            wave = self.library.utt_wave(utterance).contents
            samples = np.ctypeslib.as_array(wave.samples, (wave.count,)).astype(np.float32) / 32768
            return _resampled(samples.copy(), self._sounds(utterance, wave.rate, len(words)), wave.rate)
        finally:
            self.library.delete_utterance(utterance)

    def _sounds(self, utterance: int, rate_hz: int, count: int) -> list[list[int]]:
        begin, end = (
            b"R:SylStructure.daughter1.daughter1.R:Segment.p.end",
            b"R:SylStructure.daughtern.daughtern.R:Segment.end",
        )
        edges = [round(self._feature(item, b"end") * rate_hz) for item in self._items(utterance, b"Segment")]
        words = []
        for item in self._items(utterance, b"Word"):
            first, last = (round(self._feature(item, path) * rate_hz) for path in (begin, end))
            words.append([first, *(edge for edge in edges if first < edge <= last)])
        if len(words) != count or any(len(word) < 2 for word in words):
            raise SynthesisError("flite joined words")
        return words

    def _feature(self, item: int, path: bytes) -> float:
        return float(self.library.ffeature_float(item, path))

    def _items(self, utterance: int, relation: bytes) -> Iterator[int]:
        item = self.library.relation_head(self.library.utt_relation(utterance, relation))
        while item:
            yield item
            item = self.library.item_next(item)


def _resampled(samples: np.ndarray, sounds: list[list[int]], rate_hz: int) -> Spoken:
    scale = RATE_HZ / rate_hz
    limit = round(len(samples) * scale)
    boundaries = tuple(tuple(min(limit, round(edge * scale)) for edge in word) for word in sounds)
    return Spoken(soxr.resample(samples, rate_hz, RATE_HZ).astype(np.float32), boundaries)


_espeak = cache(_Espeak)
_flite = cache(_Flite)


def speak(
    words: list[str], engine: str, voice: str, *, rate: int, pitch: int, pitch_range: int, tract: float
) -> Spoken:
    """Return ``words`` spoken by one voice.

    Args:
        words: The words, as written.
        engine: ``espeak`` or ``flite``.
        voice: espeak's voice and variant (``en-us+f3``) or flite's voice (``us_slt``).
        rate: Words per minute, near enough; 155 is a flite voice's own.
        pitch: 0 to 99; 45 is a flite voice's own, 60 more an octave above it (of flite's, kal only).
        pitch_range: 0 to 99, monotonous to lively (espeak only).
        tract: Resampling factor; above 1 a shorter vocal tract, so a smaller speaker, who also speaks faster.

    Raises:
        SynthesisError: If the voice merged or skipped words, so that their times are unknown.
    """
    if engine == "espeak":
        spoken = _espeak().speak(words, voice, rate, pitch, pitch_range)
    else:
        spoken = _flite(voice).speak(words, rate, pitch)
    if tract == 1.0:
        return spoken
    return _resampled(spoken.samples, [list(word) for word in spoken.sounds], round(RATE_HZ * tract))
