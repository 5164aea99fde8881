"""WebVTT subtitles (https://www.w3.org/TR/webvtt1/)."""

from __future__ import annotations

import html

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.readable_text import readable_text, timed_utterances


def serialize(transcript: Transcript) -> str:
    """Return one cue for each timed utterance, its speaker as the voice."""
    cues = ["WEBVTT\n"]
    for start_ms, end_ms, each in timed_utterances(transcript):
        text = html.escape(readable_text(each), quote=False)
        cues.append(f"{_clock(start_ms)} --> {_clock(end_ms)}\n<v {each.speaker}>{text}\n")
    return "\n".join(cues)


def _clock(time_ms: int) -> str:
    seconds, thousandths = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{thousandths:03}"
