"""noScribe's ``.html`` and oTranscribe's ``.otr``: text with times in the marks of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.prefixes import with_prefixes
from lsa_whisper.formats.reading.source import Source, SpokenText
from lsa_whisper.system import plain_json
from lsa_whisper.timespan import TimeSpan

_ANCHOR = re.compile(r"ts_(\d{1,12})_(\d{1,12})(?:_(.*))?")
_CLOCK = re.compile(r"\s*[\[(]?(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?[\])]?\s*")
_STAMP = r"(?:\[[\d:.]+\])?"
_BLOCKS = ("p", "br", "div", "li")


class _Pieces(HTMLParser):
    """The pieces of text: noScribe's with the name of their anchor, oTranscribe's with the time above them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[tuple[str, str, float | None]] = []
        self._anchor = ""
        self._time: float | None = None
        self._in_time = False
        self._known = False
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._hidden = self._hidden or tag in ("style", "script", "title")
        if tag == "a":
            self._anchor = values.get("name", "")
        if "timestamp" in values.get("class", "") or "data-timestamp" in values:
            self._in_time = True
            time = values.get("data-timestamp", "")
            self._known = re.fullmatch(r"\d{1,7}(?:\.\d+)?", time) is not None
            self._time = float(time) if self._known else self._time
        if tag in _BLOCKS:
            self.pieces.append(("\n", "", self._time))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._anchor = ""
        if tag == "span":
            self._in_time = False
        if tag in ("style", "script", "title"):
            self._hidden = False
        if tag in _BLOCKS:
            self.pieces.append(("\n", "", self._time))

    def handle_data(self, data: str) -> None:
        if self._in_time and not self._known and _CLOCK.fullmatch(data):
            *hours, minutes, seconds = data.strip(" \t\n[]()").replace(",", ".").split(":")
            self._time = 3600 * float(hours[0] if hours else 0) + 60 * float(minutes) + float(seconds)
        if not self._in_time and not self._hidden:
            self.pieces.append((data.replace("\xa0", " "), self._anchor, self._time))


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a file of noScribe or oTranscribe.

    Raises:
        FormatError: It is neither.
    """
    text = decode_bytes(data, place)
    source = Source(Path(place).stem, notation="plain")
    reader = _Pieces()
    if place.lower().endswith(".otr"):
        reader.feed(_document(text, source, place))
        source.spoken = with_prefixes(list(_paragraphs(reader, place)), conventions, source.notes)
        return [source]
    reader.feed(text)
    source.spoken = list(_anchored(reader, place))
    loose = "".join(text for text, anchor, _ in reader.pieces if not anchor)
    source.comments = [" ".join(line.split()) for line in loose.split("\n") if line.strip()]
    if not source.spoken:
        raise FormatError(f"{place}: has no text with times of noScribe; copy its text to a .txt file")
    return [source]


def _document(text: str, source: Source, place: str) -> str:
    try:
        document = plain_json.parse(text)
    except ValueError as error:
        raise FormatError(f"{place}: is not complete JSON ({error}); export it again from oTranscribe") from error
    if not isinstance(document, dict) or not isinstance(document.get("text"), str):
        raise FormatError(f"{place}: has no 'text' of oTranscribe; export it again")
    media = document.get("media")
    source.media = re.split(r"[\\/]", media)[-1].rpartition(".")[0] or None if isinstance(media, str) else None
    return str(document["text"])


def _anchored(reader: _Pieces, place: str) -> Iterator[SpokenText]:
    """Yield noScribe's segments: the names of their anchors are ``ts_START_END_SPEAKER``."""
    segments: list[tuple[str, str]] = []
    for text, anchor, _ in reader.pieces:
        if segments and segments[-1][0] == anchor:
            segments[-1] = (anchor, segments[-1][1] + text)
        elif anchor:
            segments.append((anchor, text))
    for anchor, text in segments:
        match = _ANCHOR.fullmatch(anchor)
        if match:
            start, end, speaker = int(match.group(1)), int(match.group(2)), match.group(3) or ""
            label = rf"(?:{re.escape(speaker)}\s*:)?" if speaker else ""
            spoken = re.sub(rf"^\s*{_STAMP}[\s/]*{label}\s*{_STAMP}", "", text)
            if spoken.strip(" \n/"):
                span = TimeSpan(start, end) if start <= end else None
                yield SpokenText(speaker, " ".join(spoken.replace("//", " ").split()), span, place=place)


def _paragraphs(reader: _Pieces, place: str) -> Iterator[SpokenText]:
    """Yield oTranscribe's paragraphs; a time stands before the text that it dates, and lasts until the next one."""
    parts: list[tuple[float | None, str]] = [(None, "")]
    for text, _, time in reader.pieces:
        if text == "\n" or time != parts[-1][0]:
            parts.append((time, ""))
        if text != "\n":
            parts[-1] = (time, parts[-1][1] + text)
    spoken = [
        (time, " ".join(_CLOCK.sub(" ", text, count=1).split() if time is None else text.split()))
        for time, text in parts
    ]
    spoken = [(time, text) for time, text in spoken if text]
    for at, (time, text) in enumerate(spoken):
        later = next(
            (other for other, _ in spoken[at + 1 :] if other is not None and time is not None and other > time), None
        )
        span = TimeSpan(round(1000 * time), round(1000 * later)) if time is not None and later is not None else None
        paragraphs = [paragraph for paragraph in spoken if paragraph[0] == time]
        yield SpokenText("", text, span if len(paragraphs) == 1 else None, place=place)
