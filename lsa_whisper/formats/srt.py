"""SubRip subtitles."""

from __future__ import annotations

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.readable_text import has_several_speakers, readable_text, timed_utterances


def serialize(transcript: Transcript) -> str:
    """Return one numbered cue for each timed utterance, prefixed with the speaker if there are several."""
    named = has_several_speakers(transcript)
    cues = []
    for number, (start_ms, end_ms, each) in enumerate(timed_utterances(transcript), start=1):
        text = f"{each.speaker}: {readable_text(each)}" if named else readable_text(each)
        cues.append(f"{number}\n{_clock(start_ms)} --> {_clock(end_ms)}\n{text}\n")
    return "\n".join(cues)


def _clock(time_ms: int) -> str:
    """Return a time of day as SubRip writes it.

    >>> _clock(3_723_004)
    '01:02:03,004'
    """
    seconds, thousandths = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{thousandths:03}"
