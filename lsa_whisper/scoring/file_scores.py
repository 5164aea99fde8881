"""The counts of one file: some are kept for each file, because confidence intervals need them, all are summed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.aligned_utterances import AlignedUtterance
from lsa_whisper.scoring.confusion import Confusion
from lsa_whisper.scoring.counts import Additive, ByLabel, Detections, WordErrors
from lsa_whisper.scoring.disfluency import DisfluencyScores
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

    @classmethod
    def of(cls, scores: FileScores) -> FileCounts:
        """Return what is kept of the scores of one file."""
        return cls(**{count.name: getattr(scores, count.name) for count in fields(FileCounts)})

    @property
    def disfluency_rates(self) -> tuple[float | None, float | None]:
        """The events of all classes per 100 fluent words, in the reference and in the hypothesis."""
        return self.rates(self.disfluency.together)

    def rates(self, detections: Detections) -> tuple[float | None, float | None]:
        """Return the events in ``detections`` per 100 fluent words, in the reference and in the hypothesis."""
        events = detections.reference_events, detections.hypothesis_events
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


WORD_ERRORS = ("verbatim", "verbatim_raw", "fluent", "fluent_raw", "characters", "fluent_characters")
"""The word errors of a file: the names of their fields."""
