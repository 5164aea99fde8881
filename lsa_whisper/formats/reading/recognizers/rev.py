"""Rev.ai: monologues of elements, which are words or punctuation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import rows, speaker_name, text_of, word_of
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.timed_words import RecognizedWord, utterances_of


def matches(found: Mapping[str, Any]) -> bool:
    """Return whether ``found`` has Rev's monologues."""
    return isinstance(found.get("monologues"), list)


def read(found: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances of each monologue."""
    names = {each.get("id"): text_of(each, "name") for each, _ in rows(found.get("speakers"), f"{place}: speaker")}
    for each, here in rows(found["monologues"], f"{place}: monologue"):
        number = each.get("speaker")
        name = names.get(number) if isinstance(number, int | str) else None
        source.spoken += utterances_of(_words(each, name or speaker_name(number), here))


def _words(monologue: Mapping[str, Any], speaker: str, place: str) -> Iterator[RecognizedWord]:
    before: RecognizedWord | None = None
    for each, here in rows(monologue.get("elements"), f"{place}, element"):
        text = text_of(each, "value")
        if text:
            before = word_of(text, each.get("ts"), each.get("end_ts"), speaker, here, before)
            yield before
