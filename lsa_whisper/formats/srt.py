"""SubRip subtitles."""

from __future__ import annotations

from lsa_whisper.chat import Transcript
from lsa_whisper.formats.spoken import several_speakers, spoken, timed


def serialize(transcript: Transcript) -> str:
    """Return one numbered cue for each timed utterance, the speaker in front where there are several."""
    named = several_speakers(transcript)
    cues = []
    for number, (start_ms, end_ms, each) in enumerate(timed(transcript), start=1):
        text = f"{each.speaker}: {spoken(each)}" if named else spoken(each)
        cues.append(f"{number}\n{_clock(start_ms)} --> {_clock(end_ms)}\n{text}\n")
    return "\n".join(cues)


def _clock(time_ms: int) -> str:
    """Return a time of day as SubRip writes it.

    >>> _clock(3_723_004)
    '01:02:03,004'
    """
    seconds, thousandths = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{thousandths:03}"
