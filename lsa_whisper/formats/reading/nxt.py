"""Words of an NXT corpus (AMI): ``MEETING.AGENT.words.xml``, one file for each speaker of a meeting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import line_of, parse_xml
from lsa_whisper.formats.reading.source import Source, span_of_seconds
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of
from lsa_whisper.timespan import TimeSpan

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ID = "{http://nite.sourceforge.net/}id"


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return one speaker's part of a meeting; files of one meeting are joined by their first name part.

    Cut-off words (``trunc``) end in a hyphen, vocal sounds become events, words without times are left out.

    Raises:
        FormatError: It is not a file of NXT words, or damaged.
    """
    root = parse_xml(data, place)
    if not root.tag.endswith("root") or (len(root) and not any(_kind(node) in ("w", "vocalsound") for node in root)):
        raise FormatError(f"{place}: is not a file of NXT words; its name must be such as EN2001a.A.words.xml")
    meeting, _, agent = Path(place).name.partition(".")
    agent = agent.partition(".")[0]
    source = Source(meeting, notation="plain")
    source.spoken = utterances_of(_words(root, agent, data, place))
    return [source]


def _kind(node: Element) -> str:
    return node.tag.rpartition("}")[2]


def _words(root: Element, agent: str, data: bytes, place: str) -> Iterator[RecognizedWord]:
    last = TimeSpan(0, 0)
    for node in root:
        kind, text = _kind(node), (node.text or "").strip()
        start, end = node.get("starttime"), node.get("endtime")
        if kind == "vocalsound":
            text = f"[{node.get('type', 'sound')}]"
        if kind not in ("w", "vocalsound") or not text:
            continue
        if node.get("punc") == "true":
            yield RecognizedWord(text, TimeSpan(last.end_ms, last.end_ms), agent, place)
            continue
        if start is None or end is None:
            continue
        name = node.get(_ID, "")
        span = span_of_seconds(start, end, f"{place}:{line_of(data, name)}" if not _plain(start, end) else place)
        last = span or last
        yield RecognizedWord(f"{text}-" if node.get("trunc") == "true" else text, last, agent, place)


def _plain(start: str, end: str) -> bool:
    """Return whether both times are plain numbers, so that the line need not be searched for."""
    try:
        return 0 <= float(start) <= float(end)
    except ValueError:
        return False
