"""Speakers: voices that differ in synthesiser, vocal tract, pitch and speed, each in exactly one split."""

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
        rate: Words per minute; 155 leaves a flite voice as it is.
        pitch: 0 to 99, low to high; 45 leaves a flite voice as it is.
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
        """Return a neighbour of this voice, for large training sets."""
        low, high = (0.86, 1.14) if self.engine == "flite" else (0.92, 1.08)
        return replace(
            self,
            rate=int(self.rate * rng.uniform(0.85, 1.2)),
            pitch=int(np.clip(self.pitch + rng.integers(-20, 21), 0, 99)),
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
    Voice("Rex", "ADU", "test", "espeak", "en-us+m2", 150, 32),
    Voice("Sue", "ADU", "test", "espeak", "en-us+f1", 155, 50),
    Voice("Tim", "CHI", "test", "espeak", "en-us+m2", 135, 80, 1.18),
    Voice("Uma", "CHI", "test", "espeak", "en-us+aunty", 130, 75, 1.14),
)

_NAMES = """
    Alex Alicia Andrea Andy Annie AnxiousAndy Denis Diogo Gene Gene2 Henrique Hugo Jacky Lee Marco Mario Michael
    Mike Nguyen RicishayMax RicishayMax2 RicishayMax3 Tweaky adam anika announcer antonio belinda benjamin boris
    caleb david ed edward edward2 f3 f2 f4 grandma grandpa gustave iven iven2 iven3 iven4 john kaukovalta klatt
    klatt2 klatt3 klatt4 klatt5 klatt6 linda m1 m3 m4 m5 m6 m7 m8 marcelo max michel miguel norbert pablo paul
    pedro quincy rob robert sandro shelby travis victor zac
"""
CROWD = tuple(_NAMES.split())
"""espeak-ng's variants that lend voices to large training sets; those of dev and test speakers are not among them."""


def stranger(role: str, rng: np.random.Generator) -> Voice:
    """Return a new voice, for large training sets: half the time near a training speaker's.

    >>> held_out = {voice.voice.removeprefix("en-us+") for voice in VOICES if voice.split != "train"}
    >>> held_out.isdisjoint(CROWD)
    True
    """
    if rng.random() < 0.5:
        known = of_split("train", role)
        return known[int(rng.integers(len(known)))].varied(rng)
    pitch, tract = ((20, 70), (0.92, 1.12)) if role == "ADU" else ((45, 99), (1.02, 1.3))
    return Voice(
        "Extra",
        role,
        "train",
        "espeak",
        f"en-us+{CROWD[int(rng.integers(len(CROWD)))]}",
        rate=int(rng.integers(120, 186)),
        pitch=int(rng.integers(*pitch)),
        tract=float(rng.uniform(*tract)),
    )


def of_split(split: str, role: str) -> list[Voice]:
    """Return the voices of one role in one split.

    >>> {voice.name for role in ("ADU", "CHI") for voice in of_split("test", role)}.isdisjoint(
    ...     voice.name for role in ("ADU", "CHI") for voice in of_split("train", role))
    True
    """
    return [voice for voice in VOICES if voice.split == split and voice.role == role]
