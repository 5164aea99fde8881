"""The JSON of other recognizers: a row for each form in :data:`RECOGNIZERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from lsa_whisper.formats.reading.recognizers import turn_list, whisper_cpp, word_list
from lsa_whisper.formats.reading.recognizers.cloud_platforms import (
    is_aws,
    is_azure,
    is_google,
    read_aws,
    read_azure,
    read_google,
)
from lsa_whisper.formats.reading.recognizers.speech_providers import (
    is_deepgram,
    is_rev,
    is_speechmatics,
    read_deepgram,
    read_rev,
    read_speechmatics,
)
from lsa_whisper.formats.reading.source import Source


class Recognizer(NamedTuple):
    """A form of JSON: how it is recognized, and what adds its utterances to a source."""

    matches: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], Source, str], None]


RECOGNIZERS: dict[str, Recognizer] = {
    "whisper.cpp": Recognizer(whisper_cpp.matches, whisper_cpp.read),
    "Deepgram": Recognizer(is_deepgram, read_deepgram),
    "Gladia, Sonix, Fireflies, tl;dv, Happy Scribe": Recognizer(turn_list.matches, turn_list.read),
    "AWS Transcribe": Recognizer(is_aws, read_aws),
    "Speechmatics": Recognizer(is_speechmatics, read_speechmatics),
    "Google, IBM Watson": Recognizer(is_google, read_google),
    "Rev.ai": Recognizer(is_rev, read_rev),
    "Azure": Recognizer(is_azure, read_azure),
    "OpenAI, ElevenLabs, AssemblyAI, Vosk, Soniox": Recognizer(word_list.matches, word_list.read),
}
"""The recognizers by name, in the order in which their forms are tried."""
