"""The profile of the disfluencies in transcripts: how often, where, how long."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsa_whisper.inspection.text_output import as_json, format_number
from lsa_whisper.inspection.transcript_report import readable_transcripts
from lsa_whisper.splice import DisfluencyProfile, count_profile
from lsa_whisper.system.terminal import TerminalTable, render_text

_HEAD = ("", "count", "per 100 words", "at the start", "words", "silence after it, ms: quartiles")


def profile_report(files: Sequence[Path], json: bool) -> str:
    """Return the profile of all transcripts in ``files`` together, as a table or as JSON.

    Raises:
        ChatSyntaxError: No file is readable.
    """
    read, unread = readable_transcripts(files)
    found = count_profile(utterance for _, transcript in read for utterance in transcript.utterances)
    if json:
        return as_json(found.as_dict())
    title = f"Disfluencies in {found.fluent_words:,} fluent words"
    return render_text(TerminalTable(title, _HEAD, _rows(found)), *unread)


def _rows(found: DisfluencyProfile) -> list[list[str]]:
    return [
        [
            name.replace("_", " "),
            format_number(one.count),
            format_number(100 * one.count / max(1, found.fluent_words)),
            format_number(one.initial, percent=True),
            format_number(float(one.words)),
            " ".join(map(str, one.silence_ms)) or "-",
        ]
        for name, one in found.classes.items()
    ]
