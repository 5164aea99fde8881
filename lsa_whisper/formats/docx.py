"""A transcript as a Word document for people: who said what and when, and what the marks mean that occur in it.

It is made by python-docx, and is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.chat.codes import RECORD
from lsa_whisper.chat.disfluencies import Disfluency
from lsa_whisper.timespan import TimeSpan

_Row = tuple[list[str], list[str]]
"""The texts of a row's cells, and the notes below the last."""
_NOT_XML = re.compile(r"\x15[^\x15]*\x15|[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKS = {
    "xxx": "Words that could not be understood",
    "yyy": "Words of which only the sound is known",
    "www": "Words that were left out on purpose",
    "0": "A missing word, such as 0is; alone: no speech",
    "&=": "A sound or gesture, such as &=laughs",
    "+...": "The speaker trails off",
    "+/.": "The speaker is interrupted",
    "+//.": "The speaker breaks off",
    "+,": "The speaker goes on after an interruption",
    '+"': "Words that are quoted",
    "[>]": "Spoken at the same time as what follows",
    "[<]": "Spoken at the same time as what comes before",
    "[: ": "What the word before it stands for",
    "[*": "An error in what comes before",
    "<": "The words between < and > belong to the mark behind them",
}
"""Marks beside those of disfluencies, with what they mean."""
NOTES = ("%com", "%act", "%sit", "%exp")
"""Dependent tiers that people have written for people; they stand below their utterance."""


def serialize(transcript: Transcript) -> bytes:
    """Return the document: a title, who speaks, the marks with their meaning, and a row for each utterance.

    Comments between the utterances, and the notes on an utterance (:data:`NOTES`), stand in italics at their places.
    """
    import docx

    document = docx.Document()
    title = _plain(transcript.media or "Transcript")
    properties = document.core_properties
    properties.title, properties.author, properties.comments = title, "lsa-whisper", ""
    _lay_out(document)
    document.add_heading(title, 0)
    people = (f"{person.code}: {person.role.replace('_', ' ')}" for person in transcript.participants.values())
    document.add_paragraph(_plain("; ".join(people)))
    rows: list[_Row] = []
    for block in transcript.blocks:
        if isinstance(block, Utterance):
            notes = [tier.value for tier in block.tiers if tier.name in NOTES]
            rows.append(([block.speaker, _clock(block.span), block.text], notes))
        elif block.name != "@Comment" or block.value.startswith(RECORD):
            continue
        elif rows:
            rows.append((["", "", ""], [block.value]))
        else:
            document.add_paragraph(_plain(block.value))
    if marks := list(_marks(transcript)):
        document.add_heading("What the marks mean", 1)
        _add_table(document, [([mark, meaning], []) for mark, meaning in marks], (2, 15))
    document.add_heading("Utterances", 1)
    _add_table(document, [(["Speaker", "Time", "Text"], []), *rows], (2.4, 1.8, 12.8))
    _keep_rows_whole(document)
    return _always_the_same(document)


def _lay_out(document: Any) -> None:
    """Set the margins, number the pages, and tell Word that marks are not misspelt words."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Cm

    document.styles["Normal"].font.no_proof = True
    section = document.sections[0]
    section.left_margin = section.right_margin = Cm(2)
    section.footer.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.CENTER
    number = OxmlElement("w:fldSimple")  # python-docx has no fields
    number.set(qn("w:instr"), "PAGE")
    section.footer.part.element.find(qn("w:p")).append(number)


def _marks(transcript: Transcript) -> Iterator[tuple[str, str]]:
    kinds = {event.kind for utterance in transcript.utterances for event in utterance.events()}
    for kind in Disfluency:
        if kind in kinds:
            yield kind.row.sign, f"{kind.row.title}: {kind.row.meaning.partition('. ')[0].rstrip('.')}"
    texts = [f" {utterance.text} " for utterance in transcript.utterances]
    yield from ((mark, meaning) for mark, meaning in _MARKS.items() if any(f" {mark}" in text for text in texts))


def _add_table(document: Any, rows: Sequence[_Row], widths_cm: Sequence[float]) -> None:
    """Add a table: the texts of each row, then its notes in italics in its last cell."""
    from docx.shared import Cm

    table = document.add_table(0, len(widths_cm), style="Table Grid")
    table.autofit = False
    for column, width in zip(table.columns, widths_cm, strict=True):
        column.width = Cm(width)  # LibreOffice reads this one, Word that of each cell
    for values, notes in rows:
        cells = table.add_row().cells
        for cell, value, width in zip(cells, values, widths_cm, strict=True):
            cell.text, cell.width = _plain(value), Cm(width)
        for note in notes:
            paragraph = cells[-1].add_paragraph() if cells[-1].text else cells[-1].paragraphs[0]
            paragraph.add_run(_plain(note)).italic = True
        for paragraph in (paragraph for cell in cells for paragraph in cell.paragraphs):
            paragraph.paragraph_format.space_after = 0


def _keep_rows_whole(document: Any) -> None:
    """Split no row between pages, and begin each page with the head of the last table, in bold."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    for row in document.element.body.iter(qn("w:tr")):
        row.get_or_add_trPr().append(OxmlElement("w:cantSplit"))
    head = next(document.element.body.iterchildren(qn("w:tbl"), reversed=True)).tr_lst[0]
    head.trPr.append(OxmlElement("w:tblHeader"))
    for cell in document.tables[-1].row_cells(0):
        cell.paragraphs[0].runs[0].bold = True


def _plain(text: str) -> str:
    """Return a text without the times and signs inside it that XML cannot hold."""
    return _NOT_XML.sub("", text)


def _clock(span: TimeSpan | None) -> str:
    """Return when a span begins, in hours, minutes and seconds; empty if it is not known.

    >>> _clock(TimeSpan(3_723_004, 3_724_000)), _clock(TimeSpan(59_999, 61_000)), _clock(None)
    ('1:02:03', '0:59', '')
    """
    if span is None:
        return ""
    minutes, seconds = divmod(span.start_ms // 1000, 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"


def _always_the_same(document: Any) -> bytes:
    """Return the file of a document; without the time of packing, so that equal transcripts give equal files."""
    packed, again = BytesIO(), BytesIO()
    document.save(packed)
    with ZipFile(packed) as parts, ZipFile(again, "w", ZIP_DEFLATED) as whole:
        for name in parts.namelist():
            whole.writestr(ZipInfo(name), parts.read(name), ZIP_DEFLATED)
    return again.getvalue()
