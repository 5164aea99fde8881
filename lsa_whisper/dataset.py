"""From a manifest to what Whisper trains on: log-mel features and label ids, and batches of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt
from lsa_whisper.errors import ManifestError
from lsa_whisper.timespan import TimeSpan

IGNORED = -100
"""The label of tokens that are given, not learned: padding and the prompt."""

TIMESTAMP = re.compile(r"<\|(\d+\.\d\d)\|>")
"""Whisper's marks of time inside a label, in seconds from the window's start."""


def label_ids(
    text: str, tokenizer: Any, generation_config: Any, *, lang: str = "en", prompt: str = ""
) -> tuple[list[int], int]:
    """Return the decoder's whole sequence for one window, and how many of its first tokens are only given.

    The order is Whisper's: ``<|startofprev|> prompt`` when there is a prompt, what every decoding begins with,
    ``<|notimestamps|>`` when ``text`` holds no timestamp, the text, ``<|endoftext|>``.

    Raises:
        CheckpointError: If the model knows languages but not ``lang``.
    """
    before = [_special("<|startofprev|>", tokenizer), *_text_ids(prompt, tokenizer)] if prompt else []
    timed = TIMESTAMP.search(text) is not None
    begin = decoder_prompt(tokenizer, generation_config, language=lang, with_timestamps=timed)
    return [*before, *begin, *timed_ids(text, tokenizer), tokenizer.eos_token_id], len(before)


def timed_ids(text: str, tokenizer: Any) -> list[int]:
    """Return the ids of ``text``, its ``<|1.20|>`` marks as timestamp tokens, each stretch of words after a space."""
    first = _special("<|notimestamps|>", tokenizer) + 1
    ids: list[int] = []
    for place, part in enumerate(TIMESTAMP.split(text)):
        ids += [first + round(float(part) / 0.02)] if place % 2 else _text_ids(part, tokenizer)
    return ids


def _text_ids(text: str, tokenizer: Any) -> list[int]:
    words = text.strip()
    return tokenizer(f" {words}", add_special_tokens=False).input_ids if words else []


def _special(token: str, tokenizer: Any) -> int:
    return int(tokenizer.convert_tokens_to_ids(token))


class WindowDataset(torch.utils.data.Dataset):
    """The windows of a manifest as ``{"input_features": (mels, frames), "tokens": [...], "given": n}``."""

    def __init__(
        self, path: Path, checkpoint: Checkpoint, *, cache: bool = False, augmentation: Augmentation | None = None
    ):
        """Open the manifest and encode its texts; audio is read when an item is asked for.

        Args:
            path: The manifest.
            checkpoint: Whose features and token ids they become. A label longer than its decoder is an error, because
                cutting it would teach the model to stop early.
            cache: Keep the features (as fp16) in memory once computed; the sound (as fp16) when it is augmented.
            augmentation: What is done to the sound each time an item is asked for; drawn from torch's generator.

        Raises:
            ManifestError: If a window is longer than the model hears, or its label longer than it writes.
        """
        self.segments = manifest.read(path)
        self.folder = path.parent
        self.extractor = checkpoint.feature_extractor
        self.encoded = [_encoded(segment, checkpoint) for segment in self.segments]
        self.cache: dict[int, torch.Tensor] | None = {} if cache else None
        self.augmentation = augmentation if augmentation and augmentation.changes_sound else None
        self.first_timestamp = _special("<|notimestamps|>", checkpoint.tokenizer) + 1
        self._check(path, checkpoint.model.config.max_target_positions)

    def _check(self, path: Path, longest: int) -> None:
        context_s = self.extractor.n_samples / self.extractor.sampling_rate
        for line, (segment, (tokens, _)) in enumerate(zip(self.segments, self.encoded, strict=True), 1):
            if segment.duration > context_s + 0.02:
                raise ManifestError(
                    f"{path}:{line}: a window of {segment.duration:.1f} s, but the model hears {context_s:g} s; "
                    f"prepare the data with --context {context_s:g}"
                )
            if len(tokens) > longest + 1:
                raise ManifestError(
                    f"{path}:{line}: a label of {len(tokens)} tokens, but the model writes {longest}; "
                    "use shorter windows"
                )

    @property
    def taught(self) -> set[int]:
        """Every token id that is to be learned."""
        return {token for tokens, given in self.encoded for token in tokens[given + 1 :]}

    def __len__(self) -> int:
        return len(self.segments)

    def __getitem__(self, index: int) -> dict[str, Any]:
        tokens, given = self.encoded[index]
        if self.augmentation is None:
            return {"input_features": self._cached(index, self._features), "tokens": tokens, "given": given}
        rng = np.random.default_rng(int(torch.randint(2**62, ())))
        samples = self._cached(index, self._samples)
        changed, speed = self.augmentation.apply(samples.numpy(), self.extractor.n_samples, rng)
        timed = [self._sooner(token, speed) for token in tokens]
        return {"input_features": self._heard(changed), "tokens": timed, "given": given}

    def _sooner(self, token: int, speed: float) -> int:
        """Return where a timestamp token lies when the sound is played at ``speed``; other tokens as they are."""
        steps = token - self.first_timestamp
        return token if steps < 0 else self.first_timestamp + round(steps / speed)

    def _cached(self, index: int, make: Callable[[int], torch.Tensor]) -> torch.Tensor:
        if self.cache is None:
            return make(index)
        if index not in self.cache:
            made = make(index)
            self.cache[index] = made.half()
        return self.cache[index].float()

    def _features(self, index: int) -> torch.Tensor:
        return self._heard(self._samples(index).numpy())

    def _heard(self, samples: np.ndarray) -> torch.Tensor:
        rate_hz = self.extractor.sampling_rate
        return torch.from_numpy(self.extractor(samples, sampling_rate=rate_hz, return_tensors="np").input_features[0])

    def _samples(self, index: int) -> torch.Tensor:
        segment = self.segments[index]
        start_ms = round(segment.offset * 1000)
        span = TimeSpan(start_ms, start_ms + round(segment.duration * 1000))
        return torch.from_numpy(Recording.open(self.folder / segment.audio_filepath).load(span))


def _encoded(segment: manifest.Segment, checkpoint: Checkpoint) -> tuple[list[int], int]:
    settings = checkpoint.model.generation_config
    return label_ids(segment.text, checkpoint.tokenizer, settings, lang=segment.lang, prompt=segment.prompt)


class Collator:
    """Stacks windows: features, labels padded with ``-100`` and the decoder's inputs shifted by one.

    The inputs are supplied because a loss of our own takes the labels away before the model could shift them.
    """

    def __init__(self, pad_token_id: int):
        self.pad_token_id = pad_token_id

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return ``input_features`` (batch, mels, frames), ``decoder_input_ids`` and ``labels`` (batch, tokens)."""
        longest = max(len(row["tokens"]) for row in rows) - 1
        inputs = torch.full((len(rows), longest), self.pad_token_id)
        labels = torch.full((len(rows), longest), IGNORED)
        for number, row in enumerate(rows):
            tokens = torch.tensor(row["tokens"])
            inputs[number, : len(tokens) - 1] = tokens[:-1]
            labels[number, row["given"] : len(tokens) - 1] = tokens[row["given"] + 1 :]
        features = torch.stack([row["input_features"] for row in rows])
        return {"input_features": features, "decoder_input_ids": inputs, "labels": labels}
