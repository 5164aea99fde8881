"""Recordings made to sound like more speakers and rooms than there are, anew each time a window is heard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import soxr

_Samples = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Augmentation:
    """What is done to training windows, never to those a model is judged by. All off by default."""

    speed_perturbation: float = 0.0
    """Play at a speed drawn from 1 - this to 1 + this, pitch and vocal tract along with it (Ko et al. 2015)."""
    noise_snr_db: tuple[float, ...] = ()
    """Add noise, as much as two numbers say: the lowest and the highest signal-to-noise ratio in dB."""
    mask_time_prob: float = 0.0
    """SpecAugment (Park et al. 2019), done by the model: share of the frames hidden, in stretches of ten."""
    mask_feature_prob: float = 0.0
    """Likewise the share of the mel bands."""

    @property
    def changes_sound(self) -> bool:
        """Whether the same window differs from one time to the next before the model gets it."""
        return bool(self.speed_perturbation or self.noise_snr_db)

    def problems(self) -> list[str]:
        """Return what is wrong with the settings, ready to be read."""
        found = []
        if not 0 <= self.speed_perturbation < 0.5:
            found.append(f"speed_perturbation: must be at least 0 and below 0.5, not {self.speed_perturbation:g}")
        if len(self.noise_snr_db) not in (0, 2) or list(self.noise_snr_db) != sorted(self.noise_snr_db):
            found.append("noise_snr_db: must be two numbers, the lower first")
        found += [
            f"{name}: must be between 0 and 1, not {share:g}"
            for name, share in (("mask_time_prob", self.mask_time_prob), ("mask_feature_prob", self.mask_feature_prob))
            if not 0 <= share <= 1
        ]
        return found

    def apply(self, samples: _Samples, longest: int, rng: np.random.Generator) -> tuple[_Samples, float]:
        """Return the changed samples and the speed they were played at.

        Args:
            samples: (samples,) float32, mono.
            longest: As many samples as may come back; a slower speed that needs more is not drawn.
            rng: Decides.
        """
        speed = 1.0
        if self.speed_perturbation and len(samples):
            lowest = min(1.0, max(1 - self.speed_perturbation, len(samples) / longest))
            speed = float(rng.uniform(lowest, 1 + self.speed_perturbation))
            samples = soxr.resample(samples, speed, 1.0, quality="MQ")[:longest]
        if self.noise_snr_db and len(samples):
            noise = rng.standard_normal(len(samples), dtype=np.float32)
            level = float(np.sqrt(np.mean(samples**2)))
            samples = samples + noise * level * 10 ** (-rng.uniform(*self.noise_snr_db) / 20)
        return np.asarray(samples, np.float32), speed
