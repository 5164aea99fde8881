"""The training windows of a recipe, their batches, the order in which they come, and encoder outputs that are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers.modeling_outputs import BaseModelOutput

from lsa_whisper import manifest
from lsa_whisper.audio.augment import Augmentation
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.dataset import Collator, WindowDataset
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.samplers import (
    CorpusSampler,
    EpochSampler,
    LengthGroupedSampler,
    ShuffledSampler,
    StepLengthSampler,
    WindowSampler,
    capped_indices,
    draws_per_window,
    with_spliced_share,
)
from lsa_whisper.labels import Labels, disfluent_spans


def training_collator(recipe: Recipe, start: Checkpoint) -> Collator:
    """Return the collator of the training windows, with a mask of disfluencies if the recipe's loss needs one."""
    pad = start.model.config.pad_token_id
    if recipe.loss.needs_disfluency_mask:
        return DisfluencyMaskCollator(pad, start.tokenizer, start.labels)
    return Collator(pad)


def training_windows(recipe: Recipe, start: Checkpoint) -> WindowDataset:
    """Return the windows to train on: those of the manifest, without what ``data.corpora`` cuts.

    Raises:
        ManifestError: If ``data.corpora`` names a corpus that is not in the manifest.
    """
    path, keep = Path(recipe.data.train), None
    if recipe.data.corpora:
        rows = manifest.open_rows(path)
        durations = np.asarray(rows.data.column("duration"))
        keep = capped_indices(list(rows["corpus"]), durations, recipe.data.corpora, recipe.seed)
    return WindowDataset(
        path,
        start,
        cache=recipe.data.cache,
        augmentation=recipe.data.augment,
        trim=recipe.data.trim,
        language=recipe.data.language,
        seed=recipe.seed,
        keep=keep,
        verify=False,
        word_times=recipe.loss.alignment_weight > 0,
    )


def window_sampler(recipe: Recipe, train: WindowDataset, arguments: Any) -> WindowSampler | None:
    """Return the sampler of the training windows, ``None`` if transformers' own will do.

    With augmentation the indices also contain the epoch, so that a resumed run draws the same. With ``data.trim`` they
    contain the length of their optimizer step.
    """
    grouped, seed = arguments.train_sampling_strategy == "group_by_length", arguments.data_seed
    ranks = recipe.window_ranks(arguments.world_size)
    step_windows = int(arguments.train_batch_size * arguments.gradient_accumulation_steps * ranks)
    sampler = _order(recipe, train, step_windows, seed, grouped=grouped)
    if not recipe.data.trim:
        return sampler
    sampler = sampler or ShuffledSampler(len(train), seed)
    return StepLengthSampler(sampler, train, step_windows, share=recipe.data.full_length_share, seed=recipe.seed)


def _order(recipe: Recipe, train: WindowDataset, step_windows: int, seed: int, *, grouped: bool) -> EpochSampler | None:
    """Return the sampler that draws the windows, without the lengths of their steps."""

    def by_length(indices: Any, epoch: int) -> Iterator[int]:
        sampler = LengthGroupedSampler(train.durations[indices].tolist(), step_windows, seed)
        sampler.set_epoch(epoch)
        return (int(indices[place]) for place in sampler)

    corpora, share = recipe.data.corpora, recipe.data.spliced
    if share is not None or any(corpus.weight != 1 for corpus in corpora.values()):
        weights = draws_per_window(list(train.rows["corpus"]), corpora)
        if share is not None:
            weights = with_spliced_share(weights, train.spliced, train.durations, share)
        return CorpusSampler(weights, seed, by_length if grouped else None)
    if grouped:
        return LengthGroupedSampler(train.durations.tolist(), step_windows, seed, with_epoch=train.varies)
    return ShuffledSampler(len(train), seed) if train.varies else None


DISFLUENCY_MASK = "disfluency_mask"
"""Key of the mask in a batch; the model itself does not accept it."""


class DisfluencyMaskCollator(Collator):
    """A collator whose batches hold ``disfluency_mask`` (batch, tokens), parallel to the labels."""

    def __init__(self, pad_token_id: int, tokenizer: Any, labels: Labels):
        """Recognize disfluencies in the style of ``labels``."""
        super().__init__(pad_token_id)
        self.tokenizer, self.style = tokenizer, labels

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return the batch; a token is masked if any of its characters belongs to a disfluency."""
        batch = super().__call__(rows)
        mask = torch.zeros(batch["labels"].shape, dtype=torch.bool)
        for number, row in enumerate(rows):
            flags = disfluent_tokens(row["tokens"], self.tokenizer, self.style)
            mask[number, : len(flags) - 1] = torch.tensor(flags[1:])
        return batch | {DISFLUENCY_MASK: mask}


def disfluent_tokens(tokens: Sequence[int], tokenizer: Any, labels: Labels) -> list[bool]:
    """Return whether each token of a label belongs to a disfluency; special tokens and timestamps never do."""
    flags: list[bool] = []
    for is_text, group in groupby(tokens, lambda token: token < tokenizer.eos_token_id):
        run = list(group)
        flags += _of_text(run, tokenizer, labels) if is_text else [False] * len(run)
    return flags


def _of_text(tokens: list[int], tokenizer: Any, labels: Labels) -> list[bool]:
    text = tokenizer.decode(tokens, clean_up_tokenization_spaces=False)
    spans = disfluent_spans(text, labels)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    if encoded.input_ids != tokens:  # this tokenizer splits the text differently: positions would be wrong
        return [False] * len(tokens)
    # A token's offsets include the space before it; a span never does.
    return [any(start < b and a < end for a, b in spans) for start, end in encoded.offset_mapping]


_MAX_BYTES = 2**30
"""Kept at most: 340 windows of OpenAI's base. Training its decoder on 21 windows takes a third of the time."""


def remember_windows(model: Any, recipe: Recipe) -> None:
    """Let the encoder of ``model`` keep its outputs, if ``data.cache`` asks for it and nothing changes them.

    They change if a part of the encoder is trained, and with augmentation, trimming or dropout. Each is computed alone,
    so that it does not depend on the other windows of its batch.
    """
    encoder, data = model.get_encoder(), recipe.data
    is_trained = any(weight.requires_grad for weight in encoder.parameters())
    is_random = bool(recipe.model.dropout) or encoder.layerdrop or data.augment != Augmentation() or data.trim
    is_plain = strategy_of(recipe).has_whole_state and recipe.precision == "fp32"
    if data.cache and is_plain and not is_trained and not is_random:
        encoder.forward = _Remembered(encoder.forward)


class _Remembered:
    """The forward pass of an encoder, once for each window."""

    def __init__(self, forward: Any):
        self._forward, self._bytes = forward, 0
        self._outputs: dict[bytes, torch.Tensor] = {}

    def __call__(self, input_features: torch.Tensor, *arguments: Any, **settings: Any) -> BaseModelOutput:
        """Return the hidden states, ``(windows, positions, width)``."""
        rows = [self._row(row[None], *arguments, **settings) for row in input_features]
        return BaseModelOutput(last_hidden_state=torch.cat(rows))

    def _row(self, features: torch.Tensor, *arguments: Any, **settings: Any) -> torch.Tensor:
        key = hashlib.blake2b(features.detach().float().cpu().numpy().tobytes(), digest_size=16).digest()
        if (output := self._outputs.get(key)) is not None:
            return output.to(features.device)
        with torch.no_grad():
            hidden: torch.Tensor = self._forward(features, *arguments, **settings).last_hidden_state
        if self._bytes + hidden.nbytes <= _MAX_BYTES:
            self._outputs[key], self._bytes = hidden.cpu(), self._bytes + hidden.nbytes
        return hidden
