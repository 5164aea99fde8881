"""The counts of one file, and a table of them: some are kept for each file, all are summed over files.

A corpus has thousands of files, and confidence intervals need the counts of each. Objects take about 15 KB per file;
the rows of numbers in :class:`FileTable` take 600 bytes, 160 more for each language sample of either transcript, and
the file name.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, fields
from functools import cached_property
from itertools import islice
from math import isnan, nan
from typing import Any

import numpy as np

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.aligned_utterances import AlignedUtterance
from lsa_whisper.scoring.confusion import Confusion
from lsa_whisper.scoring.counts import Additive, ByLabel, Detections, WordErrors
from lsa_whisper.scoring.disfluency import SCORED, DisfluencyScores
from lsa_whisper.scoring.hallucination import Hallucinations
from lsa_whisper.scoring.language_sample import LanguageSample
from lsa_whisper.scoring.speakers import SpeakerErrors

EVERYONE = "everyone"
"""The key of the language sample of all speakers together."""

SamplesBySpeaker = dict[str, tuple[LanguageSample, LanguageSample | None]]
"""Per speaker (and :data:`EVERYONE`): reference, hypothesis; ``None`` where the hypothesis has no such speaker."""


@dataclass(frozen=True, kw_only=True)
class _PerFile:
    """Counts that are kept for each file, and summed."""

    verbatim: WordErrors = field(default_factory=WordErrors)
    verbatim_raw: WordErrors = field(default_factory=WordErrors)
    fluent: WordErrors = field(default_factory=WordErrors)
    fluent_raw: WordErrors = field(default_factory=WordErrors)
    characters: WordErrors = field(default_factory=WordErrors)
    fluent_characters: WordErrors = field(default_factory=WordErrors)
    disfluency: DisfluencyScores = field(default_factory=DisfluencyScores)
    timed: DisfluencyScores = field(default_factory=DisfluencyScores)
    """Events matched by class and time, regardless of words."""
    boundaries: Detections = field(default_factory=Detections)


@dataclass(frozen=True, kw_only=True)
class _TotalsOnly:
    """Counts that are kept as sums over all files only."""

    by_speaker: ByLabel[WordErrors] = field(default_factory=ByLabel)
    groups: ByLabel[ByLabel[WordErrors]] = field(default_factory=ByLabel)
    """Verbatim errors by ``role``, ``age`` and ``length`` of the utterance."""
    written: Counter[Disfluency] = field(default_factory=Counter)
    """The events of the hypothesis."""
    dropped: int = 0
    """The number of ``xxx``, ``yyy`` and ``www`` of the hypothesis that were left out."""
    confusion: Confusion = field(default_factory=Counter)
    hallucinations: Hallucinations = field(default_factory=Hallucinations)
    published: ByLabel[WordErrors] = field(default_factory=ByLabel)
    typed: ByLabel[Detections] = field(default_factory=ByLabel)
    """By type of disfluency, in the manner of the Nyra Verbatim Speech Benchmark; empty unless requested."""
    class_characters: ByLabel[WordErrors] = field(default_factory=ByLabel)
    """Character errors in the words of each class of disfluency."""
    speakers: SpeakerErrors = field(default_factory=SpeakerErrors)


@dataclass(frozen=True, kw_only=True)
class FileCounts(_PerFile):
    """The counts kept for each file. ``missing``: there is no hypothesis, so every word counts as deleted."""

    key: str
    missing: bool
    same_role: tuple[int, int] = (0, 0)
    """Paired words whose speakers have the same role, of those judged."""
    fluent_words: tuple[int, int] = (0, 0)
    """In the reference, in the hypothesis."""
    samples: SamplesBySpeaker = field(default_factory=dict)

    @property
    def disfluency_rates(self) -> tuple[float | None, float | None]:
        """The events of all classes per 100 fluent words, in the reference and in the hypothesis."""
        together = self.disfluency.together
        events = together.reference_events, together.hypothesis_events
        rates = [100 * count / words if words else None for count, words in zip(events, self.fluent_words, strict=True)]
        return rates[0], rates[1]


@dataclass(frozen=True, kw_only=True)
class FileScores(FileCounts, _TotalsOnly):
    """All counts of one file, and its aligned utterances."""

    aligned: tuple[AlignedUtterance, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Totals(_PerFile, _TotalsOnly, Additive):
    """Sums over files, by the names they have in :class:`FileScores`."""

    @classmethod
    def of(cls, scores: FileScores) -> Totals:
        """Return the sums over one file."""
        return cls(**{total.name: getattr(scores, total.name) for total in fields(cls)})

    @property
    def observed(self) -> frozenset[Disfluency]:
        """The classes that were written, or found in the words although no mark says so."""
        hits = {kind for kind, detections in self.disfluency.by_class.items() if detections.true_positives}
        return frozenset(self.written) | hits


_NAMES = tuple(field.name for field in fields(LanguageSample))
_MEASURES = len(_NAMES)
_INTEGER_MEASURES = {"utterances", "total_words", "different_words", "abandoned", "ndw_100"}
WORD_ERRORS = ("verbatim", "verbatim_raw", "fluent", "fluent_raw", "characters", "fluent_characters")
"""The word errors of a file: the names of their fields."""


class FileTable:
    """The counts of each file, in order; an item is a new :class:`FileCounts` each time.

    >>> table = FileTable()
    >>> table.append(FileCounts(key="a", missing=False, verbatim=WordErrors(hits=3)))
    >>> table[0].verbatim.hits, len(table)
    (3, 1)
    """

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._numbers = array("i")
        self._speakers: list[tuple[str, ...]] = []
        self._same: dict[tuple[str, ...], tuple[str, ...]] = {}  # most files have the same speakers
        self._starts = array("q", [0])
        self._measures = array("d")

    def append(self, counts: FileCounts) -> None:
        """Append the counts of one file."""
        self.keys.append(counts.key)
        self._numbers.extend(_flat(counts))
        speakers = tuple(counts.samples)
        self._speakers.append(self._same.setdefault(speakers, speakers))
        for pair in counts.samples.values():
            for sample in pair:
                values = (None,) * _MEASURES if sample is None else astuple(sample)
                self._measures.extend([nan if value is None else value for value in values])
        self._starts.append(len(self._measures))

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[FileCounts]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> FileCounts:
        numbers = self._numbers[number * _WIDTH : (number + 1) * _WIDTH]
        samples: SamplesBySpeaker = {}
        for at, speaker in enumerate(self._speakers[number]):
            start = self._starts[number] + 2 * at * _MEASURES
            reference, hypothesis = (self._measures[n : n + _MEASURES].tolist() for n in (start, start + _MEASURES))
            samples[speaker] = _sample(reference), None if isnan(hypothesis[0]) else _sample(hypothesis)
        return _built(self.keys[number], iter(numbers), samples)

    @property
    def missing(self) -> list[bool]:
        """Whether there was no hypothesis, per file."""
        return [number == 1 for number in self._numbers[_WIDTH - 1 :: _WIDTH]]

    @property
    def speakers(self) -> list[str]:
        """The speakers (and everyone) that both sides of some file have language samples of."""
        return list(dict.fromkeys(who for who, at in self._sampled() if not isnan(self._measures[at + _MEASURES])))

    def measured(self, measure: str, speaker: str) -> Iterator[tuple[float, float]]:
        """Yield a measure of ``speaker`` in every file that has it: reference, hypothesis; nan where undefined."""
        number = _NAMES.index(measure)
        places = (at + number for who, at in self._sampled() if who == speaker)
        return ((self._measures[at], self._measures[at + _MEASURES]) for at in places)

    def _sampled(self) -> Iterator[tuple[str, int]]:
        """Yield every speaker of every file, and where the measures begin: the reference's, then the hypothesis'."""
        for speakers, start in zip(self._speakers, self._starts, strict=False):
            yield from ((who, start + 2 * n * _MEASURES) for n, who in enumerate(speakers))

    @cached_property
    def columns(self) -> Any:
        """All files at once: :class:`FileCounts` of arrays of shape (files,), so what is computed of them is one, too.

        Valid once all files are appended. It has no language samples.
        """
        return _built("", iter(np.frombuffer(self._numbers, dtype=np.intc).reshape(-1, _WIDTH).T), {})


def _flat(counts: FileCounts) -> list[int]:
    """Return every count of a file in the order in which :func:`_built` takes them."""
    scores = counts.disfluency, counts.timed
    parts = [astuple(getattr(counts, name)) for name in WORD_ERRORS]
    parts += [astuple(own) for score in scores for own in (*map(score.__getitem__, SCORED), score.fragment_exact)]
    parts += [astuple(counts.boundaries), counts.same_role, counts.fluent_words, (counts.missing,)]
    return [number for part in parts for number in part]


def _built(key: str, numbers: Iterator[Any], samples: SamplesBySpeaker) -> FileCounts:
    """Return the counts built from ``numbers``, each a number or an array of them."""

    def detections() -> Detections:
        return Detections(*islice(numbers, 4))

    words = {name: WordErrors(*islice(numbers, 6)) for name in WORD_ERRORS}
    disfluency, timed = (DisfluencyScores({kind: detections() for kind in SCORED}, detections()) for _ in range(2))
    return FileCounts(
        key=key,
        **words,
        disfluency=disfluency,
        timed=timed,
        boundaries=detections(),
        same_role=(next(numbers), next(numbers)),
        fluent_words=(next(numbers), next(numbers)),
        missing=next(numbers) == 1,
        samples=samples,
    )


_WIDTH = len(_flat(FileCounts(key="", missing=False)))


def _sample(values: list[float]) -> LanguageSample:
    pairs = zip(_NAMES, values, strict=True)
    measures: dict[str, Any] = {n: None if isnan(v) else int(v) if n in _INTEGER_MEASURES else v for n, v in pairs}
    return LanguageSample(**measures)
