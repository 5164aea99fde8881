"""Plain text as a transcript: one utterance a line, with the speaker before a colon or without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lsa_whisper.chat import Participant, Transcript, Utterance, compose
from lsa_whisper.errors import ChatSyntaxError
from lsa_whisper.labels import Labels, decode

_SPEAKER = re.compile(r"\*?([A-Z][A-Z0-9]{0,6}):\s+")


def read_plain_text(path: Path, *, language: str, media: str) -> Transcript:
    """Return the lines of a text file as utterances without times.

    Fillers, cut-off words and exact repetitions are marked by rule, as in the label style ``verbatim``.

    Args:
        path: UTF-8 text.
        language: ISO 639-3.
        media: name of the recording, without extension.

    Raises:
        ChatSyntaxError: the file cannot be read as text, or has no words.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ChatSyntaxError(f"cannot be read as UTF-8 text ({error}); save it as UTF-8", path=str(path)) from error
    utterances = list(_utterances(text, language))
    if not utterances:
        raise ChatSyntaxError("contains no words; write one utterance a line", path=str(path))
    speakers = dict.fromkeys(each.speaker for each in utterances)
    participants = [Participant(code, "Participant", language=language, corpus="text") for code in speakers]
    return compose(languages=[language], participants=participants, utterances=utterances, media=media)


def _utterances(text: str, language: str) -> Iterator[Utterance]:
    for line in text.splitlines():
        named = _SPEAKER.match(line)
        speaker, spoken = (named[1], line[named.end() :]) if named else ("PAR", line)
        yield from decode(spoken, Labels("verbatim"), speaker=speaker, language=language).utterances
