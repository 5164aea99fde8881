"""Transcripts as readable text: verbatim words with final punctuation, in plain text, a table or subtitles."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable

from lsa_whisper.chat import Transcript, Utterance

_ENDS = {"?": "?", "!": "!", "+...": "...", "+..?": "...?", "+/.": " --", "+/?": " --?", "+//.": " --", "+//?": " --?"}


def readable_text(utterance: Utterance) -> str:
    """Return the verbatim words with final punctuation.

    >>> from lsa_whisper.chat import utterance
    >>> readable_text(utterance("CHI", "&-um the [/] the dog +..."))
    'um the the dog...'
    """
    words = " ".join(utterance.verbatim())
    return f"{words}{_ENDS.get(utterance.terminator, '.')}" if words else ""


def timed_utterances(transcript: Transcript) -> list[tuple[int, int, Utterance]]:
    """Return (start_ms, end_ms, utterance) of each utterance with times and words, in order of time."""
    return [row for row in placed_utterances(transcript) if row[2].verbatim()]


def placed_utterances(transcript: Transcript) -> list[tuple[int, int, Utterance]]:
    """Return (start_ms, end_ms, utterance) of each utterance with times, also of those without words, in order."""
    rows = [
        (utterance.span.start_ms, utterance.span.end_ms, utterance)
        for utterance in transcript.utterances
        if utterance.span
    ]
    return sorted(rows, key=lambda row: row[:2])


def has_several_speakers(transcript: Transcript) -> bool:
    """Return whether the transcript has more than one speaker."""
    return len({utterance.speaker for utterance in transcript.utterances}) > 1


def dependent_tiers(utterance: Utterance) -> dict[str, str]:
    """Return the dependent tiers but ``%wor``, by name; several of one name are joined."""
    values: dict[str, str] = {}
    for tier in utterance.tiers:
        if tier.name.startswith("%") and tier.name != "%wor" and tier.value:
            values[tier.name] = f"{values[tier.name]} {tier.value}" if tier.name in values else tier.value
    return values


def plain_text(transcript: Transcript) -> str:
    """Return one line for each utterance that has words, prefixed with the speaker if there are several."""
    several = has_several_speakers(transcript)
    lines = ((utterance.speaker, readable_text(utterance)) for utterance in transcript.utterances)
    return "".join(f"{speaker}: {text}\n" if several else f"{text}\n" for speaker, text in lines if text)


def subrip(transcript: Transcript) -> str:
    """Return one numbered cue for each timed utterance, prefixed with the speaker if there are several."""
    several = has_several_speakers(transcript)
    cues = []
    for number, (start_ms, end_ms, utterance) in enumerate(timed_utterances(transcript), start=1):
        text = f"{utterance.speaker}: {readable_text(utterance)}" if several else readable_text(utterance)
        cues.append(f"{number}\n{_clock(start_ms, ',')} --> {_clock(end_ms, ',')}\n{text}\n")
    return "\n".join(cues)


def webvtt(transcript: Transcript) -> str:
    """Return one cue for each timed utterance, its speaker as the voice (https://www.w3.org/TR/webvtt1/)."""
    cues = ["WEBVTT\n"]
    for start_ms, end_ms, utterance in timed_utterances(transcript):
        text = html.escape(readable_text(utterance), quote=False)
        cues.append(f"{_clock(start_ms, '.')} --> {_clock(end_ms, '.')}\n<v {utterance.speaker}>{text}\n")
    return "\n".join(cues)


def table(transcript: Transcript) -> str:
    """Return a table (CSV) with a row for each utterance: speaker, role, times in seconds, words, text in CHAT."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("speaker", "role", "start_s", "end_s", "words", "chat"))
    people = transcript.participants
    for utterance in transcript.utterances:
        role = people[utterance.speaker].role if utterance.speaker in people else ""
        span = (utterance.span.start_ms / 1000, utterance.span.end_ms / 1000) if utterance.span else ("", "")
        rows.writerow((utterance.speaker, role, *span, readable_text(utterance), utterance.text))
    return text.getvalue()


def _clock(time_ms: int, mark: str) -> str:
    """Return a time of day, with the mark before the milliseconds that a format has.

    >>> _clock(3_723_004, ",")
    '01:02:03,004'
    """
    seconds, thousandths = divmod(time_ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{mark}{thousandths:03}"


WRITERS: dict[str, Callable[[Transcript], str]] = {"csv": table, "srt": subrip, "txt": plain_text, "vtt": webvtt}
"""What writes each format of readable text."""
