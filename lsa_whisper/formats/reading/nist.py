"""The formats of NIST's scoring tools, of one recording or many: CTM has a word a line, STM an utterance a line.

A line of CTM is recording, channel, start, duration, word, confidence; one of STM is recording, channel, speaker,
start, end, labels, text. meeteval.io is not used: it accepts times such as ``nan`` or ``-3``, and reports errors
without the line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of
from lsa_whisper.timespan import TimeSpan

_NOT_WORDS = frozenset(("<eps>", "<s>", "</s>", "<alt>", "<alt_begin>", "<alt_end>", "@"))
_ALTERNATIVES = re.compile(r"\{\s*([^{}/]*?)\s*(?:/[^{}]*)?\}")
_HESITATION = re.compile(r"%hesitation", re.IGNORECASE)
_OPTIONAL = re.compile(r"\(([^()\s]*)\)")
_UNSCORED = ("ignore_time_segment_in_scoring", "inter_segment_gap")


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return one transcript for each recording of a CTM or STM file.

    In CTM a second channel is a second speaker. The first of alternatives is taken: of ``{ a / b }`` in STM, and of
    ``<ALT>`` in CTM.

    Raises:
        FormatError: A line has too few columns, or a damaged time.
    """
    return _parse_ctm(data, place) if place.casefold().endswith(".ctm") else _parse_stm(data, place)


def _rows(data: bytes, place: str, form: str, *, most: int = 0) -> Iterator[tuple[list[str], str]]:
    """Yield the columns of each line but comments, and its place; the last of ``most`` columns may hold spaces."""
    for number, line in enumerate(decode_bytes(data, place).split("\n"), start=1):
        columns = line.split(maxsplit=most - 1)
        if not columns or columns[0].startswith(";;"):
            continue
        here = f"{place}:{number}"
        if len(columns) < 5:
            raise FormatError(f"{here}: {line[:40]!r} has {len(columns)} columns; {form}")
        yield columns, here


def _parse_ctm(data: bytes, place: str) -> list[Source]:
    recordings: dict[str, list[RecognizedWord]] = defaultdict(list)
    alternative = False
    for columns, here in _rows(data, place, "CTM has recording, channel, start, duration, word"):
        recording, channel, start, duration, word = columns[:5]
        name = word.casefold()
        alternative = name == "<alt>" or (alternative and name != "<alt_end>")  # the first alternative was before
        if name in _NOT_WORDS or alternative:  # their times may be asterisks
            continue
        first = span_of_seconds(0, start, here)
        length = span_of_seconds(0, duration, here)
        if first is None or length is None:
            continue
        span = TimeSpan(first.end_ms, first.end_ms + length.end_ms)
        speaker = columns[7] if len(columns) > 7 else f"channel {channel}"
        recordings[recording].append(RecognizedWord(_HESITATION.sub("uh", word), span, speaker, here))
    return [_ctm_source(name, words) for name, words in recordings.items()]


def _ctm_source(name: str, words: list[RecognizedWord]) -> Source:
    words.sort(key=lambda word: word.span.start_ms)
    source = Source(name.replace("\\", "/").rpartition("/")[2], notation="plain")
    speakers = list(dict.fromkeys(word.speaker for word in words))
    for speaker in speakers:
        source.spoken += utterances_of(word for word in words if word.speaker == speaker)
    if len(speakers) == 1 and speakers[0].startswith("channel "):
        source.spoken = [replace(turn, speaker="") for turn in source.spoken]
    return source


def _parse_stm(data: bytes, place: str) -> list[Source]:
    sources: dict[str, Source] = defaultdict(lambda: Source("", notation="plain"))
    form = "STM has recording, channel, speaker, start, end, text"
    for columns, here in _rows(data, place, form, most=6):
        recording, _, speaker, start, end = columns[:5]
        text = re.sub(r"^<[^<>]*>\s*", "", columns[5].strip()) if len(columns) > 5 else ""
        span = span_of_seconds(start, end, here)
        if not text or text.casefold() in _UNSCORED or speaker.casefold() in _UNSCORED:
            continue
        text = _HESITATION.sub("uh", text)
        words = _OPTIONAL.sub(r"\1", _ALTERNATIVES.sub(r"\1", text)).replace("@", " ")
        source = sources[recording]
        source.name = recording.replace("\\", "/").rpartition("/")[2]
        source.spoken.append(SpokenText(speaker, words, span, place=here))
    return list(sources.values())
