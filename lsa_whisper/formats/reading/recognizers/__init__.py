"""The JSON of other recognizers: a small module for each, and a row for each in :data:`RECOGNIZERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lsa_whisper.formats.reading.recognizers import (
    aws,
    azure,
    deepgram,
    google,
    rev,
    speechmatics,
    turn_list,
    whisper_cpp,
    word_list,
)
from lsa_whisper.formats.reading.source import Source


class Recognizer(NamedTuple):
    """A form of JSON: how it is recognized, and what adds its utterances to a source."""

    matches: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], Source, str], None]


RECOGNIZERS: dict[str, Recognizer] = {
    "whisper.cpp": Recognizer(whisper_cpp.matches, whisper_cpp.read),
    "Deepgram": Recognizer(deepgram.matches, deepgram.read),
    "Gladia, Sonix, Fireflies, tl;dv, Happy Scribe": Recognizer(turn_list.matches, turn_list.read),
    "AWS Transcribe": Recognizer(aws.matches, aws.read),
    "Speechmatics": Recognizer(speechmatics.matches, speechmatics.read),
    "Google, IBM Watson": Recognizer(google.matches, google.read),
    "Rev.ai": Recognizer(rev.matches, rev.read),
    "Azure": Recognizer(azure.matches, azure.read),
    "OpenAI, ElevenLabs, AssemblyAI, Vosk, Soniox": Recognizer(word_list.matches, word_list.read),
}
"""The recognizers by name, in the order in which their forms are tried."""
