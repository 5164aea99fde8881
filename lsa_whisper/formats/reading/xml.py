"""XML of other programs, without document types, entities and anything outside of the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsa_whisper.errors import FormatError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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
        level = [child for each in level for child in each]
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
