"""What a model in training writes for the development windows, and its scores.

Each window is written in one greedy pass with time stamps, as ``transcribe`` does. Whisper's own ``generate`` is passed
by: it would go on in the silence after the last time stamp, and as often as each process pleases, so that processes
that share a model would wait for each other forever.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import GenerationMixin
from transformers.generation.logits_process import WhisperTimeStampLogitsProcessor

from lsa_whisper import manifest
from lsa_whisper.chat import Disfluency
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt, timestamps
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.finetune.distributed.strategy import layers_are_sharded, root_unsharded
from lsa_whisper.finetune.recipe.sections import SCORES
from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.scoring.disfluency import SCORED, supported_classes
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.score_file import FileScores, ScoringOptions, score_file


class Windows(torch.utils.data.Dataset):
    """Some windows of a manifest, spread evenly over it, and what was said in each."""

    def __init__(self, name: str, data: WindowDataset, labels: Labels, at_most: int | None = None):
        """Take ``at_most`` windows of ``data``, whose text is written in the style of ``labels``."""
        self.name, self.data, self.labels = name, data, labels
        count = len(data) if at_most is None else min(at_most, len(data))
        self.indices = [int(index) for index in np.linspace(0, len(data) - 1, count).round()]

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return dict(self.data[self.indices[number]])

    def segment(self, number: int) -> manifest.Segment:
        """Return the manifest's row of a window."""
        return self.data.segment(self.indices[number])

    @functools.cached_property
    def longest(self) -> int:
        """A number of tokens that no window's label exceeds: a model in a loop is stopped there."""
        rows = map(self.segment, range(len(self)))
        return max(self.data.labels.max_tokens(row.text) for row in rows)


class Writer:
    """Lets a model in training transcribe batches."""

    def __init__(self, begun: Checkpoint, settings: Any):
        """Write with the vocabulary of ``begun`` under generation ``settings`` fitted to the labels."""
        self.start, self.room = int(settings.decoder_start_token_id), int(begun.model.config.max_target_positions)
        languages = getattr(settings, "lang_to_id", None) or {"<|en|>": 0}
        stamps = timestamps(begun.tokenizer)
        prompt = decoder_prompt(
            begun.tokenizer, settings, language=next(iter(languages)).strip("<|>"), with_timestamps=bool(stamps)
        )
        self.prompt_length = len(prompt)
        self.processors = [WhisperTimeStampLogitsProcessor(settings, begin_index=len(prompt))] if stamps else []
        self.settings = copy.deepcopy(settings)
        self.settings.update(forced_decoder_ids=None, do_sample=False, num_beams=1, use_cache=True)

    def write(self, model: Any, batch: dict[str, torch.Tensor], longest: int) -> torch.Tensor:
        """Return the tokens the model writes for a batch, (batch, tokens), without what decoding begins with.

        Args:
            model: A Whisper, with or without an adapter, sharded by ZeRO or FSDP2 or not at all.
            batch: ``input_features``, and ``decoder_input_ids`` for the language of each window.
            longest: Tokens after which to stop.
        """
        whisper = model.get_base_model() if hasattr(model, "get_base_model") else model
        begin = (batch["decoder_input_ids"] == self.start).int().argmax(1, keepdim=True)  # a prompt may stand before
        places = begin + torch.arange(self.prompt_length, device=begin.device)
        features = batch["input_features"]
        self.settings.max_length = min(longest + self.prompt_length, self.room)
        with root_unsharded(model):
            written = GenerationMixin.generate(
                whisper,
                features,
                attention_mask=torch.ones_like(features[:, 0], dtype=torch.long),  # else transformers warns of its lack
                generation_config=self.settings,
                logits_processor=list(self.processors),
                decoder_input_ids=batch["decoder_input_ids"].gather(1, places),
                synced_gpus=layers_are_sharded(model),
            )
        return written[:, self.prompt_length :]


class Scorer:
    """Scores what was written for the windows of one manifest after another, and keeps samples."""

    def __init__(self, begun: Checkpoint, samples: int, path: Path):
        """Read the text back by the labels of ``begun``; append ``samples`` windows each time to ``path``."""
        self.tokenizer, self.labels, self.samples, self.path = begun.tokenizer, begun.labels, samples, path
        # Which classes a transcript shows changes while a model learns; those it is scored on must not.
        self.classes = frozenset(SCORED) if begun.labels.style == "chat" else supported_classes(())

    def texts(self, tokens: np.ndarray) -> list[str]:
        """Return the text of each row; time stamps, special tokens and padding are left out."""
        end = self.tokenizer.eos_token_id
        kept = [[int(token) for token in row if 0 <= token < end] for row in tokens]
        return [self.tokenizer.decode(row, clean_up_tokenization_spaces=False).strip() for row in kept]

    def scores(self, windows: Windows, texts: Sequence[str]) -> dict[str, float]:
        """Return the scores of ``texts``, one per window and in their order; those that are 0 / 0 are left out."""
        files = [
            _scored(str(number), windows.segment(number), windows.labels, text, self.labels)
            for number, text in enumerate(texts)
        ]
        return rates(files, self.classes)

    def keep_samples(self, windows: Windows, texts: Sequence[str], step: int) -> None:
        """Append the transcripts of a few windows, always the same ones, beside their references."""
        count = min(self.samples, len(texts))
        with self.path.open("a", encoding="utf-8") as file:
            for number in np.linspace(0, len(texts) - 1, count).round().astype(int).tolist():
                row = windows.segment(number)
                sample = {
                    "step": step,
                    "set": windows.name,
                    "audio_filepath": row.audio_filepath,
                    "offset": row.offset,
                    "duration": row.duration,
                    "reference": _bare(row.text),
                    "hypothesis": texts[number],
                }
                file.write(json.dumps(sample, ensure_ascii=False) + "\n")


def _scored(key: str, row: manifest.Segment, said: Labels, text: str, heard: Labels) -> FileScores:
    sides = [
        ParsedTranscript(decode(each, style).utterances, {}) for each, style in ((_bare(row.text), said), (text, heard))
    ]
    return score_file(key, sides[0], sides[1], ScoringOptions(keep_alignment=False))


def _bare(text: str) -> str:
    """Return a label without its time stamps."""
    return " ".join(part.strip() for part in TIMESTAMP.split(text)[::2] if part.strip())


def rates(files: Sequence[FileScores], classes: frozenset[Disfluency]) -> dict[str, float]:
    """Return the rates of :data:`SCORES` over ``files``, scored on ``classes``; what is 0 / 0 is left out."""
    found: dict[str, float] = {}
    for metric in METRICS:
        if metric.key in SCORES:
            above, below = (sum(part) for part in zip(*(metric.fraction(f, classes) for f in files), strict=True))
            found |= {metric.key: above / below} if below else {}
    return found
