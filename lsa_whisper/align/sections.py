"""Sections of a recording that are aligned on their own: utterances with a bullet, and the stretches between them.

An existing bullet is an anchor: its utterance is aligned inside it, and no other word is sought before or after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lsa_whisper.align.text import TextWord
from lsa_whisper.chat import Utterance
from lsa_whisper.timespan import TimeSpan


@dataclass(frozen=True)
class AlignedSection:
    """Words that are sought in a part of the recording.

    Attributes:
        words: half-open range of words.
        span: the part of the recording.
        timed: whether the words are those of one utterance with a bullet.
    """

    words: range
    span: TimeSpan
    timed: bool


def find_sections(utterances: Sequence[Utterance], words: Sequence[TextWord], duration_ms: int) -> list[AlignedSection]:
    """Return the sections of a transcript in its order.

    >>> from lsa_whisper.align.text import text_words
    >>> from lsa_whisper.chat import utterance
    >>> spoken = [utterance("A", "a ."), utterance("A", "b .", TimeSpan(500, 900)), utterance("A", "c .")]
    >>> [(each.words, each.span.start_ms, each.span.end_ms) for each in find_sections(spoken, text_words(spoken), 2000)]
    [(range(0, 1), 0, 500), (range(1, 2), 500, 900), (range(2, 3), 900, 2000)]
    """
    parts = list(_parts(utterances, words))
    bullets = [utterances[number].span if number >= 0 else None for number, _ in parts]
    found = []
    for at, ((_, own), bullet) in enumerate(zip(parts, bullets, strict=True)):
        if bullet is not None:
            inside = bullet & TimeSpan(0, duration_ms)
            found += [AlignedSection(own, inside, True)] if inside else []
            continue
        # Overlapping utterances may end after the next one begins, so the last bullet before is not always the latest.
        start = max((each.end_ms for each in bullets[:at][-1:] if each), default=0)
        end = min((each.start_ms for each in bullets[at + 1 :][:1] if each), default=duration_ms)
        if span := TimeSpan(start, end) & TimeSpan(0, duration_ms):
            found.append(AlignedSection(own, span, False))
    return found


def _parts(utterances: Sequence[Utterance], words: Sequence[TextWord]) -> Iterator[tuple[int, range]]:
    """Yield the words of each utterance with a bullet, and of each run of utterances without; -1 stands for those."""

    def bullet_of(index: int) -> int:
        number = words[index].utterance
        return number if utterances[number].span else -1

    for number, group in groupby(range(len(words)), bullet_of):
        own = list(group)
        yield number, range(own[0], own[-1] + 1)
