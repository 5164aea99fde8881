"""STM: an utterance a line (recording, channel, speaker, start, end, labels, text), of one recording or many."""

from __future__ import annotations

import re
from collections import defaultdict

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds

_ALTERNATIVES = re.compile(r"\{\s*([^{}/]*?)\s*(?:/[^{}]*)?\}")
_OPTIONAL = re.compile(r"\(([^()\s]*)\)")
_UNSCORED = ("ignore_time_segment_in_scoring", "inter_segment_gap")


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return one transcript for each recording of an STM file; of ``{ a / b }`` the first alternative is taken.

    Raises:
        FormatError: A line has too few columns, or a damaged time.
    """
    found: dict[str, Source] = defaultdict(lambda: Source("", notation="plain"))
    for number, line in enumerate(decode_bytes(data, place).split("\n"), start=1):
        columns = line.split(maxsplit=5)
        if not columns or columns[0].startswith(";;"):
            continue
        here = f"{place}:{number}"
        if len(columns) < 5:
            raise FormatError(
                f"{here}: {line[:40]!r} has {len(columns)} columns; STM has recording, channel, speaker, "
                "start, end, text"
            )
        recording, _, speaker, start, end = columns[:5]
        text = re.sub(r"^<[^<>]*>\s*", "", columns[5].strip()) if len(columns) > 5 else ""
        span = span_of_seconds(start, end, here)
        if not text or text.casefold() in _UNSCORED or speaker.casefold() in _UNSCORED:
            continue
        words = _OPTIONAL.sub(r"\1", _ALTERNATIVES.sub(r"\1", text)).replace("@", " ")
        source = found[recording]
        source.name = recording.replace("\\", "/").rpartition("/")[2]
        source.spoken.append(SpokenText(speaker, words, span, place=here))
    return list(found.values())
