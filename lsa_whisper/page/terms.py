"""The names of disfluencies and of language-sample measures, the same on all pages, and their definitions."""

from __future__ import annotations

from lsa_whisper.chat.disfluencies import Disfluency, Match

CLASSES = {
    kind: (kind.row.title, kind.row.meaning)
    for kind in sorted(Disfluency, key=lambda kind: kind.row.match is Match.NOT_SCORED)
}
"""The title and the meaning of each class; those that are not scored come last."""

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
