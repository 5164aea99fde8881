"""Disfluency detection: which disfluencies of the reference the hypothesis has, at the same words.

Conventions, per class (events are compared through the word alignment; each matches at most one other):

- Filled pauses, nonwords, part-word repetitions, prolongations, blocks and broken words: found when a word of the
  event is aligned with a word of an event of the same class. Which filler it is counts in word errors only.
- Fragments: as above, and one of the two must begin the other (``f-`` for ``fr-``). ``fragment_exact`` requires the
  same letters.
- Repetitions: found when every word of every copy is aligned with a word of the hypothesis and a repetition of the
  hypothesis is marked among these copies, however it groups them: ``<I want> [/] I want`` is also
  ``I [/] want [/] I want`` or ``I want [/] I want``. So one mark may be right for several, and several for one.
  Fillers, cut-off words and nonwords inside copies or between them are events of their own, and need not be there.
- Revisions, reformulations, false starts: found when the retraced words of both overlap by at least half.
- Pauses: found when no aligned word lies between the two pauses. Their length is not compared.
- A class that the system does not support is *not scored*; see :func:`supported_classes`.
- Hypothesis events on words aligned with unintelligible speech are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lsa_whisper.chat import Disfluency, Event
from lsa_whisper.chat.disfluencies import Match
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.segmentation import matched_gaps
from lsa_whisper.scoring.words import NON_WORDS, FileWords, events_at

INFERRED_FROM_WORDS = frozenset(kind for kind in Disfluency if kind.row.in_words)
"""The classes that can be recognized in a transcript without marks."""
SCORED = tuple(kind for kind in Disfluency if kind.row.match is not Match.NOT_SCORED)
"""The classes that are scored; ``[/?]`` leaves its kind open, so it cannot be right or wrong."""


@dataclass(frozen=True)
class DisfluencyScores:
    """Detections per class; only ``+`` combines them."""

    by_class: dict[Disfluency, Detections] = field(default_factory=dict)
    fragment_exact: Detections = field(default_factory=Detections)

    def __getitem__(self, kind: Disfluency) -> Detections:
        return self.by_class.get(kind, Detections())

    def __add__(self, other: DisfluencyScores) -> DisfluencyScores:
        kinds = [kind for kind in SCORED if kind in self.by_class or kind in other.by_class]
        return DisfluencyScores({k: self[k] + other[k] for k in kinds}, self.fragment_exact + other.fragment_exact)

    def only(self, supported_classes: frozenset[Disfluency]) -> DisfluencyScores:
        """Return the scores with every class outside ``supported_classes`` counted as not scored."""
        by_class = {
            kind: d if kind in supported_classes else Detections(not_scored=d.reference_events)
            for kind, d in self.by_class.items()
        }
        return DisfluencyScores(by_class, self.fragment_exact)

    @property
    def together(self) -> Detections:
        """All scored classes in one count."""
        return sum(self.by_class.values(), Detections())


def supported_classes(classes: Iterable[Disfluency]) -> frozenset[Disfluency]:
    """Return the classes that a system supports, judged by the classes in all its transcripts.

    Filled pauses, fragments and repetitions can be inferred from words. Any other class counts as supported if the
    system wrote any mark of its family (``&``-words; retraces; marks within words; pauses): one ``[/]`` shows that the
    system marks retraces, so a missing ``[//]`` is a false negative.

    >>> Disfluency.REVISION in supported_classes([Disfluency.REPETITION]), Disfluency.BLOCK in supported_classes([])
    (True, False)
    """
    families = {kind.row.family for kind in classes if kind in SCORED}
    return frozenset(kind for kind in SCORED if kind in INFERRED_FROM_WORDS or kind.row.family in families)


def score_disfluencies(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> DisfluencyScores:
    """Return the detections of every class in one file, whether or not the system can write the class."""
    by_class: dict[Disfluency, Detections] = {}
    fragments = Detections()
    for kind, expected, actual, pairs in _matches(reference, hypothesis, alignment):
        by_class[kind] = _detections(expected, actual, pairs)
        if kind is Disfluency.FRAGMENT:
            exact = Matcher(reference, hypothesis, alignment, kind, exact=True)
            fragments = _detections(expected, actual, exact.matched(expected, actual))
    return DisfluencyScores(by_class, fragments)


def unmatched_events(
    reference: FileWords, hypothesis: FileWords, alignment: Alignment
) -> tuple[list[Event], list[Event]]:
    """Return the events that were missed, and those of the hypothesis that were not spoken.

    They are those that :func:`score_disfluencies` counts.
    """
    missed: list[Event] = []
    extra: list[Event] = []
    for _, expected, actual, pairs in _matches(reference, hypothesis, alignment):
        used = {number for number, _ in pairs}, {number for _, number in pairs}
        missed += [event for number, event in enumerate(expected) if number not in used[0]]
        extra += [event for number, event in enumerate(actual) if number not in used[1]]
    return missed, extra


def _matches(
    reference: FileWords, hypothesis: FileWords, alignment: Alignment
) -> Iterator[tuple[Disfluency, list[Event], list[Event], list[tuple[int, int]]]]:
    """Yield each class, its events on both sides, and those that match, as indices into both."""
    of_reference, of_hypothesis = _by_class(reference.events), _by_class(_judged(hypothesis.events, alignment))
    for kind in SCORED:
        expected, actual = of_reference.get(kind, []), of_hypothesis.get(kind, [])
        if kind.row.match is Match.GAP:
            expected, actual = (sorted(events, key=lambda event: event.start) for events in (expected, actual))
            of, by = ([event.start for event in events] for events in (expected, actual))
            yield kind, expected, actual, matched_gaps(of, by, alignment)
        else:
            yield kind, expected, actual, Matcher(reference, hypothesis, alignment, kind).matched(expected, actual)


def _detections(expected: Sequence[Event], actual: Sequence[Event], pairs: list[tuple[int, int]]) -> Detections:
    hits, right = len({number for number, _ in pairs}), len({other for _, other in pairs})
    return Detections(hits, len(actual) - right, len(expected) - hits)


def _by_class(events: Iterable[Event]) -> dict[Disfluency, list[Event]]:
    sorted_out: dict[Disfluency, list[Event]] = {}
    for event in events:
        sorted_out.setdefault(event.kind, []).append(event)
    return sorted_out


def _judged(events: Sequence[Event], alignment: Alignment) -> list[Event]:
    """Return the hypothesis events that do not lie wholly on words standing for unintelligible speech."""
    unclear = {int(h) for h in alignment.pairs[alignment.excluded, 1]}
    return [e for e in events if e.start == e.end or not unclear.issuperset(range(e.start, e.end))]


@dataclass(frozen=True)
class Matcher:
    """Pairs the events of one class other than pauses, the best agreement first."""

    reference: FileWords
    hypothesis: FileWords
    alignment: Alignment
    kind: Disfluency
    exact: bool = False

    def matched(self, expected: Sequence[Event], actual: Sequence[Event]) -> list[tuple[int, int]]:
        """Return the matching events, as indices into both sequences; only repetitions may occur more than once."""
        if self.kind.row.match is Match.SAME_COPIES:
            return list(self._repetitions(expected, actual))
        at = events_at(actual)
        candidates = set()
        for number, event in enumerate(expected):
            for other in {n for h in self._words(event.start, event.end) for n in at.get(h, ())}:
                agreement = self._agreement(event, actual[other])
                if agreement:
                    candidates.add((-agreement, number, other))
        pairs: dict[int, int] = {}
        taken = set()
        for _, number, other in sorted(candidates):
            if number not in pairs and other not in taken:
                pairs[number] = other
                taken.add(other)
        return list(pairs.items())

    def _words(self, start: int, end: int) -> list[int]:
        """Return the hypothesis words aligned with reference words ``start`` to ``end``."""
        return [int(h) for h in self.alignment.to_hypothesis[start:end] if h != UNALIGNED]

    def _agreement(self, expected: Event, actual: Event) -> float:
        """Return how well two events agree, from 0 (they do not) to 1."""
        common = len(set(self._words(expected.start, expected.end)) & set(range(actual.start, actual.end)))
        overlap = common / ((expected.end - expected.start) + (actual.end - actual.start) - common)
        if self.kind.row.match is Match.SAME_BEGINNING:
            return overlap * self._same_beginning(expected, actual)
        if self.kind.row.match is Match.HALF:
            return overlap if overlap >= 0.5 else 0.0
        return overlap

    def _repetitions(self, expected: Sequence[Event], actual: Sequence[Event]) -> Iterator[tuple[int, int]]:
        """Yield the pairs of repetitions whose copies are all there and of which the hypothesis marks a part."""
        copies = [self.copies(event) for event in expected]
        in_any = self._asides[1].union(*(word for first, again in copies for word in (first, again)))
        at = events_at(actual)
        for number, (first, _) in enumerate(copies):
            for other in sorted({n for word in first for n in at.get(word, ())}):
                if in_any.issuperset(range(actual[other].start, actual[other].end)):
                    yield number, other

    def copies(self, event: Event) -> tuple[list[int], list[int]]:
        """Return the hypothesis words of the first copy of a repetition, and of the last; none unless both are there.

        The words of the first copy must follow each other.
        """
        first = self._copy(event.start, event.end)
        if not first or not self._asides[1].union(first).issuperset(range(first[0], first[-1] + 1)):
            return [], []
        if event.repair_start is None or event.repair_end is None:
            return first, []
        again = self._copy(event.repair_start, event.repair_end)
        return (first, again) if again else ([], [])

    def _copy(self, start: int, end: int) -> list[int]:
        """Return the hypothesis words of a copy in the reference, asides left out; none unless all are there."""
        words = [at for at in range(start, end) if at not in self._asides[0]] or range(start, end)
        places = [int(self.alignment.to_hypothesis[at]) for at in words]
        return [] if UNALIGNED in places else places

    @cached_property
    def _asides(self) -> tuple[frozenset[int], frozenset[int]]:
        """The words of fillers, cut-off words and nonwords, in the reference and in the hypothesis."""
        sides = (self.reference, self.hypothesis)
        reference, hypothesis = (
            frozenset(at for event in side.events if event.kind in NON_WORDS for at in range(event.start, event.end))
            for side in sides
        )
        return reference, hypothesis

    def _same_beginning(self, expected: Event, actual: Event) -> bool:
        reference = "".join(self.reference.words[expected.start : expected.end]).rstrip("-")
        hypothesis = "".join(self.hypothesis.words[actual.start : actual.end]).rstrip("-")
        return reference == hypothesis or (
            not self.exact and (reference.startswith(hypothesis) or hypothesis.startswith(reference))
        )
