"""What both counting modes share: the names of the counts, the signs inside words, and the codes of retraces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsa_whisper.chat.reading import copy_count
from lsa_whisper.chat.tree import Group, Word

COUNTS = (
    "prolongation",
    "broken_word",
    "block",
    "part_word_repetition",
    "part_word_repetition_iterations",
    "whole_word_repetition",
    "monosyllabic_whole_word_repetition",
    "fragment",
    "phrase_repetition",
    "word_revision",
    "phrase_revision",
    "pause",
    "filled_pause",
)
"""The counts, in the order of FluCalc's columns."""

REPEATED_SOUND = re.compile(r"↫([^↫]*)↫?")
Counts = dict[str, int]


def count_signs(text: str, counts: Counts) -> None:
    """Add the prolongations, broken words, blocks and part-word repetitions in ``text``."""
    counts["prolongation"] += text.count(":")
    counts["broken_word"] += text.count("^")
    counts["block"] += text.count("≠")
    if "↫" in text:
        for segment in REPEATED_SOUND.findall(text):
            counts["part_word_repetition"] += 1
            counts["part_word_repetition_iterations"] += 1 + segment.count("-")


def count_retrace(counts: Counts, code: str, words: int, monosyllabic: bool) -> None:
    """Add one ``[/]`` or ``[//]`` of ``words`` words."""
    if code == "[/]":
        counts["whole_word_repetition" if words <= 1 else "phrase_repetition"] += 1
        counts["monosyllabic_whole_word_repetition"] += words <= 1 and monosyllabic
    else:
        counts["word_revision" if words <= 1 else "phrase_revision"] += 1


def counted_codes(item: Word | Group) -> Iterator[str]:
    """Yield the ``[/]`` and ``[//]`` of an item; ``[x 3]`` stands for two ``[/]``."""
    yield from ("[/]" for _ in range(copy_count(item.codes) - 1))
    yield from (code for code in item.codes if code in ("[/]", "[//]"))
