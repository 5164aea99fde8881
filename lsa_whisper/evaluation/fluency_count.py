"""Whether a fluency count may be taken from a system's transcripts: of which classes, and how far off it is.

Conventions:

- A class can be counted if at least :data:`GOOD` of its disfluencies are found and at least as many of those written
  were spoken. Fewer than :data:`~lsa_whisper.scoring.bootstrap.MIN_EVENTS` in the references tell nothing.
- A class that a system does not write cannot be counted.
- How far off: disfluencies of all classes per 100 words, transcript minus reference, over recordings, with Bland and
  Altman's limits of agreement, between which about 95 % of single recordings lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsa_whisper.chat import Disfluency
from lsa_whisper.page.language import gettext
from lsa_whisper.page.terms import class_name
from lsa_whisper.page.text import join_with_and
from lsa_whisper.scoring.agreement import Agreement, agreement
from lsa_whisper.scoring.bootstrap import MIN_EVENTS, MIN_UNITS
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.system import System

GOOD = 0.8
"""Two clinicians who count the same recording agree in about so many disfluencies."""


def can_count(detections: Detections) -> bool | None:
    """Return whether a class can be counted; ``None`` if there are too few to tell.

    >>> can_count(Detections(18, 2, 2)), can_count(Detections(18, 20, 2)), can_count(Detections(3, 0, 0))
    (True, False, None)
    >>> can_count(Detections(not_scored=40))
    False
    """
    if detections.reference_events < MIN_EVENTS:
        return None
    return (detections.recall or 0) >= GOOD and (detections.precision or 0) >= GOOD


def fluency_answers(systems: Sequence[System]) -> list[str]:
    """Return three sentences for each system: whether a count may be taken, of which classes, and how far off it is."""
    return [" ".join(_answer(system)) for system in systems]


def _answer(system: System) -> Iterator[str]:
    countable = {kind: can_count(score) for kind, score in system.disfluency.by_class.items() if score.reference_events}
    yes, no, unknown = ([kind for kind, can in countable.items() if can is value] for value in (True, False, None))
    if not countable:
        yield gettext("The references have no disfluencies that {system} could find.").format(system=system.name)
        return
    if not yes and not no:
        may = gettext("Whether a fluency count may be taken from the transcripts of {system} cannot be told.")
    elif yes and not no:
        may = gettext("A fluency count may be taken from the transcripts of {system}.")
    elif yes:
        may = gettext("A fluency count may be taken from the transcripts of {system}, of some classes only.")
    else:
        may = gettext("A fluency count may not be taken from the transcripts of {system}.")
    yield may.format(system=system.name)
    yield _which(yes, no, unknown)
    if not system.has_gaps:
        yield _how_far(agreement(scores.disfluency_rates for scores in system.files))


def _which(yes: Sequence[Disfluency], no: Sequence[Disfluency], unknown: Sequence[Disfluency]) -> str:
    """Return which classes can be counted, which cannot, and which are too rare to tell."""
    parts = (
        (gettext("can be counted: {classes}"), yes),
        (gettext("cannot: {classes}") if yes else gettext("cannot be counted: {classes}"), no),
        (gettext("fewer than {n}, too few to tell: {classes}"), unknown),
    )
    groups = ((text, join_with_and([*map(class_name, kinds)])) for text, kinds in parts if kinds)
    sentence = "; ".join(text.format(n=MIN_EVENTS, classes=classes) for text, classes in groups)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _how_far(off: Agreement) -> str:
    """Return how far off the count of all disfluencies is.

    >>> _how_far(agreement([(5, 4), (6, 6), (7, 6), (5, 5)]))
    'Its counts per 100 words are on average 0.5 too low, in a single recording between 1.6 too low and 0.6 too high.'
    >>> _how_far(agreement([(5, 5)] * 4))
    'Its counts per 100 words are right in each recording.'
    >>> _how_far(agreement([(5, 4)]))
    'How far off its counts are cannot be told: 1 recording is too few.'
    """
    if off.samples < MIN_UNITS or off.bias is None or off.low is None or off.high is None:
        few = gettext("How far off its counts are cannot be told: {n} recordings are too few.")
        too_few = gettext("How far off its counts are cannot be told: 1 recording is too few.")
        return too_few if off.samples == 1 else few.format(n=off.samples)
    if _off(off.low) == _off(off.high):
        return gettext("Its counts per 100 words are {off} in each recording.").format(off=_off(off.bias))
    average = gettext("Its counts per 100 words are on average {off}").format(off=_off(off.bias))
    if off.high - off.low > 2 * (off.reference_mean or 0):
        return average + gettext("; recordings differ too much to say how far off a single one is.")
    single = gettext(", in a single recording between {low} and {high}.")
    return average + single.format(low=_off(off.low), high=_off(off.high))


def _off(value: float) -> str:
    if abs(value) < 0.05:
        return gettext("right")
    return (gettext("{n:.1f} too high") if value > 0 else gettext("{n:.1f} too low")).format(n=abs(value))
