"""Plain text: one verbatim utterance per line."""

from __future__ import annotations

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.readable_text import has_several_speakers, readable_text


def serialize(transcript: Transcript) -> str:
    """Return one line for each utterance that has words, prefixed with the speaker if there are several."""
    named = has_several_speakers(transcript)
    lines = ((each.speaker, readable_text(each)) for each in transcript.utterances)
    return "".join(f"{speaker}: {text}\n" if named else f"{text}\n" for speaker, text in lines if text)
