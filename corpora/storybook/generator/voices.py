"""Who speaks: voices that differ in synthesiser, vocal tract, pitch and speed, each in exactly one split."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Voice:
    """A speaker.

    Attributes:
        name: The stable speaker id written into ``@Participants``.
        role: ``CHI`` or ``ADU``.
        split: ``train``, ``dev`` or ``test``.
        engine: ``espeak`` or ``flite``.
        voice: The synthesiser's voice.
        rate: Words per minute (espeak).
        pitch: 0 to 99 (espeak).
        tract: Above 1 for a smaller speaker.
    """

    name: str
    role: str
    split: str
    engine: str
    voice: str
    rate: int = 155
    pitch: int = 45
    tract: float = 1.0

    def varied(self, rng: np.random.Generator) -> Voice:
        """Return a voice near this one: a recording day, or in large training sets a neighbour."""
        low, high = (0.88, 1.12) if self.engine == "flite" else (0.92, 1.08)
        return replace(
            self,
            rate=int(self.rate * rng.uniform(0.85, 1.2)),
            pitch=int(np.clip(self.pitch + rng.integers(-15, 16), 0, 99)),
            tract=self.tract * float(rng.uniform(low, high)),
        )


VOICES = (
    Voice("Ann", "ADU", "train", "espeak", "en-us+f2", 160, 50),
    Voice("Ben", "ADU", "train", "espeak", "en-us+m3", 150, 35),
    Voice("Cleo", "ADU", "train", "espeak", "en-us+Annie", 165, 55),
    Voice("Dan", "ADU", "train", "espeak", "en-us+m7", 155, 40),
    Voice("Eve", "ADU", "train", "flite", "us_slt"),
    Voice("Finn", "ADU", "train", "flite", "us_kal16"),
    Voice("Gus", "ADU", "train", "espeak", "en-us+klatt2", 150, 40),
    Voice("Hal", "ADU", "train", "espeak", "en-us", 145, 30),
    Voice("Sky", "ADU", "train", "flite", "us_awb"),
    Voice("Ida", "CHI", "train", "espeak", "en-us+f3", 135, 75, 1.15),
    Voice("Jon", "CHI", "train", "espeak", "en-us+f4", 130, 70, 1.20),
    Voice("Kit", "CHI", "train", "espeak", "en-us+m1", 140, 85, 1.18),
    Voice("Liv", "CHI", "train", "espeak", "en-us+belinda", 130, 75, 1.12),
    Voice("Max", "CHI", "train", "flite", "us_slt", tract=1.22),
    Voice("Nia", "CHI", "train", "espeak", "en-us+linda", 135, 80, 1.15),
    Voice("Oli", "CHI", "train", "espeak", "en-us+m5", 130, 90, 1.22),
    Voice("Roo", "CHI", "train", "flite", "us_kal16", tract=1.25),
    Voice("Pam", "ADU", "dev", "espeak", "en-us+f5", 155, 50),
    Voice("Quin", "CHI", "dev", "espeak", "en-us+steph", 130, 75, 1.16),
    Voice("Rex", "ADU", "test", "flite", "us_rms", tract=1.08),
    Voice("Sue", "ADU", "test", "espeak", "en-us+f1", 155, 50),
    Voice("Tim", "CHI", "test", "espeak", "en-us+m2", 135, 80, 1.18),
    Voice("Uma", "CHI", "test", "espeak", "en-us+aunty", 130, 75, 1.14),
)


def of_split(split: str, role: str) -> list[Voice]:
    """Return the voices of one role in one split.

    >>> {voice.name for role in ("ADU", "CHI") for voice in of_split("test", role)}.isdisjoint(
    ...     voice.name for role in ("ADU", "CHI") for voice in of_split("train", role))
    True
    """
    return [voice for voice in VOICES if voice.split == split and voice.role == role]
