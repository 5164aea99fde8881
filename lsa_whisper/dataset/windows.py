"""The windows of a manifest as log-mel features and label ids."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper import manifest
from lsa_whisper.audio import Recording, Samples
from lsa_whisper.audio.augment import Augmentation
from lsa_whisper.audio.clip import decode_audio
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.whisper_constants import TIMESTAMP_STEP_S
from lsa_whisper.dataset.collator import TOKEN_SPANS_S
from lsa_whisper.dataset.label_encoder import LabelEncoder, TokenTimes
from lsa_whisper.errors import CheckpointError, ManifestError
from lsa_whisper.labels import codes_in


class StepIndex(int):
    """The index of a window in an optimizer step whose inputs are cut at one length.

    Attributes:
        frames: The frames with audio of the longest window of the step, or all frames if the step is not cut.
    """

    frames: int

    def __new__(cls, index: int, frames: int) -> StepIndex:
        """Return ``index`` with ``frames``."""
        of_step = super().__new__(cls, index)
        of_step.frames = frames
        return of_step

    def __reduce__(self) -> tuple[type[StepIndex], tuple[int, int]]:
        return type(self), (int(self), self.frames)


class WindowDataset(torch.utils.data.Dataset[dict[str, Any]]):  # type: ignore[misc]  # torch is not followed
    """The windows of a manifest as ``{"input_features": (mels, frames), "tokens": [...], "prompt_length": n}``.

    The rows are in memory. Each access reads the audio from disk and encodes the label, in the data-loader worker that
    needs it.
    """

    def __init__(
        self,
        path: Path,
        checkpoint: Checkpoint,
        *,
        cache: bool = False,
        augmentation: Augmentation | None = None,
        trim: bool = False,
        language: str | None = None,
        seed: int = 0,
        keep: Sequence[int] | None = None,
        verify: bool = True,
        word_times: bool = False,
    ):
        """Open the manifest and verify that every window and label fits the model.

        Args:
            path: The manifest.
            checkpoint: Its feature extractor and tokenizer are used. A label longer than its decoder is an error:
                truncated labels would train the model to stop early.
            cache: Keep computed features in memory as fp16; with augmentation, the samples as fp16.
            augmentation: Drawn from ``seed``, the window and the epoch. The index of a window in an epoch is
                ``epoch * len(self) + index``, so that it is the same in every process.
            trim: Add ``frames`` (the number of frames with audio) to each item, so that the collator can drop the
                padding. An index that is a :class:`StepIndex` has the frames of its optimizer step.
            language: Whisper's code for every window, in place of the manifest's.
            seed: Of the augmentation.
            keep: Rows to use, ``None`` for all.
            verify: ``False`` if the rows have been verified already.
            word_times: Add ``token_spans_s`` to each item: the start and end of each token in seconds, NaN where no
                word is heard.

        Raises:
            ManifestError: A window is longer than the model's context, or its label longer than its decoder.
        """
        rows = manifest.open_rows(path)
        self.rows, self.keep = rows if keep is None else rows.select(keep), keep
        self.audio = manifest.open_audio(path)
        self.extractor = checkpoint.feature_extractor
        self.labels = LabelEncoder(checkpoint.tokenizer, checkpoint.model.generation_config, checkpoint.labels.prompt)
        self.cache: dict[int, torch.Tensor] | None = {} if cache else None
        self.augmentation = augmentation if augmentation and augmentation.changes_sound else None
        self.trim, self.language, self.seed = trim, language, seed
        self.token_times = TokenTimes(checkpoint.tokenizer, self.labels.first_timestamp) if word_times else None
        self.max_positions = int(checkpoint.model.config.max_target_positions)
        if verify:
            self._check(path, self.max_positions)

    def _check(self, path: Path, max_positions: int) -> None:
        context_s = self.extractor.n_samples / self.extractor.sampling_rate
        for index in np.flatnonzero(self.durations > context_s + TIMESTAMP_STEP_S)[:1]:
            raise ManifestError(
                f"{path}: row {index + 1}: a window of {self.durations[index]:.1f} s, but the model's context is "
                f"{context_s:g} s; prepare the data with --context {context_s:g}"
            )
        for index, tokens in self.long_labels(max_positions):
            raise ManifestError(
                f"{path}: row {index + 1}: a label of {tokens} tokens, but the decoder has {max_positions} "
                "positions; use shorter windows"
            )

    def long_labels(self, max_positions: int) -> Iterator[tuple[int, int]]:
        """Yield the index and the number of tokens of each label that a decoder of ``max_positions`` cannot hold."""
        for index, (text, prompt) in enumerate(self._texts("text", "prompt")):
            if self.labels.max_tokens(text, prompt) <= max_positions + 1:
                continue
            try:
                tokens = len(self._encoded(self.segment(index))[0])
            except CheckpointError:  # the model does not know its language
                continue
            if tokens > max_positions + 1:
                yield index, tokens

    @property
    def varies(self) -> bool:
        """Whether an item differs from epoch to epoch."""
        return self.augmentation is not None

    @property
    def languages(self) -> list[str]:
        """The language of every window, in the manifest's order."""
        return [self.language] * len(self) if self.language else list(self.rows["lang"])

    def column(self, name: str) -> Iterator[str]:
        """Yield a column of the manifest that holds text, of every window in the manifest's order."""
        return (text for (text,) in self._texts(name))

    @functools.cached_property
    def durations(self) -> npt.NDArray[np.float64]:
        """The duration of every window in seconds, in the manifest's order."""
        seconds = np.asarray(self.rows.data.column("duration"))  # of all rows, also those that are not kept
        return seconds if self.keep is None else seconds[list(self.keep)]

    @property
    def spliced(self) -> npt.NDArray[np.bool_]:
        """Whether every window is spliced speech, in the manifest's order."""
        return np.array([bool(kinds) for kinds in self.rows["spliced"]], dtype=bool)

    @functools.cached_property
    def trained_codes(self) -> set[str]:
        """The speaker codes in the labels; empty without roles."""
        rows = self._texts("text", "labels")
        return {code for text, labels in rows if "+roles" in labels for code in codes_in(text)}

    @functools.cached_property
    def trained_tokens(self) -> set[int]:
        """All token ids that carry loss."""
        ids: set[int] = set()
        for text, lang, prompt in self._texts("text", "lang", "prompt"):
            tokens, prompt_length = self.labels.encode(text, lang=self.language or lang, prompt=prompt)
            ids.update(tokens[prompt_length + 1 :])
        return ids

    def _texts(self, *columns: str) -> Iterator[tuple[str, ...]]:
        for batch in self.rows.select_columns(list(columns)).iter(1000):
            yield from zip(*(batch[name] for name in columns), strict=True)

    def segment(self, index: int) -> manifest.Segment:
        """Return row ``index`` of the manifest."""
        return manifest.from_row(self.rows[index])

    def _encoded(self, segment: manifest.Segment) -> tuple[list[int], int]:
        return self.labels.encode(segment.text, lang=self.language or segment.lang, prompt=segment.prompt)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        of_step = index.frames if isinstance(index, StepIndex) else None
        epoch, index = divmod(int(index), len(self))
        segment = self.segment(index)
        tokens, prompt_length = self._encoded(segment)
        speed = 1.0
        if self.augmentation is None:
            features = self._cached(index, lambda: self._log_mel(self._samples(segment, index)))
            seconds = segment.duration
        else:
            rng = self._random(epoch, index)
            samples = self._cached(index, lambda: torch.from_numpy(self._samples(segment, index))).numpy()
            sound, speed = self.augmentation.apply(samples, self.extractor.n_samples, rng)
            features, seconds = self._log_mel(sound), segment.duration / speed
            tokens = [self._rescale_timestamp(token, speed) for token in tokens]
        row = {"input_features": features, "tokens": tokens, "prompt_length": prompt_length}
        if self.token_times is not None:
            row[TOKEN_SPANS_S] = self.token_times.spans_s(tokens, prompt_length, segment.word_times, speed)
        return row | {"frames": of_step or self._frames(seconds)} if self.trim else row

    def _random(self, epoch: int, index: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, epoch, index])

    def frames(self, index: int) -> int:
        """Return the frames with audio of item ``index``, without reading it; augmentation draws the same speed."""
        epoch, index = divmod(index, len(self))
        seconds = float(self.durations[index])
        if self.augmentation is None:
            return self._frames(seconds)
        samples = round(seconds * self.extractor.sampling_rate)
        speed = self.augmentation.draw_speed(samples, self.extractor.n_samples, self._random(epoch, index))
        return self._frames(seconds / speed)

    def _rescale_timestamp(self, token: int, speed: float) -> int:
        """Return the timestamp token after speed perturbation by ``speed``; other tokens are returned unchanged."""
        steps = token - self.labels.first_timestamp
        return token if steps < 0 else self.labels.first_timestamp + round(steps / speed)

    def _cached(self, index: int, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        if self.cache is None:
            return make()
        if index not in self.cache:
            tensor = make()
            self.cache[index] = tensor.half()
        return self.cache[index].float()

    def _log_mel(self, samples: Samples) -> torch.Tensor:
        rate_hz = self.extractor.sampling_rate
        return torch.from_numpy(self.extractor(samples, sampling_rate=rate_hz, return_tensors="np").input_features[0])

    def _frames(self, seconds: float) -> int:
        """Return the number of mel frames that contain audio; a frame covers half an FFT window on either side."""
        rate_hz: int = self.extractor.sampling_rate
        reach: float = self.extractor.n_fft // 2 / rate_hz
        return math.ceil((seconds + reach) * rate_hz / int(self.extractor.hop_length))

    def _samples(self, segment: manifest.Segment, index: int) -> Samples:
        """Return the samples of a window: those inside the shard if it has them, so that no recording is needed."""
        if self.audio is not None:
            row = index if self.keep is None else self.keep[index]
            return decode_audio(self.audio.read(row), f"{segment.audio_filepath}: row {row + 1}")
        return Recording.open(segment.audio_filepath).load(segment.span)
