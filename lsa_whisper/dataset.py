"""From a manifest to what Whisper trains on: log-mel features and label ids, and batches of them."""

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
from lsa_whisper.audio import Recording
from lsa_whisper.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt
from lsa_whisper.errors import ManifestError
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.whisper_constants import TIMESTAMP_STEP_S

IGNORED = -100
"""The label of tokens that are given, not learned: padding and the prompt."""


class LabelEncoder:
    """Writes the decoder's whole sequence for a window; asks the tokenizer for the fixed tokens only once."""

    def __init__(self, tokenizer: Any, generation_config: Any):
        """Encode with a checkpoint's own tokenizer and settings of generation."""
        self.tokenizer, self.generation_config = tokenizer, generation_config
        self.first_timestamp = int(tokenizer.convert_tokens_to_ids("<|notimestamps|>")) + 1
        self._begins: dict[tuple[str, bool], list[int]] = {}

    def encode(self, text: str, *, lang: str = "en", prompt: str = "") -> tuple[list[int], int]:
        """Return the token ids, and how many of the first are only given.

        The order is Whisper's: ``<|startofprev|> prompt`` when there is a prompt, what every decoding begins with,
        ``<|notimestamps|>`` when ``text`` holds no timestamp, the text, ``<|endoftext|>``.

        Raises:
            CheckpointError: If the model knows languages but not ``lang``.
        """
        *stretches, pieces = self._words([*TIMESTAMP.split(text)[::2], prompt])
        before = [int(self.tokenizer.convert_tokens_to_ids("<|startofprev|>")), *pieces] if pieces else []
        ids = stretches[0]
        for second, words in zip(TIMESTAMP.findall(text), stretches[1:], strict=True):
            ids = [*ids, self.first_timestamp + round(float(second) / TIMESTAMP_STEP_S), *words]
        return [*before, *self._begin(lang, len(stretches) > 1), *ids, self.tokenizer.eos_token_id], len(before)

    def at_most(self, text: str, prompt: str = "") -> int:
        """Return a number of tokens that the label cannot exceed, without encoding it: a token is a byte at least.

        Beside the bytes there are a space before each stretch of words, and Whisper's own six tokens.
        """
        words, stamps = TIMESTAMP.subn("", text)
        return len(words.encode()) + len(prompt.encode()) + 2 * stamps + 8

    def _words(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text after a space, of an empty one none."""
        stripped = [text.strip() for text in texts]
        pieces = [f" {text}" for text in stripped if text]
        ids = iter(self.tokenizer(pieces, add_special_tokens=False).input_ids if pieces else ())
        return [next(ids) if text else [] for text in stripped]

    def _begin(self, lang: str, timed: bool) -> list[int]:
        if (lang, timed) not in self._begins:
            self._begins[lang, timed] = decoder_prompt(
                self.tokenizer, self.generation_config, language=lang, with_timestamps=timed
            )
        return self._begins[lang, timed]


class WindowDataset(torch.utils.data.Dataset):
    """The windows of a manifest as ``{"input_features": (mels, frames), "tokens": [...], "given": n}``.

    Nothing is held of a window but its length until it is asked for: its row lies on disk, its label is encoded and
    its audio read each time, in whichever process asks.
    """

    def __init__(
        self,
        path: Path,
        checkpoint: Checkpoint,
        *,
        cache: bool = False,
        augmentation: Augmentation | None = None,
        trim: bool = False,
    ):
        """Open the manifest and see that every window and label fits the model.

        Args:
            path: The manifest.
            checkpoint: Whose features and token ids they become. A label longer than its decoder is an error, because
                cutting it would teach the model to stop early.
            cache: Keep the features (as fp16) in memory once computed; the sound (as fp16) when it is augmented.
            augmentation: What is done to the sound each time an item is asked for; drawn from torch's generator.
            trim: Say in ``index`` and ``frames`` which window it is and how many of its frames hold sound, so that
                the collator can leave the silence after them out.

        Raises:
            ManifestError: If a window is longer than the model hears, or its label longer than it writes.
        """
        self.rows = manifest.open_rows(path)
        self.extractor = checkpoint.feature_extractor
        self.labels = LabelEncoder(checkpoint.tokenizer, checkpoint.model.generation_config)
        self.cache: dict[int, torch.Tensor] | None = {} if cache else None
        self.augmentation = augmentation if augmentation and augmentation.changes_sound else None
        self.trim = trim
        self._check(path, checkpoint.model.config.max_target_positions)

    def _check(self, path: Path, longest: int) -> None:
        context_s = self.extractor.n_samples / self.extractor.sampling_rate
        for index in np.flatnonzero(self.durations > context_s + TIMESTAMP_STEP_S)[:1]:
            raise ManifestError(
                f"{path}: row {index + 1}: a window of {self.durations[index]:.1f} s, but the model hears "
                f"{context_s:g} s; prepare the data with --context {context_s:g}"
            )
        for index, (text, prompt) in enumerate(self._texts("text", "prompt")):
            if self.labels.at_most(text, prompt) <= longest + 1:
                continue
            if (tokens := len(self._encoded(self.segment(index))[0])) > longest + 1:
                raise ManifestError(
                    f"{path}: row {index + 1}: a label of {tokens} tokens, but the model writes {longest}; "
                    "use shorter windows"
                )

    @property
    def durations(self) -> npt.NDArray[np.float64]:
        """Seconds of every window, in the manifest's order."""
        return np.asarray(self.rows.data.column("duration"))

    @functools.cached_property
    def taught(self) -> set[int]:
        """Every token id that is to be learned."""
        found: set[int] = set()
        for text, lang, prompt in self._texts("text", "lang", "prompt"):
            tokens, given = self.labels.encode(text, lang=lang, prompt=prompt)
            found.update(tokens[given + 1 :])
        return found

    def _texts(self, *columns: str) -> Iterator[tuple[str, ...]]:
        for batch in self.rows.select_columns(list(columns)).iter(1000):
            yield from zip(*(batch[name] for name in columns), strict=True)

    def segment(self, index: int) -> manifest.Segment:
        """Return the manifest's row."""
        return manifest.from_row(self.rows[index])

    def _encoded(self, segment: manifest.Segment) -> tuple[list[int], int]:
        return self.labels.encode(segment.text, lang=segment.lang, prompt=segment.prompt)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        segment = self.segment(index)
        tokens, given = self._encoded(segment)
        if self.augmentation is None:
            features = self._cached(index, lambda: self._log_mel(self._samples(segment)))
            seconds = segment.duration
        else:
            rng = np.random.default_rng(int(torch.randint(2**62, ())))
            samples = self._cached(index, lambda: torch.from_numpy(self._samples(segment))).numpy()
            changed, speed = self.augmentation.apply(samples, self.extractor.n_samples, rng)
            features, seconds = self._log_mel(changed), segment.duration / speed
            tokens = [self._rescale_timestamp(token, speed) for token in tokens]
        row = {"input_features": features, "tokens": tokens, "given": given}
        return row | {"index": index, "frames": self._frames(seconds)} if self.trim else row

    def _rescale_timestamp(self, token: int, speed: float) -> int:
        """Return where a timestamp token lies when the sound is played at ``speed``; other tokens as they are."""
        steps = token - self.labels.first_timestamp
        return token if steps < 0 else self.labels.first_timestamp + round(steps / speed)

    def _cached(self, index: int, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        if self.cache is None:
            return make()
        if index not in self.cache:
            made = make()
            self.cache[index] = made.half()
        return self.cache[index].float()

    def _log_mel(self, samples: np.ndarray) -> torch.Tensor:
        rate_hz = self.extractor.sampling_rate
        return torch.from_numpy(self.extractor(samples, sampling_rate=rate_hz, return_tensors="np").input_features[0])

    def _frames(self, seconds: float) -> int:
        """Return how many mel frames that much sound reaches into; a frame hears half a window to either side."""
        reach = self.extractor.n_fft // 2 / self.extractor.sampling_rate
        return math.ceil((seconds + reach) * self.extractor.sampling_rate / self.extractor.hop_length)

    def _samples(self, segment: manifest.Segment) -> np.ndarray:
        return Recording.open(segment.audio_filepath).load(segment.span)


SHORTEST_FRAMES = 100
"""No batch is trimmed below a second: less saves nothing, and SpecAugment hides stretches of ten frames."""


class Collator:
    """Stacks windows: features, labels padded with ``-100`` and the decoder's inputs shifted by one.

    The inputs are supplied because a loss of our own takes the labels away before the model could shift them.
    """

    def __init__(self, pad_token_id: int, *, full_length_share: float = 0.0, seed: int = 0):
        """Make batches for a model that pads with ``pad_token_id``.

        Args:
            pad_token_id: Fills up the decoder's inputs.
            full_length_share: Share of the batches that keep the full context although their windows are shorter.
            seed: Decides which, together with the windows in them: the same ones in any process, after any restart.
        """
        self.pad_token_id, self.full_length_share, self.seed = pad_token_id, full_length_share, seed

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return ``input_features`` (batch, mels, frames), ``decoder_input_ids`` and ``labels`` (batch, tokens)."""
        longest = max(len(row["tokens"]) for row in rows) - 1
        inputs = torch.full((len(rows), longest), self.pad_token_id)
        labels = torch.full((len(rows), longest), IGNORED)
        for number, row in enumerate(rows):
            tokens = torch.tensor(row["tokens"])
            inputs[number, : len(tokens) - 1] = tokens[:-1]
            labels[number, row["given"] : len(tokens) - 1] = tokens[row["given"] + 1 :]
        features = torch.stack([row["input_features"] for row in rows])[..., : self._frames(rows)]
        return {"input_features": features.contiguous(), "decoder_input_ids": inputs, "labels": labels}

    def _frames(self, rows: Sequence[dict[str, Any]]) -> int | None:
        """Return how many frames the batch keeps, an even number as Whisper takes them; ``None`` for all."""
        if any("frames" not in row for row in rows):
            return None
        drawn = np.random.default_rng([self.seed, *(row["index"] for row in rows)]).random()
        longest = max(SHORTEST_FRAMES, *(row["frames"] for row in rows))
        return None if drawn < self.full_length_share else longest + longest % 2
