"""Counts of a split's windows, the distributions of their measures, and what their text holds."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import TIMESTAMP, Segment


@dataclass(frozen=True)
class Distribution:
    """The values of one measure.

    >>> Distribution([1, 2, 2, 3, 30]).quartiles, Distribution([1, 2, 2, 3, 30]).outliers
    ([1.0, 2.0, 2.0, 3.0, 30.0], 1)
    """

    values: Sequence[float]

    @property
    def quartiles(self) -> list[float] | None:
        """Minimum, lower quartile, median, upper quartile, maximum; ``None`` without values."""
        if not len(self.values):
            return None
        return [float(value) for value in np.quantile(np.asarray(self.values, float), (0, 0.25, 0.5, 0.75, 1))]

    @property
    def fences(self) -> tuple[float, float] | None:
        """Tukey's fences: 1.5 interquartile ranges below the lower and above the upper quartile."""
        if (quartiles := self.quartiles) is None:
            return None
        _, low, _, high, _ = quartiles
        return low - 1.5 * (high - low), high + 1.5 * (high - low)

    @property
    def outliers(self) -> int:
        """The number of values outside the fences."""
        if (fences := self.fences) is None:
            return 0
        values = np.asarray(self.values, float)
        return int(((values < fences[0]) | (values > fences[1])).sum())

    def histogram(self, top: float = 0.0, *, bins: int = 30) -> tuple[list[int], float]:
        """Return counts in equal bins from 0 to the larger of ``top`` and the maximum, and the width of a bin."""
        top = max(top, float(np.max(self.values)) if len(self.values) else 0.0) or 1.0
        counts, edges = np.histogram(np.asarray(self.values, float), bins=bins, range=(0.0, top))
        return [int(count) for count in counts], float(edges[1])

    def as_dict(self) -> dict[str, Any] | None:
        """Return the quartiles by name, ready for JSON; ``None`` without values."""
        if (quartiles := self.quartiles) is None:
            return None
        names = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
        return {name: round(value, 3) for name, value in zip(names, quartiles, strict=True)}


@dataclass
class WindowCounts:
    """Counts of one or more splits; ``+`` adds them.

    Attributes:
        ms_by_speaker: Milliseconds of the windows in which each speaker speaks; ``unknown`` without a speaker id.
    """

    durations: array[float] = field(default_factory=lambda: array("d"))
    tokens: array[int] = field(default_factory=lambda: array("l"))
    rates: array[float] = field(default_factory=lambda: array("d"))
    fluent_words: int = 0
    events: Counter[str] = field(default_factory=Counter)
    ms_by_speaker: Counter[str] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    vocabulary: Counter[str] = field(default_factory=Counter)

    def add(self, row: Segment, tokens: int) -> None:
        """Count ``row``, whose decoder sequence has ``tokens`` tokens."""
        words, fluent, events = read_text(row)
        self.durations.append(row.duration)
        self.tokens.append(tokens)
        self.rates.append(len(words) / row.duration)
        self.fluent_words += fluent
        self.vocabulary.update(words)
        self.events.update(events)
        for speaker in set((row.speaker or "unknown").split("+")):
            self.ms_by_speaker[speaker] += round(row.duration * 1000)
        self.sessions.add(f"{row.corpus}/{row.session}")

    def __add__(self, other: WindowCounts) -> WindowCounts:
        return WindowCounts(
            self.durations + other.durations,
            self.tokens + other.tokens,
            self.rates + other.rates,
            self.fluent_words + other.fluent_words,
            self.events + other.events,
            self.ms_by_speaker + other.ms_by_speaker,
            self.sessions | other.sessions,
            self.vocabulary + other.vocabulary,
        )

    @property
    def words(self) -> int:
        """Number of running words."""
        return self.vocabulary.total()

    @property
    def seconds(self) -> float:
        """Total duration of the windows."""
        return sum(self.durations)

    def padding(self, context_s: float) -> float | None:
        """Return the share of the model's input that is padding."""
        return round(1 - self.seconds / (len(self.durations) * context_s), 4) if self.durations else None

    def oov_rate(self, known_words: Iterable[str]) -> float | None:
        """Return the out-of-vocabulary rate: the share of running words that are not among ``known_words``."""
        new = self.vocabulary.keys() - set(known_words)
        return round(sum(self.vocabulary[word] for word in new) / self.words, 4) if self.words else None

    def as_dict(self, context_s: float, limit: int) -> dict[str, Any]:
        """Return the counts, ready for JSON; ``limit`` is the decoder's number of positions."""
        seconds, durations = self.seconds, Distribution(self.durations).quartiles
        shortest, _, median, _, longest = [round(value, 3) for value in durations] if durations else [None] * 5
        speakers = self.ms_by_speaker.keys() - {"unknown"}
        return {
            "segments": len(self.durations),
            "sessions": len(self.sessions),
            "speakers": len(speakers),
            "hours": round(seconds / 3600, 6),
            "shortest_s": shortest,
            "median_s": median,
            "longest_s": longest,
            "padding": self.padding(context_s),
            "words": self.words,
            "words_per_s": round(self.words / seconds, 3) if seconds else None,
            "vocabulary": len(self.vocabulary),
            "longest_tokens": max(self.tokens, default=None),
            "over_limit": sum(count > limit for count in self.tokens),
        }


def read_text(row: Segment) -> tuple[list[str], int, list[str]]:
    """Return the words in a row's text, the number of fluent words, and the kinds of its disfluencies.

    >>> read_text(Segment("a.wav", 0, 2, "<|0.00|>&-um I want [/] want it .<|1.90|>"))
    (['um', 'I', 'want', 'want', 'it'], 3, ['filled_pause', 'repetition'])

    Raises:
        LsaWhisperError: The row's label style or version is unknown.
    """
    utterances = decode(TIMESTAMP.sub(" ", row.text), Labels.from_name(row.labels), language=row.lang).utterances
    words = [word for utterance in utterances for word in utterance.verbatim()]
    fluent = sum(len(utterance.fluent()) for utterance in utterances)
    return words, fluent, [event.kind.value for utterance in utterances for event in utterance.events()]


def timed_lines(text: str) -> list[tuple[float | None, str]]:
    """Return the texts between timestamps with their start times in seconds; ``None`` without timestamps.

    >>> timed_lines("<|0.20|>hello .<|1.00|><|1.50|>um yes .<|2.00|>"), timed_lines("no .")
    ([(0.2, 'hello .'), (1.5, 'um yes .')], [(None, 'no .')])
    """
    parts = TIMESTAMP.split(text)
    starts = [None, *map(float, parts[1::2])]
    return [(start, part.strip()) for start, part in zip(starts, parts[::2], strict=True) if part.strip()]
