"""The tables and the first sentences of the page on transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from lsa_whisper.chat import Disfluency
from lsa_whisper.inspection.measure_names import SUMMARY_MEASURES, measure_cell, measure_name
from lsa_whisper.inspection.sample.files import SampleFile, SampleSpeaker
from lsa_whisper.inspection.tables import TextTable
from lsa_whisper.inspection.text_output import format_number
from lsa_whisper.labels import Coverage
from lsa_whisper.page.language import gettext
from lsa_whisper.page.terms import class_name
from lsa_whisper.page.text import page_counted

SIDE_BY_SIDE = 6
"""How many speakers are columns of a table; more are rows."""
_GROUPS = 3


def summary_sentences(files: Sequence[SampleFile]) -> Iterator[str]:
    """Yield what was measured of each speaker of a few transcripts, or of how many, in sentences."""
    speakers = [speaker for file in files for speaker in file.speakers]
    words = sum(speaker.measures.sample.total_words for speaker in speakers)
    if len(speakers) > SIDE_BY_SIDE:
        persons = len({(speaker.person, speaker.code) for speaker in speakers})
        sizes = page_counted(len(files), "transcript"), page_counted(persons, "speaker")
        yield f"{', '.join(sizes)}, {page_counted(words, 'fluent word')}."
        return
    for file in files:
        for speaker in file.speakers:
            yield _sentence(speaker, file.name if len(files) > 1 else "")


def _sentence(speaker: SampleSpeaker, file: str) -> str:
    sample, counts = speaker.measures.sample, speaker.measures.disfluency
    about = ", ".join(filter(None, (speaker.role.replace("_", " ").lower(), speaker.age)))
    name = " ".join(filter(None, (file, speaker.code))) + (f" ({about})" if about else "")
    text = f"{name}: {page_counted(sample.utterances, 'utterance')}, {page_counted(sample.total_words, 'fluent word')}"
    if sample.mlu_words is not None:
        text += gettext(", {n:.2f} words in an utterance").format(n=sample.mlu_words)
    if counts["sld_per_100_words"] is None:
        return f"{text}."
    sld, td, weighted = (counts[name] for name in ("sld_per_100_words", "td_per_100_words", "weighted_sld"))
    if isinstance(sld, str) or isinstance(td, str):
        return text + gettext(". Not all disfluencies were transcribed.")
    rates = gettext("; {sld:.2f} stuttering-like and {td:.2f} typical disfluencies per 100 words")
    more = gettext("; weighted SLD {n:.2f}").format(n=weighted) if isinstance(weighted, float) else ""
    return f"{text}{rates.format(sld=sld, td=td)}{more}."


def measures_tables(files: Sequence[SampleFile]) -> list[TextTable]:
    """Return all measures: a column for each of a few speakers, else a short and a complete table of them as rows."""
    speakers = [(f"{file.name} " * (len(files) > 1), speaker) for file in files for speaker in file.speakers]
    rows = {f"{place}{speaker.code}": speaker.measures.as_dict() for place, speaker in speakers}
    measures = list(next(iter(rows.values()), {}))
    note = gettext(
        "Fluent words: without fillers, cut-off words, nonwords, retraced words and xxx. A dash: not in this sample."
    )
    heading = gettext("Measures of each speaker")
    if len(rows) > SIDE_BY_SIDE:
        titles = {heading: SUMMARY_MEASURES, gettext("All measures of each speaker"): measures}
        return [
            TextTable(
                title,
                ["", *map(measure_name, names)],
                [[who, *(measure_cell(row, name) for name in names)] for who, row in rows.items()],
                note,
            )
            for title, names in titles.items()
        ]
    lines = [[measure_name(name), *(measure_cell(row, name) for row in rows.values())] for name in measures]
    return [TextTable(heading, ["", *rows], lines, note)]


def class_table(files: Sequence[SampleFile]) -> TextTable:
    """Return the disfluencies of each class per 100 words and per 100 syllables, of each speaker or role."""
    groups = _groups(files)
    rates = "", gettext(" per 100 words"), gettext(" per 100 syllables")
    head = [f"{name}{what}" for name in groups for what in rates]
    counts = [_Counts.of(own) for own in groups.values()]
    rows = [
        [class_name(kind), *(cell for group in counts for cell in group.cells(kind))]
        for kind in Disfluency
        if any(group.events[kind] or group.coverage.gap([kind]) for group in counts)
    ]
    note = gettext(
        "The classes as the evaluation report counts them; SLD and TD above put some of them together, as FluCalc does."
    )
    return TextTable(gettext("Disfluencies by class"), ["", *head], rows, note)


_Speakers = list[tuple[SampleFile, SampleSpeaker]]


def _groups(files: Sequence[SampleFile]) -> dict[str, _Speakers]:
    """Return the speakers of one transcript, or those of all transcripts by role, the ones with the most words."""
    groups: dict[str, _Speakers] = {}
    for file in files:
        for speaker in file.speakers:
            name = speaker.code if len(files) == 1 else speaker.role.replace("_", " ") or speaker.code
            groups.setdefault(name, []).append((file, speaker))
    most = sorted(groups, key=lambda name: -sum(own.measures.sample.total_words for _, own in groups[name]))[:_GROUPS]
    return {name: own for name, own in groups.items() if name in most}


@dataclass(frozen=True)
class _Counts:
    """The disfluencies, words and syllables of a group of speakers, and what the models of any of them left out."""

    events: Counter[Disfluency]
    words: int
    syllables: int  # 0: not known of everyone
    coverage: Coverage

    @classmethod
    def of(cls, speakers: _Speakers) -> _Counts:
        events = Counter(
            event.kind
            for file, speaker in speakers
            for utterance in file.transcript.utterances
            if utterance.speaker == speaker.code
            for event in utterance.reading.events
        )
        counts = [speaker.measures.disfluency for _, speaker in speakers]
        is_known = all(own["syllables"] is not None for own in counts if own["words"])
        words, syllables = (sum(own[what] or 0 for own in counts) for what in ("words", "syllables"))
        coverage = reduce(or_, (speaker.measures.coverage for _, speaker in speakers), Coverage())
        return cls(events, words, syllables if is_known else 0, coverage)

    def cells(self, kind: Disfluency) -> Iterator[str]:
        """Yield the number of a class, and its rates per 100 words and per 100 syllables, if all were transcribed."""
        yield gettext(self.coverage.gap([kind], count=self.events[kind])) or format_number(self.events[kind])
        gap = gettext(self.coverage.gap([kind]))
        for of in (self.words, self.syllables):
            yield gap or format_number(100 * self.events[kind] / of if of else None)
