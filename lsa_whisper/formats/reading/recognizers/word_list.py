"""Recognizers that list words: OpenAI's interface, ElevenLabs, Vosk, AssemblyAI (whose times are in milliseconds).

Soniox lists parts of words as ``tokens``; a word begins with a space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.formats.reading.recognizers.fields import (
    ListedWord,
    field_of,
    rows,
    scaled,
    speaker_name,
    text_of,
    words_of,
)
from lsa_whisper.formats.reading.source import Source
from lsa_whisper.formats.reading.timed_words import utterances_of, with_marks_of

_MILLISECONDS = ("acoustic_model", "audio_duration", "utterances", "tokens")
"""The fields of AssemblyAI and Soniox."""
_NO_WORDS = ("<end>", "<fin>")
"""What Soniox writes where speech ends."""


def matches(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` has a list of words and no segments."""
    return bool(_listed(document))


def _listed(document: Mapping[str, Any]) -> list[Any]:
    """Return the words; those of utterances if they stand there only, or the utterances if they have none."""
    inside = document.get("alternatives") or document.get("timestamp")  # of Vosk, of NeMo
    holders = [row for row in (inside if isinstance(inside, list) else [inside]) if isinstance(row, Mapping)]
    lists = ((holders or [document])[0].get(name) for name in ("words", "result", "word_segments", "word"))
    if words := next((words for words in lists if isinstance(words, list)), []):
        return words
    if isinstance(tokens := document.get("tokens"), list):
        return _joined(tokens)
    utterances = field_of(document, "utterances", "sentences", "paragraphs")
    return [part for utterance in utterances for part in _parts(utterance)] if isinstance(utterances, list) else []


def _joined(tokens: list[Any]) -> list[Any]:
    """Return the words that ``tokens`` make up, without those of a translation."""
    words: list[Any] = []
    last: dict[str, Any] = {}
    for token in tokens:
        text = token.get("text") if isinstance(token, Mapping) else None
        if not isinstance(text, str):
            words.append(token)
        elif text not in _NO_WORDS and token.get("translation_status") != "translation":
            speaker, start, end = (token.get(name) for name in ("speaker", "start_ms", "end_ms"))
            if last and not text[:1].isspace() and not last["text"][-1:].isspace() and last["speaker"] == speaker:
                last |= {"text": last["text"] + text, "end": last["end"] if end is None else end}
            else:
                last = {"text": text, "speaker": speaker, "start": start, "end": end}
                words.append(last)
    return words


def _parts(utterance: Any) -> list[Any]:
    inside = utterance.get("words") if isinstance(utterance, Mapping) else None
    if not isinstance(inside, list) or not inside:
        return [utterance]
    own = {"speaker": utterance.get("speaker")}  # which its words may leave out
    return [{**own, **word} if isinstance(word, Mapping) else word for word in inside]


def read(document: Mapping[str, Any], source: Source, place: str) -> None:
    """Add the utterances that the words make up."""
    source.language = text_of(document, "language_code", "language") or None
    words = with_marks_of(text_of(document, "text"), list(words_of(_words(document, place))))
    source.spoken = utterances_of(words, source.language)


def _words(document: Mapping[str, Any], place: str) -> Iterator[ListedWord]:
    unit = 0.001 if any(name in document for name in _MILLISECONDS) else 1.0
    for entry, here in rows(_listed(document), f"{place}: word"):
        text = text_of(entry, "punctuated_word", "word", "text")
        kind = entry.get("type")
        if kind == "audio_event":
            text = f"[{text.strip('()')}]"
        if kind != "spacing":
            start, end = (scaled(entry.get(name), unit) for name in ("start", "end"))
            yield ListedWord(text, start, end, speaker_name(field_of(entry, "speaker_id", "speaker")), here)
