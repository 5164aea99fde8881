"""``summary.html``: one page that shows what each system found, missed and invented, and says what follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation.cells import percent
from lsa_whisper.evaluation.results import Evaluation
from lsa_whisper.labels import NOT_TRANSCRIBED
from lsa_whisper.page import templates
from lsa_whisper.page.language import gettext
from lsa_whisper.page.terms import class_title
from lsa_whisper.scoring.bootstrap import MIN_EVENTS
from lsa_whisper.scoring.counts import Detections
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.system import System
from lsa_whisper.version import __version__

_WIDTH = 300
"""Of all disfluencies in the reference, in the units of the picture; what is invented stands to their right."""
_MOST_INVENTED = 200
MAX_SYSTEMS = 6
"""With more, the page would not be one; those after the sixth are in the report only."""


@dataclass(frozen=True)
class Bar:
    """The bar of one class and one system; lengths are in units of the picture."""

    system: str
    number: int
    found: float
    missed: float
    invented: float
    text: str
    written: bool
    """Whether the system writes the class at all."""


@dataclass(frozen=True)
class SummaryRow:
    """The bars of one class."""

    title: str
    events: int
    rare: bool
    bars: tuple[Bar, ...]


def render_summary(evaluation: Evaluation) -> str:
    """Return the page."""
    systems = list(evaluation.systems.values())
    shown = systems[:MAX_SYSTEMS]
    errors = [(s.name, percent(s.word_errors_verbatim.rate), s.word_errors_verbatim.reference_words) for s in shown]
    facts = {
        "systems": [system.name for system in shown],
        "left_out": len(systems) - len(shown),
        "rows": (rows := list(_rows(shown))),
        "width": _WIDTH,
        "full_width": _WIDTH + 6 + max((bar.invented for row in rows for bar in row.bars), default=0.0),
        "comparison": evaluation.comparison,
        "answers": evaluation.answers[: len(shown)],
        "sample": evaluation.verdict[-1],
        "errors": errors,
        "unit": evaluation.material.unit,
        "date": evaluation.material.date,
        "version": __version__,
    }
    return templates("lsa_whisper.evaluation").get_template("summary.html.jinja").render(facts)


def _rows(systems: Sequence[System]) -> Iterator[SummaryRow]:
    for kind in SCORED:
        found = [system.disfluency[kind] for system in systems]
        if any(one.reference_events or one.hypothesis_events for one in found):
            events = found[0].reference_events
            bars = tuple(_bar(n, system, kind, one) for n, (system, one) in enumerate(zip(systems, found, strict=True)))
            yield SummaryRow(class_title(kind), events, events < MIN_EVENTS, bars)


def _bar(number: int, system: System, kind: Disfluency, found: Detections) -> Bar:
    unit = _WIDTH / max(found.reference_events, 1)
    if found.not_scored:
        text = gettext(NOT_TRANSCRIBED) if kind in system.left_out else gettext("not written by this system")
        return Bar(system.name, number, 0.0, _WIDTH, 0.0, text, False)
    counts = found.true_positives, found.false_negatives, found.false_positives
    names = gettext("found"), gettext("missed"), gettext("invented")
    text = ", ".join(f"{count:,} {name}" for count, name in zip(counts, names, strict=True))
    invented = min(found.false_positives * unit, _MOST_INVENTED)
    missed = found.false_negatives * unit
    return Bar(system.name, number, found.true_positives * unit, missed, invented, text, True)
