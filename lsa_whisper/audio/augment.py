"""Speed perturbation and additive noise, redrawn per epoch; SpecAugment's settings.

Speed perturbation resamples with soxr, which librosa would call for the same purpose. librosa's time stretching and
pitch shifting are not used: phase vocoders smear the short pauses, blocks and prolongations that labels mark.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import soxr

_Samples = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Augmentation:
    """Data augmentation of training windows; dev and test windows are never augmented. All off by default."""

    speed_perturbation: float = 0.0
    """Speed perturbation (Ko et al. 2015): the factor is drawn from 1 - this to 1 + this and changes pitch too."""
    noise_snr_db: tuple[float, ...] = ()
    """Additive white noise: the lowest and the highest signal-to-noise ratio in dB; empty for none."""
    mask_time_prob: float = 0.0
    """SpecAugment (Park et al. 2019), applied by the model: share of the frames masked, in spans."""
    mask_time_length: int = 10
    """SpecAugment: frames in a span, of 10 ms each."""
    mask_feature_prob: float = 0.0
    """SpecAugment: share of the mel bands masked, in spans."""
    mask_feature_length: int | None = None
    """SpecAugment: mel bands in a span. Default: 10, or an eighth of the bands if that is less."""

    @property
    def changes_sound(self) -> bool:
        """Whether the waveform changes; SpecAugment changes features inside the model only."""
        return bool(self.speed_perturbation or self.noise_snr_db)

    def problems(self) -> list[str]:
        """Return a message for each invalid setting."""
        problems = []
        if not 0 <= self.speed_perturbation < 0.5:
            problems.append(f"speed_perturbation: must be at least 0 and below 0.5, not {self.speed_perturbation:g}")
        if len(self.noise_snr_db) not in (0, 2) or list(self.noise_snr_db) != sorted(self.noise_snr_db):
            problems.append("noise_snr_db: must be two numbers, the lower first")
        problems += [
            f"{name}: must be between 0 and 1, not {share:g}"
            for name, share in (("mask_time_prob", self.mask_time_prob), ("mask_feature_prob", self.mask_feature_prob))
            if not 0 <= share <= 1
        ]
        problems += [
            f"{name}: must be 1 or more, not {length}"
            for name, length in (
                ("mask_time_length", self.mask_time_length),
                ("mask_feature_length", self.mask_feature_length),
            )
            if length is not None and length < 1
        ]
        return problems

    def draw_speed(self, samples: int, max_samples: int, rng: np.random.Generator) -> float:
        """Return the speed factor that :meth:`apply` draws first, for so many samples; 1 without perturbation."""
        if not self.speed_perturbation or not samples:
            return 1.0
        lowest = min(1.0, max(1 - self.speed_perturbation, samples / max_samples))
        return float(rng.uniform(lowest, 1 + self.speed_perturbation))

    def apply(self, samples: _Samples, max_samples: int, rng: np.random.Generator) -> tuple[_Samples, float]:
        """Return the augmented samples and the speed factor.

        Args:
            samples: Float32, mono, shape ``(samples,)``.
            max_samples: The result is never longer; slower speeds that would exceed it are not drawn.
            rng: Source of the random draws.
        """
        speed = self.draw_speed(len(samples), max_samples, rng)
        if speed != 1:
            samples = soxr.resample(samples, speed, 1.0, quality="MQ")[:max_samples]
        if self.noise_snr_db and len(samples):
            noise = rng.standard_normal(len(samples), dtype=np.float32)
            rms = float(np.sqrt(np.mean(samples**2)))
            lowest_db, highest_db = self.noise_snr_db
            samples = samples + noise * rms * 10 ** (-rng.uniform(lowest_db, highest_db) / 20)
        return np.asarray(samples, np.float32), speed
