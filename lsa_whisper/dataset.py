"""From a manifest to what Whisper trains on: log-mel features and label ids, and batches of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lsa_whisper import manifest
from lsa_whisper.audio import Recording
from lsa_whisper.errors import ManifestError
from lsa_whisper.timespan import TimeSpan

IGNORED = -100
"""The label of tokens that are given, not learned: padding and the prompt."""

TIMESTAMP = re.compile(r"<\|(\d+\.\d\d)\|>")
"""Whisper's marks of time inside a label, in seconds from the window's start."""


def label_ids(text: str, tokenizer: Any, *, lang: str = "en", prompt: str = "") -> tuple[list[int], int]:
    """Return the decoder's whole sequence for one window, and how many of its first tokens are only given.

    The order is Whisper's: ``<|startofprev|> prompt`` when there is a prompt, ``<|startoftranscript|>``, language and
    task when the tokenizer has them, ``<|notimestamps|>`` when ``text`` holds no timestamp, the text,
    ``<|endoftext|>``.

    Raises:
        ManifestError: If the tokenizer knows languages but not ``lang``.
    """
    ids: list[int] = []
    if prompt:
        ids += [_special("<|startofprev|>", tokenizer), *_text_ids(prompt, tokenizer)]
    given = len(ids)
    ids.append(_special("<|startoftranscript|>", tokenizer))
    if _known("<|en|>", tokenizer) and _known("<|transcribe|>", tokenizer):
        if not _known(f"<|{lang}|>", tokenizer):
            raise ManifestError(f"the model's tokenizer has no language {lang!r}; give Whisper's two-letter code")
        ids += [_special(f"<|{lang}|>", tokenizer), _special("<|transcribe|>", tokenizer)]
    if not TIMESTAMP.search(text):
        ids.append(_special("<|notimestamps|>", tokenizer))
    return [*ids, *timed_ids(text, tokenizer), tokenizer.eos_token_id], given


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


def _known(token: str, tokenizer: Any) -> bool:
    return tokenizer.convert_tokens_to_ids(token) not in (None, tokenizer.unk_token_id)


def _special(token: str, tokenizer: Any) -> int:
    return int(tokenizer.convert_tokens_to_ids(token))


class WindowDataset(torch.utils.data.Dataset):
    """The windows of a manifest as ``{"input_features": (mels, frames), "tokens": [...], "given": n}``."""

    def __init__(self, path: Path, feature_extractor: Any, tokenizer: Any, *, longest: int, cache: bool = False):
        """Open the manifest and encode its texts; audio is read when an item is asked for.

        Args:
            path: The manifest.
            feature_extractor: The checkpoint's own.
            tokenizer: The checkpoint's own.
            longest: The decoder's positions; a longer label is an error, because cutting it would teach the
                model to stop early.
            cache: Keep the features (as fp16) in memory once computed.

        Raises:
            ManifestError: If a window is longer than the model hears, or its label longer than it writes.
        """
        self.segments = manifest.read(path)
        self.folder = path.parent
        self.extractor = feature_extractor
        self.encoded = [label_ids(s.text, tokenizer, lang=s.lang, prompt=s.prompt) for s in self.segments]
        self.cache: dict[int, torch.Tensor] | None = {} if cache else None
        self._check(path, longest)

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
                    f"{path}:{line}: a label of {len(tokens)} tokens, but the model writes {longest}; use shorter windows"
                )

    def __len__(self) -> int:
        return len(self.segments)

    def __getitem__(self, index: int) -> dict[str, Any]:
        tokens, given = self.encoded[index]
        return {"input_features": self._features(index), "tokens": tokens, "given": given}

    def _features(self, index: int) -> torch.Tensor:
        if self.cache is not None and index in self.cache:
            return self.cache[index].float()
        features = torch.from_numpy(self._compute(self.segments[index]))
        if self.cache is not None:
            self.cache[index] = features.half()
        return features

    def _compute(self, segment: manifest.Segment) -> np.ndarray:
        start_ms = round(segment.offset * 1000)
        span = TimeSpan(start_ms, start_ms + round(segment.duration * 1000))
        samples = Recording.open(self.folder / segment.audio_filepath).load(span)
        rate_hz = self.extractor.sampling_rate
        return self.extractor(samples, sampling_rate=rate_hz, return_tensors="np").input_features[0]


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
