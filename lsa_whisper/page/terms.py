"""The names of disfluencies and of language-sample measures, the same on all pages, and their definitions."""

from __future__ import annotations

from lsa_whisper.chat.disfluencies import Disfluency, Match
from lsa_whisper.page.language import gettext, in_sentence, language_of_page

CLASSES = {
    kind: (kind.row.title, kind.row.meaning)
    for kind in sorted(Disfluency, key=lambda kind: kind.row.match is Match.NOT_SCORED)
}
"""The title and the meaning of each class; those that are not scored come last."""


def class_title(kind: Disfluency) -> str:
    """Return the title of a class in the language of the page."""
    return gettext(CLASSES[kind][0])


def class_definition(kind: Disfluency) -> str:
    """Return the meaning of a class in the language of the page."""
    return gettext(CLASSES[kind][1])


def class_name(kind: Disfluency, count: int = 2) -> str:
    """Return the name of a class inside a sentence, in the singular for a ``count`` of 1.

    >>> class_name(Disfluency.FRAGMENT), class_name(Disfluency.FRAGMENT, 1)
    ('cut-off words', 'cut-off word')
    """
    plural = in_sentence(class_title(kind))
    if count != 1:
        return plural
    return plural.removesuffix("s") if language_of_page() == "en" else gettext(kind.row.name)


UNDERLINED: dict[str, list[Disfluency]] = {}
"""The classes by how they are underlined in a report."""
for _kind in CLASSES:
    UNDERLINED.setdefault(_kind.row.underline, []).append(_kind)

MEASURES: dict[str, tuple[str, str]] = {
    "mlu_words": (
        "Mean length of utterance (words)",
        "Fluent words per utterance (MLU), over fully intelligible utterances.",
    ),
    "total_words": (
        "Total words",
        "Number of total words (NTW), fluent words only: fillers, cut-off words and retraced words do not count.",
    ),
    "different_words": (
        "Different words",
        "Number of different fluent words (NDW). Increases with the length of the sample.",
    ),
    "ndw_100": ("Different words in the first 100", "The same at a fixed length; samples of 100 words or more only."),
    "ttr": (
        "Type-token ratio",
        "Different words divided by total words (TTR). Decreases with the length of the sample.",
    ),
    "mattr": (
        "Moving-average type-token ratio",
        "The mean type-token ratio of all windows of 50 words (MATTR). Does not depend on the length of the sample.",
    ),
    "maze_share": ("Maze words", "Fillers, cut-off words and retraced words as a share of all spoken words."),
    "words_per_minute": (
        "Words per minute",
        "Fluent words per minute of the utterances' duration, without the silences between them.",
    ),
    "abandoned": (
        "Abandoned utterances",
        "Utterances that trail off or are interrupted (CHAT: +... and +/. and similar terminators).",
    ),
    "utterances": ("Utterances", "Number of utterances."),
}
