"""The recording that an ELAN document names: the first one is the one that its times belong to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsa_whisper.formats.reading.source import Source

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def read_media(descriptors: Sequence[Element], source: Source) -> None:
    """Take name and kind of the first recording, and note the others, and times that do not begin with a recording."""
    names = [_file_name(each) for each in descriptors]
    for name, each in zip(names, descriptors, strict=True):
        origin = each.get("TIME_ORIGIN", "0")
        if origin != "0":
            source.notes.append(f"{name or 'a recording'} begins {origin} ms before the times of the document")
    if names:
        source.media = names[0].rpartition(".")[0] or None
        source.media_kind = "video" if descriptors[0].get("MIME_TYPE", "").startswith("video/") else "audio"
    if len(names) > 1:
        source.notes.append(f"of several recordings, @Media names {names[0]}; the others: {', '.join(names[1:])}")


def _file_name(descriptor: Element) -> str:
    url = descriptor.get("RELATIVE_MEDIA_URL") or descriptor.get("MEDIA_URL") or ""
    return re.split(r"[\\/]", url)[-1]
