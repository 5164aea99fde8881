"""A transcript as a Word document for people: who said what and when, and what the marks mean that occur in it.

It is made by python-docx, and is not read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from lsa_whisper.chat import Transcript
from lsa_whisper.chat.codes import RECORD
from lsa_whisper.chat.disfluencies import Disfluency
from lsa_whisper.timespan import TimeSpan

_NOT_XML = re.compile(r"\x15[^\x15]*\x15|[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKS = {
    "xxx": "words that could not be understood",
    "yyy": "words of which only the sound is known",
    "www": "words that were left out on purpose",
    "&=": "a sound or gesture, such as &=laughs",
    "+...": "the speaker trails off",
    "+/.": "the speaker is interrupted",
    "+//.": "the speaker breaks off",
    "[>]": "spoken at the same time as what follows",
    "[<]": "spoken at the same time as what comes before",
    "<": "the words between < and > belong to the mark behind them",
}
"""Marks beside those of disfluencies, with what they mean."""


def serialize(transcript: Transcript) -> bytes:
    """Return the document: a title, who speaks, the marks with their meaning, and a row for each utterance."""
    import docx

    document = docx.Document()
    title = _plain(transcript.media or "Transcript")
    properties = document.core_properties
    properties.title, properties.author, properties.comments = title, "lsa-whisper", ""
    document.add_heading(title, 0)
    people = (f"{each.code}: {each.role.replace('_', ' ')}" for each in transcript.participants.values())
    document.add_paragraph(_plain("; ".join(people)))
    for line in transcript.headers:
        if line.name == "@Comment" and not line.value.startswith(RECORD):
            document.add_paragraph(_plain(line.value))
    if marks := list(_marks(transcript)):
        document.add_heading("What the marks mean", 1)
        _add_table(document, marks, (3, 13))
    document.add_heading("Transcript", 1)
    rows = [(each.speaker, _clock(each.span), each.text) for each in transcript.utterances]
    _add_table(document, [("Speaker", "Time", "Text"), *rows], (2, 2, 12))
    return _always_the_same(document)


def _marks(transcript: Transcript) -> Iterator[tuple[str, str]]:
    """Yield each mark that occurs, with its meaning."""
    kinds = {event.kind for each in transcript.utterances for event in each.events()}
    for kind in Disfluency:
        if kind in kinds:
            yield kind.row.sign, f"{kind.row.title}: {kind.row.meaning.partition('. ')[0].rstrip('.')}"
    texts = [f" {each.text} " for each in transcript.utterances]
    yield from ((mark, meaning) for mark, meaning in _MARKS.items() if any(f" {mark}" in text for text in texts))


def _add_table(document: Any, rows: Sequence[Sequence[str]], widths_cm: Sequence[float]) -> None:
    from docx.shared import Cm

    table = document.add_table(0, len(widths_cm), style="Table Grid")
    for values in rows:
        for cell, value, width in zip(table.add_row().cells, values, widths_cm, strict=True):
            cell.text, cell.width = _plain(value), Cm(width)


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
