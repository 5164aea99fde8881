"""SubRip (``.srt``) and WebVTT (``.vtt``) subtitles: each cue is an utterance.

pysubs2 and srt are not used: pysubs2 joins a cue whose time line is damaged to the text of the cue above it without a
word, and loses WebVTT's voices; srt reads no WebVTT; both accept cues that end before they start.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.errors import FormatError
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.files import decode_bytes
from lsa_whisper.formats.reading.plain import has_speaker_prefixes, split_speaker
from lsa_whisper.formats.reading.source import Source, SpokenText, span_of_seconds

_CLOCK = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]*)>(.*?)(?=<v[\s.]|$)", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<[\d:.]+>|\{\\[^{}]*\}")
_NOT_A_CUE = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)")


def parse(data: bytes, place: str, conventions: Conventions) -> list[Source]:
    """Return the transcript in a subtitle file.

    Raises:
        FormatError: A time line is damaged, or text stands where a cue should begin.
    """
    source = Source(Path(place).stem, notation="plain")
    for number, block in _blocks(decode_bytes(data, place)):
        source.spoken += _cue(block, number, place)
    if source.spoken and all(not each.speaker for each in source.spoken):
        texts = [each.text for each in source.spoken]
        if has_speaker_prefixes(texts, conventions):
            source.spoken = [
                SpokenText(*split_speaker(each.text), each.span, each.words, each.tiers, each.place)
                for each in source.spoken
            ]
    return [source] if source.spoken else []


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each run of lines without an empty one, with the number of its first line."""
    held: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip():
            held.append(line)
        elif held:
            yield number - len(held), held
            held = []


def _cue(block: list[str], number: int, place: str) -> list[SpokenText]:
    if _NOT_A_CUE.match(block[0]) and not any("-->" in line for line in block[:2]):
        return []
    at = next((at for at, line in enumerate(block[:2]) if "-->" in line), None)
    if at is None:
        raise FormatError(
            f"{place}:{number}: {block[0][:40]!r} stands where a cue should begin; a cue has a line such as "
            "'00:00:01,000 --> 00:00:02,500' above its text"
        )
    here = f"{place}:{number + at}"
    match = _TIMES.fullmatch(block[at])
    if not match:
        raise FormatError(f"{here}: {block[at][:40]!r} is not a time line such as '00:00:01,000 --> 00:00:02,500'")
    damaged = next((each for each, line in enumerate(block[at + 1 :], at + 1) if "-->" in line), None)
    if damaged is not None:
        raise FormatError(f"{place}:{number + damaged}: a second time line in one cue; put an empty line above it")
    times = match.groups()
    span = span_of_seconds(_seconds(times[:4]), _seconds(times[4:]), here)
    text = "\n".join(block[at + 1 :])
    voices = _VOICE.findall(text) or [("", text)]
    plain = ((name.strip(), html.unescape(_TAG.sub("", words))) for name, words in voices)
    return [
        SpokenText(name, " ".join(_without_dash(words).split()), span, place=here)
        for name, words in plain
        if words.strip()
    ]


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = (part or "0" for part in parts)
    return int(hours) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _without_dash(text: str) -> str:
    """Drop the dashes that mark turns in a cue."""
    return re.sub(r"^\s*[-–—]\s+", "", text, flags=re.MULTILINE)
