"""What a row's text says: its words, its disfluencies, its lines."""

from __future__ import annotations

from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import TIMESTAMP, Segment

_OF_WHISPER = {"en": "eng"}
"""CHAT's code by Whisper's, for the one language that reading depends on."""


def read_text(row: Segment) -> tuple[list[str], int, list[str]]:
    """Return the words in a row's text, how many of them are fluent, and the kinds of its disfluencies.

    >>> read_text(Segment("a.wav", 0, 2, "<|0.00|>&-um I want [/] want it .<|1.90|>"))
    (['um', 'I', 'want', 'want', 'it'], 3, ['filled_pause', 'repetition'])

    Raises:
        LsaWhisperError: The row's ``labels`` are none that this package knows.
    """
    # Numbers are spelled out in English alone: the 3 of Cantonese wo3 is a tone.
    language = _OF_WHISPER.get(row.lang, row.lang)
    notes = decode(TIMESTAMP.sub(" ", row.text), Labels.from_name(row.labels), language=language).utterances
    words = [word for utterance in notes for word in utterance.verbatim()]
    meant = sum(len(utterance.fluent()) for utterance in notes)
    return words, meant, [event.kind.value for utterance in notes for event in utterance.events()]


def timed_lines(text: str) -> list[tuple[float | None, str]]:
    """Return the stretches of a row's text with the seconds at which they begin, ``None`` where it does not say.

    >>> timed_lines("<|0.20|>hello .<|1.00|><|1.50|>um yes .<|2.00|>"), timed_lines("no .")
    ([(0.2, 'hello .'), (1.5, 'um yes .')], [(None, 'no .')])
    """
    parts = TIMESTAMP.split(text)
    begins = [None, *map(float, parts[1::2])]
    return [(begin, part.strip()) for begin, part in zip(begins, parts[::2], strict=True) if part.strip()]
