"""The words, disfluencies and timed lines in a row's text."""

from __future__ import annotations

from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import TIMESTAMP, Segment


def read_text(row: Segment) -> tuple[list[str], int, list[str]]:
    """Return the words in a row's text, the number of fluent words, and the kinds of its disfluencies.

    >>> read_text(Segment("a.wav", 0, 2, "<|0.00|>&-um I want [/] want it .<|1.90|>"))
    (['um', 'I', 'want', 'want', 'it'], 3, ['filled_pause', 'repetition'])

    Raises:
        LsaWhisperError: The row's label style or version is unknown.
    """
    utterances = decode(TIMESTAMP.sub(" ", row.text), Labels.from_name(row.labels), language=row.lang).utterances
    words = [word for utterance in utterances for word in utterance.verbatim()]
    fluent = sum(len(utterance.fluent()) for utterance in utterances)
    return words, fluent, [event.kind.value for utterance in utterances for event in utterance.events()]


def timed_lines(text: str) -> list[tuple[float | None, str]]:
    """Return the texts between timestamps with their start times in seconds; ``None`` without timestamps.

    >>> timed_lines("<|0.20|>hello .<|1.00|><|1.50|>um yes .<|2.00|>"), timed_lines("no .")
    ([(0.2, 'hello .'), (1.5, 'um yes .')], [(None, 'no .')])
    """
    parts = TIMESTAMP.split(text)
    starts = [None, *map(float, parts[1::2])]
    return [(start, part.strip()) for start, part in zip(starts, parts[::2], strict=True) if part.strip()]
