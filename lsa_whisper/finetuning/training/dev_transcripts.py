"""Transcripts of dev set windows: decoding by a model in training, and scores.

Windows are decoded with the greedy search and the rules of ``transcribe``, which also decodes them a second time when
the model repeats itself; dev evaluation does not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper import manifest
from lsa_whisper.chat import Disfluency
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.decoding.decoder import SegmentParser
from lsa_whisper.decoding.greedy import Search, greedy_search
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.text_limits import TOKENS_PER_S, token_limit
from lsa_whisper.finetuning.distributed.division import layers_are_sharded, root_unsharded
from lsa_whisper.finetuning.settings.sections import SCORES
from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.scoring.disfluency import SCORED, supported_classes
from lsa_whisper.scoring.file_scores import FileScores
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.score_file import ScoringOptions, score_file


class DevDecoder:
    """Decodes batches with the current weights of a model in training."""

    def __init__(self, start: Checkpoint, generation_config: Any, *, tokens_per_s: float = TOKENS_PER_S):
        """Decode with the vocabulary of ``start`` and a generation config that is fitted to the labels.

        The limit of tokens per second of audio is ``tokens_per_s``.
        """
        self._tokens_per_s, self._positions = tokens_per_s, int(start.model.config.max_target_positions)
        self._tokenizer, self._config = start.tokenizer, generation_config
        self._vocab_size = int(start.model.config.vocab_size)
        self._rules = DecodingRules(
            self._tokenizer, generation_config, self._vocab_size, timestamps=start.labels.timestamps
        )
        self._start_token = int(generation_config.decoder_start_token_id)
        language = next(iter(getattr(generation_config, "lang_to_id", None) or {"<|en|>": 0})).strip("<|>")
        prompt = decoder_prompt(self._tokenizer, generation_config, language=language)
        full = decoder_prompt(
            self._tokenizer, generation_config, language=language, with_timestamps=bool(self._rules.timestamps_s)
        )
        behind = DecodingStyle(start.labels).before(prompt, self._tokenizer, generation_config, "", self._positions)
        tags = behind.index(self._start_token)
        self._tags, self._prompt_length, self._suffix = behind[:tags], len(behind) - tags, full[len(prompt) :]

    def decode(self, model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the decoded tokens of a batch ``(batch, tokens)``, without the prompt.

        Args:
            model: A Whisper model, with or without an adapter, sharded by ZeRO-3 or FSDP2 or not at all.
            batch: ``input_features``, ``decoder_input_ids`` (for the language of each window) and ``durations_s``.
        """
        whisper = model.get_base_model() if hasattr(model, "get_base_model") else model
        features, inputs = batch["input_features"], batch["decoder_input_ids"]
        if self._rules.device != features.device:
            self._rules = DecodingRules(self._tokenizer, self._config, self._vocab_size, features.device)
        # A window's previous text, where its manifest gives one, stands before the start token.
        first = (inputs == self._start_token).int().argmax(1, keepdim=True)
        places = first + torch.arange(self._prompt_length, device=first.device)
        tags, suffix = (
            torch.tensor([part], dtype=inputs.dtype, device=inputs.device).expand(len(inputs), -1)
            for part in (self._tags, self._suffix)
        )
        prompts = torch.cat((tags, inputs.gather(1, places), suffix), dim=1)
        with root_unsharded(model):
            hidden = whisper.get_encoder()(features).last_hidden_state
            ((tokens, _, _),) = greedy_search(
                whisper,
                hidden,
                [Search(prompts, self._rules, tokens_per_s=self._tokens_per_s)],
                batch["durations_s"],
                synced_ranks=layers_are_sharded(model),
            )
        return tokens

    def limit(self, duration_s: float) -> int:
        """Return the most tokens that are decoded for a window of audio."""
        return token_limit(
            duration_s, len(self._tags) + self._prompt_length + len(self._suffix), self._positions, self._tokens_per_s
        )

    def text(self, tokens: npt.NDArray[np.integer[Any]], duration_s: float) -> str:
        """Return the text of one window's tokens; timestamps, special tokens and padding (negative) are left out."""
        ids = [int(token) for token in tokens if token >= 0]
        parser = SegmentParser(self._rules.end, self._rules.timestamps_s, self._text_of)
        window = parser.window(ids, [0.0] * len(ids), duration_s, limit=len(ids)) if ids else None
        return window.text if window else ""

    def _text_of(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))


class DevWindows(torch.utils.data.Dataset[dict[str, Any]]):
    """Windows of a manifest, spread evenly over it, with their references."""

    def __init__(self, name: str, data: WindowDataset, labels: Labels, max_windows: int | None = None):
        """Select up to ``max_windows`` windows of ``data``, whose texts are in the style of ``labels``."""
        self.name, self.data, self.labels = name, data, labels
        count = len(data) if max_windows is None else min(max_windows, len(data))
        self.indices = [int(index) for index in np.linspace(0, len(data) - 1, count).round()]

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, number: int) -> dict[str, Any]:
        index = self.indices[number]
        return {**self.data[index], "duration_s": float(self.data.durations[index])}

    def tokens_per_s(self) -> float:
        """Return the highest number of label tokens per second of audio."""
        windows, encode = (self.data.segment(index) for index in self.indices), self.data.labels.encode
        counts = (len(encode(window.text, lang=self.data.language or window.lang)[0]) for window in windows)
        return max(
            (n / max(1.0, self.data.durations[i]) for n, i in zip(counts, self.indices, strict=True)), default=0.0
        )

    def longest_s(self) -> float:
        """Return the duration of the longest window in seconds."""
        return max((float(self.data.durations[index]) for index in self.indices), default=0.0)

    def segment(self, number: int) -> manifest.Segment:
        """Return the manifest row of a window."""
        return self.data.segment(self.indices[number])


class DevScorer:
    """Scores the transcripts of dev set windows and keeps samples of them."""

    def __init__(self, labels: Labels, samples: int, path: Path):
        """Parse transcripts in the style of ``labels``; append ``samples`` of them per evaluation to ``path``."""
        self.labels, self.samples, self.path = labels, samples, path
        # The classes that a transcript shows change while a model learns; the classes that are scored must not.
        self.classes = frozenset(SCORED) if labels.style == "chat" else supported_classes(())

    def scores(self, windows: DevWindows, hypotheses: Sequence[str]) -> dict[str, float]:
        """Return the scores of one hypothesis per window, in order; undefined ones (0 / 0) are left out."""
        files, options = [], ScoringOptions(keep_alignment=False)
        for number, text in enumerate(hypotheses):
            reference = decode(_without_timestamps(windows.segment(number).text), windows.labels)
            sides = [ParsedTranscript(side.utterances, {}) for side in (reference, decode(text, self.labels))]
            files.append(score_file(str(number), sides[0], sides[1], options))
        return overall_scores(files, self.classes)

    def keep_samples(self, windows: DevWindows, hypotheses: Sequence[str], step: int) -> None:
        """Append the hypotheses and references of a few windows, the same ones at every evaluation."""
        count = min(self.samples, len(hypotheses))
        with self.path.open("a", encoding="utf-8") as file:
            for number in np.linspace(0, len(hypotheses) - 1, count).round().astype(int).tolist():
                row = windows.segment(number)
                sample = {
                    "step": step,
                    "set": windows.name,
                    "audio_filepath": row.audio_filepath,
                    "offset": row.offset,
                    "duration": row.duration,
                    "reference": _without_timestamps(row.text),
                    "hypothesis": hypotheses[number],
                }
                file.write(json.dumps(sample, ensure_ascii=False) + "\n")


def _without_timestamps(label: str) -> str:
    return " ".join(part.strip() for part in TIMESTAMP.split(label)[::2] if part.strip())


def overall_scores(files: Sequence[FileScores], classes: frozenset[Disfluency]) -> dict[str, float]:
    """Return the metrics :data:`SCORES` over all files, for ``classes``; undefined ones (0 / 0) are left out."""
    scores: dict[str, float] = {}
    for metric in METRICS:
        if metric.key in SCORES:
            fractions = (metric.fraction(file, classes) for file in files)
            numerator, denominator = map(sum, zip(*fractions, strict=True))
            scores |= {metric.key: numerator / denominator} if denominator else {}
    return scores
