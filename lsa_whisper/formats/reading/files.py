"""The bytes and the text of a transcript of another format, with limits, so that no file can fill the memory.

XML is read without document types, entities and anything outside of the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import FormatError
from lsa_whisper.system.text_encoding import decode_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MAX_BYTES = 1 << 27
"""An hour of speech with word times takes a few MB in the most verbose format."""


def read_bytes(path: Path) -> bytes:
    """Return the content of the file at ``path``.

    Raises:
        FormatError: It cannot be opened, is empty, no file, or larger than any transcript.
    """
    try:
        if path.exists() and not path.is_file():
            raise FormatError(f"{path}: is not a file; name a transcript, or a folder of transcripts")
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise FormatError(f"{path}: cannot be opened ({error.strerror}); check the path") from error
    if len(data) > _MAX_BYTES:
        raise FormatError(f"{path}: has more than {_MAX_BYTES >> 20} MB; is it a transcript?")
    if not data.strip():
        raise FormatError(f"{path}: is empty; copy it again from its source")
    return data


def decode_bytes(data: bytes, place: str, language: str = "eng", notes: list[str] | None = None) -> str:
    r"""Return the text of ``data`` as :func:`decode_text` reads it; ``notes`` takes what a person should know of it.

    >>> decode_bytes(b"caf\xe9\r\nno", "a.slt")
    'café\nno'

    Raises:
        FormatError: It is not text.
    """
    text, encoding, line, problem = decode_text(data, language)
    if encoding == "latin-1":
        raise FormatError(f"{place}:{line}: has bytes that are not text; save the file as UTF-8")
    if "\0" in text:
        raise FormatError(f"{place}: is not a text file; is it a recording or a word processor's document?")
    if problem and notes is not None:
        notes.append(f"{problem}, from line {line} on: check its letters, and save it as UTF-8")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


_MAX_DEPTH = 64


def parse_xml(data: bytes, place: str) -> Element:
    """Return the root of the document in ``data``.

    Raises:
        FormatError: It is damaged, too deep, or declares a document type: entities can fill the memory, or read other
            files.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(data, forbid_dtd=True)
    except DefusedXmlException as error:
        raise FormatError(
            f"{place}: declares a document type or entities, which are not read; save it again in its program"
        ) from error
    except ParseError as error:
        line = getattr(error, "position", (1, 0))[0]
        reason = str(error).partition(":")[0]
        raise FormatError(f"{place}:{line}: is not complete XML ({reason}); copy it again from its source") from error
    except (ValueError, LookupError, RecursionError) as error:  # an encoding that Python does not know
        raise FormatError(f"{place}: is not XML that can be read ({error}); save it again as UTF-8") from error
    if _is_deep(root):
        raise FormatError(f"{place}: has elements nested more than {_MAX_DEPTH} deep; is it a transcript?")
    return root


def _is_deep(root: Element) -> bool:
    level = [root]
    for _ in range(_MAX_DEPTH):
        level = [child for parent in level for child in parent]
        if not level:
            return False
    return True


def line_of(data: bytes, name: str) -> int:
    r"""Return the line on which the identifier ``name`` first stands in quotes.

    >>> line_of(b'<a>\n<b id="x"/>', "x")
    2
    """
    match = re.search(rb"[\"']" + re.escape(name.encode()) + rb"[\"']", data)
    return data.count(b"\n", 0, match.start()) + 1 if match else 1
