"""The names of disfluencies and of language-sample measures, the same on all pages, and their definitions."""

from __future__ import annotations

from lsa_whisper.chat import Disfluency

CLASSES: dict[Disfluency, tuple[str, str]] = {
    Disfluency.FILLED_PAUSE: (
        "Filled pauses",
        "Fillers such as um, uh (CHAT: &-um). Which filler it is does not matter.",
    ),
    Disfluency.FRAGMENT: (
        "Cut-off words",
        "Phonological fragments: words broken off before their end (CHAT: &+fr). The beginning must agree.",
    ),
    Disfluency.NONWORD: ("Nonwords", "Babble and other nonwords (CHAT: &~goo)."),
    Disfluency.REPETITION: (
        "Repetitions",
        "The same words repeated (CHAT: I want [/] I want). Detected only if every copy is transcribed.",
    ),
    Disfluency.REVISION: (
        "Revisions",
        "Words retraced and changed (CHAT: the dog [//] the cat). At least half of the retraced words must agree.",
    ),
    Disfluency.REFORMULATION: ("Reformulations", "A retrace in which the whole phrase is reworded (CHAT: [///])."),
    Disfluency.FALSE_START: ("False starts", "A beginning abandoned for a new utterance (CHAT: [/-])."),
    Disfluency.PART_WORD_REPETITION: (
        "Part-word repetitions",
        "Repeated sounds or syllables: b-b-ball (CHAT: ↫b-b↫ball).",
    ),
    Disfluency.PROLONGATION: ("Prolongations", "A lengthened sound (CHAT: s:o)."),
    Disfluency.BROKEN_WORD: ("Broken words", "A pause inside a word (CHAT: pi^zza)."),
    Disfluency.BLOCK: ("Blocks", "An audible block before a word (CHAT: ≠word)."),
    Disfluency.PAUSE: ("Pauses", "A silence marked in the transcript (CHAT: (.)). Its length does not matter."),
    Disfluency.UNSPECIFIED_RETRACE: (
        "Unspecified retraces",
        "Retraces of an unspecified kind (CHAT: [/?]); not scored.",
    ),
}

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
