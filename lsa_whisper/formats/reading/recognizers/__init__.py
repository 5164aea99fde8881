"""The JSON of other recognizers: a row for each form in :data:`RECOGNIZERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lsa_whisper.formats.reading.recognizers import cloud_platforms, speech_providers, turn_list, whisper_cpp, word_list
from lsa_whisper.formats.reading.source import Source


class Recognizer(NamedTuple):
    """A form of JSON: how it is recognized, and what adds its utterances to a source."""

    matches: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], Source, str], None]


RECOGNIZERS: dict[str, Recognizer] = {
    "whisper.cpp": Recognizer(whisper_cpp.matches, whisper_cpp.read),
    "Deepgram": Recognizer(speech_providers.is_deepgram, speech_providers.read_deepgram),
    "Gladia, Sonix, Fireflies, tl;dv, Happy Scribe, Azure Video Indexer": Recognizer(turn_list.matches, turn_list.read),
    "AWS Transcribe and Call Analytics": Recognizer(cloud_platforms.is_aws, cloud_platforms.read_aws),
    "Speechmatics": Recognizer(speech_providers.is_speechmatics, speech_providers.read_speechmatics),
    "Google, IBM Watson": Recognizer(cloud_platforms.is_google, cloud_platforms.read_google),
    "Rev.ai": Recognizer(speech_providers.is_rev, speech_providers.read_rev),
    "Azure": Recognizer(cloud_platforms.is_azure, cloud_platforms.read_azure),
    "OpenAI, ElevenLabs, AssemblyAI, Vosk, Soniox": Recognizer(word_list.matches, word_list.read),
}
"""The recognizers by name, in the order in which their forms are tried."""
