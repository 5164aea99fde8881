"""Plain text for reading: one utterance a line, as it was spoken."""

from __future__ import annotations

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.spoken import several_speakers, spoken


def serialize(transcript: Transcript) -> str:
    """Return one line for each utterance that has words, the speaker in front where there are several."""
    named = several_speakers(transcript)
    lines = ((each.speaker, spoken(each)) for each in transcript.utterances)
    return "".join(f"{speaker}: {text}\n" if named else f"{text}\n" for speaker, text in lines if text)
