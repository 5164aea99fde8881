"""Statistics of manifests, computed in one pass."""

from __future__ import annotations

import heapq
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from typing import Any

from lsa_whisper import manifest
from lsa_whisper.chat import Disfluency
from lsa_whisper.checkpoint.whisper_constants import CONTEXT_S
from lsa_whisper.errors import LsaWhisperError, ManifestError
from lsa_whisper.inspection.counts import Distribution, WindowCounts
from lsa_whisper.inspection.tokens import TokenCounter
from lsa_whisper.manifest import Segment
from lsa_whisper.system import plain_json

EXAMPLES = 10
EXTREMES = 5
"""The number of slowest and of fastest rows to list."""
FREQUENT = 20
SPLICED = 2
"""The number of examples of each class that was spliced."""

_SUMMARY = {
    "options": dict,
    "splits": dict,
    "spliced": dict,
    "roles": dict,
    "rejected": dict,
    "skipped_files": list,
    "notes": list,
}
_WHOLE_FOLDER_KEYS = ("spliced", "roles", "rejected", "skipped_files")
"""Entries of ``prepared.json`` that count all splits together."""
_Ranked = list[tuple[float, int, Segment]]


@dataclass(frozen=True)
class Survey:
    """Statistics of the manifests of one folder.

    Attributes:
        splits: Counts by split.
        summary: Entries of ``prepared.json``; empty for manifests of other tools, and without folder totals if only
            some of the folder's manifests were read.
        tokens: The token counter.
        examples: Uniformly sampled rows.
        slow: Outliers with few words per second, the slowest first.
        fast: Outliers with many words per second, the fastest first.
        spliced: Sampled rows of spliced speech.
    """

    splits: Mapping[str, WindowCounts]
    summary: Mapping[str, Any]
    tokens: TokenCounter
    examples: Sequence[Segment]
    slow: Sequence[tuple[float, Segment]]
    fast: Sequence[tuple[float, Segment]]
    spliced: Sequence[Segment] = ()

    @cached_property
    def everything(self) -> WindowCounts:
        """The counts of all splits together."""
        return reduce(add, self.splits.values(), WindowCounts())

    @property
    def context_s(self) -> float:
        """The model's context in seconds."""
        return float(self.summary.get("options", {}).get("context_s", CONTEXT_S))

    @property
    def shared(self) -> list[str]:
        """Speakers in more than one split: scores on them do not predict scores on unknown speakers."""
        splits_of_person: dict[str, set[str]] = {}
        for split, counts in self.splits.items():
            for speaker in counts.ms_by_speaker.keys() - {"unknown"}:
                splits_of_person.setdefault(speaker.rpartition("-")[0] or speaker, set()).add(split)
        return sorted(person for person, splits in splits_of_person.items() if len(splits) > 1)

    def unpacked_padding(self, splits: Sequence[str]) -> float | None:
        """Return the padding if each utterance of ``splits`` were its own window, ignoring margins."""
        summaries = [facts for split in splits if (facts := self.summary.get("splits", {}).get(split))]
        utterances = sum(facts.get("utterances", 0) for facts in summaries)
        speech_s = 3600 * sum(facts.get("speech_h", 0) for facts in summaries)
        return round(1 - speech_s / (utterances * self.context_s), 4) if utterances else None

    def rates(self) -> dict[str, dict[str, float | None]]:
        """Return disfluencies per 100 fluent words by CHAT role (``everyone`` if unknown) and kind."""
        everyone = self.everything
        roles = self.summary.get("roles") or {"everyone": {**everyone.events, "fluent_words": everyone.fluent_words}}
        return {role: _rates(count) for role, count in roles.items()}

    def oov_rate(self, split: str) -> float | None:
        """Return the out-of-vocabulary rate: the share of a split's running words that never occur in ``train``."""
        train = self.splits.get("train")
        return self.splits[split].oov_rate(train.vocabulary) if train and split != "train" else None

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        everything, limit = self.everything, self.tokens.limit
        rates = Distribution(everything.rates)
        return {
            "splits": {
                name: {
                    **counts.as_dict(self.context_s, limit),
                    "padding_one_utterance": self.unpacked_padding([name]),
                    "oov_rate": self.oov_rate(name),
                }
                for name, counts in self.splits.items()
            },
            "context_s": self.context_s,
            "padding": everything.padding(self.context_s),
            "padding_one_utterance": self.unpacked_padding(list(self.splits)),
            "durations_s": Distribution(everything.durations).as_dict(),
            "tokens": {
                "exact": self.tokens.exact,
                "limit": limit,
                "lengths": Distribution(everything.tokens).as_dict(),
            },
            "words_per_s": {
                "rates": rates.as_dict(),
                "fences": rates.fences,
                "outliers": rates.outliers,
                "slow": [{"words_per_s": round(rate, 3), **segment_fields(row)} for rate, row in self.slow],
                "fast": [{"words_per_s": round(rate, 3), **segment_fields(row)} for rate, row in self.fast],
            },
            "events_per_100_fluent_words": self.rates(),
            "speaker_hours": {
                name: {who: round(ms / 3_600_000, 6) for who, ms in counts.ms_by_speaker.most_common()}
                for name, counts in self.splits.items()
            },
            "speakers_in_several_splits": self.shared,
            "vocabulary": {
                "size": len(everything.vocabulary),
                "most_frequent": dict(everything.vocabulary.most_common(FREQUENT)),
            },
            "rejected": self.summary.get("rejected", {}),
            "skipped_files": self.summary.get("skipped_files", []),
            "notes": self.summary.get("notes", []),
            "examples": [segment_fields(row) for row in self.examples],
            **({"spliced": self.summary.get("spliced", {})} if self.spliced else {}),
        }


def survey(manifests: Mapping[str, Path], tokens: TokenCounter) -> Survey:
    """Return the statistics of manifests, given by split.

    Raises:
        ManifestError: A manifest is malformed.
    """
    splits = {name: WindowCounts() for name in manifests}
    examples: list[Segment] = []
    spliced: list[Segment] = []
    slowest: _Ranked = []
    fastest: _Ranked = []
    rng = random.Random(0)
    for at, (name, number, row) in enumerate(
        (name, number, row) for name, path in manifests.items() for number, row in enumerate(manifest.stream(path), 1)
    ):
        try:
            splits[name].add(row, tokens.count(row))
        except LsaWhisperError as error:
            raise ManifestError(f"{manifests[name]}: row {number}: {error}") from error
        rate = splits[name].rates[-1]
        _keep(slowest, (-rate, -at, row))
        _keep(fastest, (rate, -at, row))
        if any(sum(kind in window.spliced.split() for window in spliced) < SPLICED for kind in row.spliced.split()):
            spliced.append(row)
        # Reservoir sampling: every row is equally likely to be an example.
        if len(examples) < EXAMPLES:
            examples.append(row)
        elif (place := rng.randrange(at + 1)) < EXAMPLES:
            examples[place] = row
    fences = Distribution([rate for counts in splits.values() for rate in counts.rates]).fences or (0.0, 0.0)
    slow = [(-rate, row) for rate, _, row in sorted(slowest, reverse=True) if -rate < fences[0]]
    fast = [(rate, row) for rate, _, row in sorted(fastest, reverse=True) if rate > fences[1]]
    return Survey(splits, _summary(list(manifests.values())), tokens, examples, slow, fast, spliced)


def _keep(heap: _Ranked, entry: tuple[float, int, Segment]) -> None:
    """Keep ``entry`` if it is among the largest; row numbers break ties, so that rows are never compared."""
    if len(heap) < EXTREMES:
        heapq.heappush(heap, entry)
    else:
        heapq.heappushpop(heap, entry)


def _summary(manifests: Sequence[Path]) -> dict[str, Any]:
    folder = manifests[0].parent
    facts = plain_json.read_mapping(folder / "prepared.json")  # a manifest of another tool has none
    summary = {name: facts[name] for name, kind in _SUMMARY.items() if isinstance(facts.get(name), kind)}
    of_summary = {folder / f"{split}.jsonl" for split in summary.get("splits", ())}
    beside = {path for split in manifest.SPLITS if (path := folder / f"{split}.jsonl").is_file()}
    whole = set(manifests) == beside and of_summary <= beside
    return {name: value for name, value in summary.items() if whole or name not in _WHOLE_FOLDER_KEYS}


def _rates(count: Mapping[str, int]) -> dict[str, float | None]:
    kinds = [kind.value for kind in Disfluency if kind.value in count]
    words = count.get("fluent_words", 0)
    return {kind: round(100 * count[kind] / words, 3) if words else None for kind in kinds}


def segment_fields(row: Segment) -> dict[str, Any]:
    """Return the fields that identify a row, and its text."""
    names = ("audio_filepath", "offset", "duration", "speaker", "split", "text")
    return {name: getattr(row, name) for name in names}
