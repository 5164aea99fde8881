"""How often each class of disfluency occurs in CHAT, where in the utterance, and how long it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

from lsa_whisper.chat import Disfluency, Event, Utterance
from lsa_whisper.chat.tree import Marker
from lsa_whisper.errors import CorpusError
from lsa_whisper.system import plain_json
from lsa_whisper.timespan import TimeSpan

_SPLICES = sorted((kind.row.splice, kind) for kind in Disfluency if kind.row.splice)
SPLICED_CLASSES = tuple(kind for _, kind in _SPLICES)
"""The classes that can be spliced; a profile has no others."""
PAUSE_MARKS = ("(.)", "(..)", "(...)")
FLUENT_ADULTS = Path(__file__).with_name("fluent-adults.json")
"""The profile of fluent adults in meetings, counted by ``benchmarks/fluent_adults.py``."""
HARD_CLASSES = {kind: splice.weight for splice, kind in _SPLICES if splice.weight != 1}
"""Classes that a model learns only from more examples than others, and how many times as often they are spliced."""
MAX_DURATION_MS = 10_000
"""A longer silence is not a disfluency."""


@dataclass(frozen=True)
class ClassProfile:
    """Counts of one class.

    Attributes:
        count: How often it occurs.
        initial: The share of these at the start of an utterance.
        words: Mean number of words that are repeated, revised or broken off; 1 for other classes.
        silence_ms: Quartiles of the silence after it (of a pause: of the pause); empty if no word times are known.
    """

    count: int
    initial: float = 0.0
    words: float = 1.0
    silence_ms: tuple[int, ...] = ()


@dataclass(frozen=True)
class DisfluencyProfile:
    """The profile of a corpus.

    Attributes:
        fluent_words: Its fluent words.
        classes: Each class that occurs, by its name.
        pauses: Quartiles of the length of each mark of a pause, such as ``(.)``, in milliseconds.
    """

    fluent_words: int
    classes: Mapping[str, ClassProfile] = field(default_factory=dict)
    pauses: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def weights(self) -> dict[Disfluency, float]:
        """Return how often to splice each class relative to the others: by the square root of its count.

        Rare classes are the ones that a model does not learn from a corpus as it is; those of :data:`HARD_CLASSES`
        weigh more. A class that the corpus never marks has no weight, because a model must not learn marks that its
        transcribers do not write.

        >>> counts = {"filled_pause": ClassProfile(9), "block": ClassProfile(1), "fragment": ClassProfile(1)}
        >>> {kind.value: weight for kind, weight in DisfluencyProfile(100, counts).weights().items()}
        {'filled_pause': 3.0, 'block': 1.0, 'fragment': 4.0}
        """
        counts = {Disfluency(name): row.count for name, row in self.classes.items() if row.count}
        return {kind: HARD_CLASSES.get(kind, 1.0) * count**0.5 for kind, count in counts.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON, with the rate of each class."""
        words = self.fluent_words
        classes = {
            name: asdict(row) | {"per_100_words": round(100 * row.count / words, 3) if words else None}
            for name, row in self.classes.items()
        }
        return {"fluent_words": self.fluent_words, "classes": classes, "pauses": dict(self.pauses)}


def count_profile(utterances: Iterable[Utterance]) -> DisfluencyProfile:
    """Return the profile of ``utterances``.

    >>> from lsa_whisper.chat import utterance
    >>> profile = count_profile([utterance("CHI", "&-um the [/] the dog (.) ran .")])
    >>> profile.fluent_words, {name: (row.count, row.initial) for name, row in profile.classes.items()}
    (3, {'filled_pause': (1, 1.0), 'repetition': (1, 0.0), 'pause': (1, 0.0)})
    """
    utterances, fluent = list(utterances), 0
    events_of: dict[Disfluency, list[Event]] = {kind: [] for kind in SPLICED_CLASSES}
    silences: dict[Disfluency, list[int]] = {kind: [] for kind in SPLICED_CLASSES}
    for utterance in utterances:
        fluent += len(utterance.reading.fluent)
        spans = utterance.word_spans()
        for event in utterance.reading.events:
            if event.kind in events_of and (event.kind is not Disfluency.PAUSE or _is_inside(event, utterance)):
                events_of[event.kind].append(event)
                silences[event.kind] += _silence_after(event, spans)
    classes = {
        kind.value: ClassProfile(
            len(events),
            fmean(event.start == 0 for event in events),
            fmean(max(1, event.end - event.start) for event in events),
            _quartiles(silences[kind]),
        )
        for kind, events in events_of.items()
        if events
    }
    return DisfluencyProfile(fluent, classes, _pauses(utterances))


def _is_sound(profile: DisfluencyProfile) -> bool:
    """Return whether all numbers of a profile from a file are possible."""
    quartiles = [row.silence_ms for row in profile.classes.values() if row.silence_ms] + list(profile.pauses.values())
    return (
        all(Disfluency(name) in SPLICED_CLASSES for name in profile.classes)
        and all(row.count >= 0 and 0 <= row.initial <= 1 and row.words >= 0 for row in profile.classes.values())
        and all(
            len(quartile) == 3 and 0 <= quartile[0] <= quartile[1] <= quartile[2] <= MAX_DURATION_MS
            for quartile in quartiles
        )
        and set(profile.pauses) <= set(PAUSE_MARKS)
    )


def _is_inside(event: Event, utterance: Utterance) -> bool:
    return 0 < event.start < len(utterance.reading.verbatim)


def _silence_after(event: Event, spans: Sequence[TimeSpan | None]) -> list[int]:
    """Return the silence between the last word of ``event`` and the next word, if both times are known."""
    if not 0 < event.end < len(spans):
        return []
    before, after = spans[event.end - 1], spans[event.end]
    silence_ms = max(0, after.start_ms - before.end_ms) if before and after else MAX_DURATION_MS
    return [silence_ms] if silence_ms < MAX_DURATION_MS else []


def _quartiles(values: Sequence[int]) -> tuple[int, ...]:
    if len(values) < 2:
        return tuple(values) * 3
    return tuple(round(value) for value in quantiles(values, n=4, method="inclusive"))


def _pauses(utterances: Iterable[Utterance]) -> dict[str, tuple[int, ...]]:
    """Return the quartiles of the length of each mark of a pause that has word times around it."""
    lengths: dict[str, list[int]] = {}
    for utterance in utterances:
        marks = [item.text for item in utterance.tree.items if isinstance(item, Marker) and item.kind == "pause"]
        events = [event for event in utterance.reading.events if event.kind is Disfluency.PAUSE]
        if len(marks) != len(events):
            continue
        spans = utterance.word_spans()
        for mark, event in zip(marks, events, strict=True):
            if _is_inside(event, utterance) and mark in PAUSE_MARKS:
                lengths.setdefault(mark, []).extend(_silence_after(event, spans))
    return {mark: _quartiles(values) for mark, values in lengths.items() if values}


def read_profile(path: Path | str) -> DisfluencyProfile:
    """Return the profile that ``lsa-whisper inspect CORPUS --profile --json`` printed to the file ``path``.

    Args:
        path: The file, or ``fluent-adults`` for the shipped profile.

    Raises:
        CorpusError: The file is missing or is not such a profile.
    """
    remedy = "make one with 'lsa-whisper inspect CORPUS --profile --json'"
    try:
        data = plain_json.read(FLUENT_ADULTS if str(path) == FLUENT_ADULTS.stem else Path(path))
        classes = {
            Disfluency(name).value: ClassProfile(
                int(row["count"]), float(row["initial"]), float(row["words"]), tuple(map(int, row["silence_ms"]))
            )
            for name, row in data["classes"].items()
        }
        pauses = {str(mark): tuple(map(int, lengths)) for mark, lengths in data["pauses"].items()}
        profile = DisfluencyProfile(int(data["fluent_words"]), classes, pauses)
        if not _is_sound(profile):
            raise ValueError("impossible numbers")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); {remedy}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorpusError(f"{path}: is not a profile of disfluencies; {remedy}") from error
    return profile
