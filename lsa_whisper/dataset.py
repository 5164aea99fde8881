"""Training data for Whisper: a manifest as log-mel features and label ids, and batches of them."""

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
from lsa_whisper.audio.encoded import decode_audio
from lsa_whisper.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint, add_previous_text, decoder_prompt
from lsa_whisper.checkpoint.token_table import TokenTable
from lsa_whisper.errors import CheckpointError, ManifestError
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.whisper_constants import TIMESTAMP_STEP_S

IGNORE_INDEX = -100
"""The label of tokens that carry no loss, as in PyTorch: padding and the prompt."""
_Split = Callable[[Sequence[str]], list[list[int]]]
LabelSplitter = Callable[..., list[list[int]]]
"""Splits a sequence of texts into token ids at random, drawn from the generator ``rng``."""


class LabelEncoder:
    """Encodes the decoder's token sequence of a window; the special tokens are looked up once."""

    def __init__(self, tokenizer: Any, generation_config: Any):
        """Encode with a checkpoint's own tokenizer and generation config."""
        self.tokenizer, self.generation_config = tokenizer, generation_config
        table = TokenTable.of_tokenizer(tokenizer)
        plain = getattr(generation_config, "no_timestamps_token_id", None) or table.added.get("<|notimestamps|>")
        if plain is None:
            raise CheckpointError("the vocabulary has no <|notimestamps|>; fine-tune another model")
        self.first_timestamp = int(plain) + 1
        # A text begins with a space, unless spaces are tokens of their own: there the first one would be a pause.
        self._before_text = "" if table.space is not None else " "
        end = generation_config.eos_token_id
        self._end = int(end[0] if isinstance(end, list) else end)
        self._most_special = 8 + len(table.verbatim_tags)
        self._begins: dict[tuple[str, bool], list[int]] = {}

    def encode(
        self, text: str, *, lang: str = "en", prompt: str = "", split: _Split | None = None
    ) -> tuple[list[int], int]:
        """Return the token ids, and how many of them carry no loss: the previous text, and tags before the start.

        The order is Whisper's: ``<|startofprev|> prompt`` if there is a prompt, start of transcript, language and task,
        ``<|notimestamps|>`` if ``text`` has no timestamps, the text, ``<|endoftext|>``. ``split`` splits the texts in
        place of the tokenizer.

        Raises:
            CheckpointError: The model is multilingual and does not know ``lang``.
        """
        *texts, prompt_ids = self._words([*TIMESTAMP.split(text)[::2], prompt], split)
        ids = texts[0]
        for second, words in zip(TIMESTAMP.findall(text), texts[1:], strict=True):
            ids = [*ids, self.first_timestamp + round(float(second) / TIMESTAMP_STEP_S), *words]
        config = self.generation_config
        begin = add_previous_text(self._begin(lang, len(texts) > 1), prompt_ids, self.tokenizer, config)
        return [*begin, *ids, self._end], begin.index(int(config.decoder_start_token_id))

    def max_tokens(self, text: str, prompt: str = "") -> int:
        """Return an upper bound of the label's token count without encoding it: every token has at least one byte.

        To the bytes it adds a space before each text between timestamps, the timestamps, and the special tokens.
        """
        words, stamps = TIMESTAMP.subn("", text)
        return len(words.encode()) + len(prompt.encode()) + 2 * stamps + self._most_special

    def _words(self, texts: Sequence[str], split: _Split | None) -> list[list[int]]:
        """Return the ids of each text, encoded as it follows a space; none for an empty text."""
        stripped = [text.strip() for text in texts]
        pieces = [f"{self._before_text}{text}" for text in stripped if text]
        usual = functools.partial(self.tokenizer, add_special_tokens=False)
        ids = iter((split(pieces) if split else usual(pieces).input_ids) if pieces else ())
        return [next(ids) if text else [] for text in stripped]

    def _begin(self, lang: str, timed: bool) -> list[int]:
        if (lang, timed) not in self._begins:
            self._begins[lang, timed] = decoder_prompt(
                self.tokenizer, self.generation_config, language=lang, with_timestamps=timed
            )
        return self._begins[lang, timed]


class WindowDataset(torch.utils.data.Dataset[dict[str, Any]]):  # type: ignore[misc]  # torch is not followed
    """The windows of a manifest as ``{"input_features": (mels, frames), "tokens": [...], "prompt_length": n}``.

    Only the durations stay in memory. Each access reads the row and the audio from disk and encodes the label, in the
    data-loader worker that needs it.
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
        splitter: LabelSplitter | None = None,
        verify: bool = True,
    ):
        """Open the manifest and verify that every window and label fits the model.

        Args:
            path: The manifest.
            checkpoint: Its feature extractor and tokenizer are used. A label longer than its decoder is an error:
                truncated labels would train the model to stop early.
            cache: Keep computed features in memory as fp16; with augmentation, the samples as fp16.
            augmentation: Drawn from ``seed``, the window and the epoch. The index of a window in an epoch is
                ``epoch * len(self) + index``, so that it is the same in every process.
            trim: Add ``index`` and ``frames`` (the number of frames with audio) to each item, so that the collator can
                drop the padding.
            language: Whisper's code for every window, in place of the manifest's.
            seed: Of the augmentation and the splitter.
            keep: Rows to use, ``None`` for all.
            splitter: Splits the label of each item at random, drawn as the augmentation is.
            verify: ``False`` if the rows have been verified already.

        Raises:
            ManifestError: A window is longer than the model's context, or its label longer than its decoder.
        """
        rows = manifest.open_rows(path)
        self.rows, self.keep = rows if keep is None else rows.select(keep), keep
        self.audio = manifest.open_audio(path)
        self.extractor = checkpoint.feature_extractor
        self.labels = LabelEncoder(checkpoint.tokenizer, checkpoint.model.generation_config)
        self.cache: dict[int, torch.Tensor] | None = {} if cache else None
        self.augmentation = augmentation if augmentation and augmentation.changes_sound else None
        self.trim, self.language, self.seed, self.splitter = trim, language, seed, splitter
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
        return self.augmentation is not None or self.splitter is not None

    @property
    def languages(self) -> list[str]:
        """The language of every window, in the manifest's order."""
        return [self.language] * len(self) if self.language else list(self.rows["lang"])

    @property
    def recordings(self) -> Iterator[str]:
        """The path of the recording of every window, in the manifest's order."""
        return (self.segment(index).audio_filepath for index in range(len(self)))

    @property
    def durations(self) -> npt.NDArray[np.float64]:
        """The duration of every window in seconds, in the manifest's order."""
        found = np.asarray(self.rows.data.column("duration"))  # of all rows, also those that are not kept
        return found if self.keep is None else found[list(self.keep)]

    @functools.cached_property
    def trained_tokens(self) -> set[int]:
        """All token ids that carry loss."""
        found: set[int] = set()
        for text, lang, prompt in self._texts("text", "lang", "prompt"):
            tokens, prompt_length = self.labels.encode(text, lang=self.language or lang, prompt=prompt)
            found.update(tokens[prompt_length + 1 :])
        return found

    def _texts(self, *columns: str) -> Iterator[tuple[str, ...]]:
        for batch in self.rows.select_columns(list(columns)).iter(1000):
            yield from zip(*(batch[name] for name in columns), strict=True)

    def segment(self, index: int) -> manifest.Segment:
        """Return row ``index`` of the manifest."""
        return manifest.from_row(self.rows[index])

    def _encoded(self, segment: manifest.Segment, split: _Split | None = None) -> tuple[list[int], int]:
        return self.labels.encode(segment.text, lang=self.language or segment.lang, prompt=segment.prompt, split=split)

    def _drawn(self, segment: manifest.Segment, epoch: int, index: int) -> tuple[list[int], int]:
        """Return the label split at random, if it is to be; one that is then too long is split as usual."""
        if self.splitter is None:
            return self._encoded(segment)
        split = functools.partial(self.splitter, rng=np.random.default_rng([self.seed, epoch, index, 1]))
        drawn = self._encoded(segment, split)
        return drawn if len(drawn[0]) <= self.max_positions + 1 else self._encoded(segment)

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        epoch, index = divmod(index, len(self))
        segment = self.segment(index)
        tokens, prompt_length = self._drawn(segment, epoch, index)
        if self.augmentation is None:
            features = self._cached(index, lambda: self._log_mel(self._samples(segment, index)))
            seconds = segment.duration
        else:
            rng = np.random.default_rng([self.seed, epoch, index])
            samples = self._cached(index, lambda: torch.from_numpy(self._samples(segment, index))).numpy()
            changed, speed = self.augmentation.apply(samples, self.extractor.n_samples, rng)
            features, seconds = self._log_mel(changed), segment.duration / speed
            tokens = [self._rescale_timestamp(token, speed) for token in tokens]
        row = {"input_features": features, "tokens": tokens, "prompt_length": prompt_length}
        return row | {"index": index, "frames": self._frames(seconds)} if self.trim else row

    def _rescale_timestamp(self, token: int, speed: float) -> int:
        """Return the timestamp token after speed perturbation by ``speed``; other tokens are returned unchanged."""
        steps = token - self.labels.first_timestamp
        return token if steps < 0 else self.labels.first_timestamp + round(steps / speed)

    def _cached(self, index: int, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        if self.cache is None:
            return make()
        if index not in self.cache:
            made = make()
            self.cache[index] = made.half()
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


MIN_FRAMES = 100
"""Batches are never trimmed below one second: that would save nothing, and SpecAugment masks spans of ten frames."""


class Collator:
    """Collates windows: features, labels padded with :data:`IGNORE_INDEX`, and decoder inputs shifted by one.

    The decoder inputs are explicit because a custom loss removes the labels before the model could shift them.
    """

    def __init__(self, pad_token_id: int, *, full_length_share: float = 0.0, seed: int = 0):
        """Collate for a model that pads with ``pad_token_id``.

        Args:
            pad_token_id: Padding of the decoder inputs.
            full_length_share: Share of the batches that keep the full context although their windows are shorter.
            seed: Selects these batches together with the windows in them, so the choice is the same in every process
                and after a restart.
        """
        self.pad_token_id, self.full_length_share, self.seed = pad_token_id, full_length_share, seed

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return ``input_features`` (batch, mels, frames), ``decoder_input_ids`` and ``labels`` (batch, tokens).

        Rows with ``duration_s`` also give ``durations_s`` (batch,).
        """
        longest = max(len(row["tokens"]) for row in rows) - 1
        inputs = torch.full((len(rows), longest), self.pad_token_id)
        labels = torch.full((len(rows), longest), IGNORE_INDEX)
        for number, row in enumerate(rows):
            tokens = torch.tensor(row["tokens"])
            inputs[number, : len(tokens) - 1] = tokens[:-1]
            labels[number, row["prompt_length"] : len(tokens) - 1] = tokens[row["prompt_length"] + 1 :]
        features = torch.stack([row["input_features"] for row in rows])[..., : self._frames(rows)]
        batch = {"input_features": features.contiguous(), "decoder_input_ids": inputs, "labels": labels}
        if all("duration_s" in row for row in rows):
            batch["durations_s"] = torch.tensor([row["duration_s"] for row in rows])
        return batch

    def _frames(self, rows: Sequence[dict[str, Any]]) -> int | None:
        """Return the number of frames to keep, even as Whisper's stride of two needs; ``None`` keeps all."""
        if any("frames" not in row for row in rows):
            return None
        drawn = np.random.default_rng([self.seed, *(row["index"] for row in rows)]).random()
        longest = max(MIN_FRAMES, *(row["frames"] for row in rows))
        return None if drawn < self.full_length_share else longest + longest % 2
