"""Dev set windows, and the scores of their transcripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lsa_whisper import manifest
from lsa_whisper.chat import Disfluency
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.finetuning.recipe.sections import SCORES
from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.scoring.disfluency import SCORED, supported_classes
from lsa_whisper.scoring.file_scores import FileScores
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.score_file import ScoringOptions, score_file


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
        counts = (len(encode(one.text, lang=self.data.language or one.lang)[0]) for one in windows)
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
        files = [
            _score_window(str(number), windows.segment(number).text, windows.labels, hypothesis, self.labels)
            for number, hypothesis in enumerate(hypotheses)
        ]
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


def _score_window(
    key: str, reference: str, reference_labels: Labels, hypothesis: str, hypothesis_labels: Labels
) -> FileScores:
    return score_file(
        key,
        ParsedTranscript(decode(_without_timestamps(reference), reference_labels).utterances, {}),
        ParsedTranscript(decode(hypothesis, hypothesis_labels).utterances, {}),
        ScoringOptions(keep_alignment=False),
    )


def _without_timestamps(label: str) -> str:
    return " ".join(part.strip() for part in TIMESTAMP.split(label)[::2] if part.strip())


def overall_scores(files: Sequence[FileScores], classes: frozenset[Disfluency]) -> dict[str, float]:
    """Return the metrics :data:`SCORES` over all files, for ``classes``; undefined ones (0 / 0) are left out."""
    found: dict[str, float] = {}
    for metric in METRICS:
        if metric.key in SCORES:
            numerator, denominator = (
                sum(part) for part in zip(*(metric.fraction(f, classes) for f in files), strict=True)
            )
            found |= {metric.key: numerator / denominator} if denominator else {}
    return found
