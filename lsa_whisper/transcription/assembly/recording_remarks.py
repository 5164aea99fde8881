"""What a reader of a transcript should know of its recording."""

from __future__ import annotations

from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech.energy import SpeechActivity
from lsa_whisper.chat.media_name import media_name
from lsa_whisper.errors import printable


def recording_remarks(recording: Recording, speech: SpeechActivity) -> list[str]:
    """Return what a reader should know of the recording itself."""
    remarks = [f"the recording is incomplete: {recording.remark}"] if recording.remark else []
    if recording.cancels:
        remarks.append(
            f"the two channels cancel each other (opposite phase), so only channel {(recording.channel or 0) + 1} was "
            "used"
        )
    if speech.gain != 1:
        remarks.append(
            f"the recording is very quiet (speech at {speech.speech_db:.0f} dB) and was made louder before decoding: "
            "check that no words are missing"
        )
    stem = recording.path.stem
    if (name := media_name(stem)) != stem:
        plays = f"CLAN plays a copy of it that is called {name}{recording.path.suffix}"
        remarks.append(
            f"the recording is called {' '.join(printable(stem).split())}, which @Media cannot hold: {plays}"
        )
    return remarks
