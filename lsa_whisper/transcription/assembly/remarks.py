"""What a reader of a transcript should know of its recording, and of its languages where they were detected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lsa_whisper.audio import Recording
from lsa_whisper.audio.speech.energy import SpeechActivity
from lsa_whisper.chat.media_name import media_name
from lsa_whisper.decoding.decoder import DecodedWindow
from lsa_whisper.errors import printable
from lsa_whisper.languages import chat_code


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


def spoken_languages(decoded: Sequence[DecodedWindow]) -> list[str]:
    """Return the detected languages in ISO 639-3, that of most text first; those of no text come last or not at all.

    >>> from lsa_whisper.decoding.decoder import DecodedSegment
    >>> said = [("en", "hi ."), ("es", "quiero el cuento ."), ("fr", "")]
    >>> spoken_languages([DecodedWindow((DecodedSegment(text, 0, 1),), language=code) for code, text in said])
    ['spa', 'eng']
    """
    written = Counter[str]()
    for window in decoded:
        if window.language:
            written[chat_code(window.language)] += sum(len(segment.text) for segment in window.segments)
    main = [code for code, length in written.most_common() if length]
    return main or list(written)[:1]


def language_remarks(decoded: Sequence[DecodedWindow]) -> Iterator[str]:
    """Yield which languages were detected.

    >>> list(language_remarks([DecodedWindow((), language="en"), DecodedWindow((), language="es")]))
    ['languages were detected: eng in 1 of 2 windows, spa in 1 of 2 windows']
    """
    heard = Counter(chat_code(window.language) for window in decoded if window.language)
    if len(heard) == 1:
        yield f"the language was detected: {next(iter(heard))}"
    elif heard:
        parts = (f"{code} in {count} of {heard.total()} windows" for code, count in heard.most_common())
        yield f"languages were detected: {', '.join(parts)}"
