"""What the report calls things, and the sentence shown when a reader points at them."""

from __future__ import annotations

from lsa_whisper.chat import Disfluency

CLASSES: dict[Disfluency, tuple[str, str]] = {
    Disfluency.FILLED_PAUSE: (
        "Filled pauses",
        "Fillers such as um, uh (CHAT: &-um). Which filler it was is not judged.",
    ),
    Disfluency.FRAGMENT: ("Cut-off words", "A word broken off before its end (CHAT: &+fr). The beginning must agree."),
    Disfluency.NONWORD: ("Nonwords", "Babble and made-up sounds (CHAT: &~goo)."),
    Disfluency.REPETITION: (
        "Repetitions",
        "The same words said again (CHAT: I want [/] I want). Found only when every copy is there.",
    ),
    Disfluency.REVISION: (
        "Revisions",
        "Words taken back and changed (CHAT: the dog [//] the cat). Half of the words taken back must agree.",
    ),
    Disfluency.REFORMULATION: ("Reformulations", "A whole new way to say it (CHAT: [///])."),
    Disfluency.FALSE_START: ("False starts", "A beginning given up for something else (CHAT: [/-])."),
    Disfluency.PART_WORD_REPETITION: (
        "Part-word repetitions",
        "Repeated sounds or syllables: b-b-ball (CHAT: ↫b-b↫ball).",
    ),
    Disfluency.PROLONGATION: ("Prolongations", "A stretched sound: s:o."),
    Disfluency.BROKEN_WORD: ("Broken words", "A pause inside a word (CHAT: pi^zza)."),
    Disfluency.BLOCK: ("Blocks", "Effort before a word (CHAT: ≠word)."),
    Disfluency.PAUSE: ("Pauses", "A silence that the transcript notes (CHAT: (.)). Its length is not judged."),
    Disfluency.UNSPECIFIED_RETRACE: ("Unspecified retracings", "CHAT [/?]: taken back, how is not said; not scored."),
}

MEASURES: dict[str, tuple[str, str]] = {
    "mlu_words": (
        "Mean length of utterance (words)",
        "Meant words per utterance (MLU), over utterances in which everything could be understood.",
    ),
    "total_words": ("Words in all", "Number of meant words (NTW): fillers, fragments and repeats do not count."),
    "different_words": (
        "Different words",
        "Number of different meant words (NDW). Grows with the length of the sample.",
    ),
    "ndw_100": ("Different words among the first 100", "As above, at one length for all; longer samples only."),
    "ttr": ("Type-token ratio", "Different words divided by all words (TTR). Falls with the length of the sample."),
    "mattr": (
        "Type-token ratio, moving window",
        "The mean type-token ratio of every run of 50 words (MATTR): does not depend on length.",
    ),
    "maze_share": ("Share of maze words", "Fillers, fragments and words taken back, as a share of all spoken words."),
    "words_per_minute": ("Words per minute", "Meant words per minute of the utterances' own time, silences left out."),
    "abandoned": ("Abandoned utterances", "Utterances trailed off or interrupted (CHAT: +... and +/. and the like)."),
    "utterances": ("Utterances", "Number of utterances."),
}

COLUMNS: dict[str, str] = {
    "In reference": "How many the reference transcript has.",
    "Found": "In the reference and, at the same words, in the system's transcript.",
    "Missed": "In the reference, but not in the system's transcript.",
    "Made up": "In the system's transcript, but not in the reference.",
    "Precision": "Of those in the system's transcript, how many are right.",
    "Recall": "Of those in the reference, how many were found.",
    "F1": "The balance of precision and recall: 100 % when all are found and none made up.",
    "Timed F1": "F1 where found means: one of the same class begins at the same time, whatever the words around it.",
    "Reference": "The mean over files, measured from the reference transcripts.",
    "Transcript": "The mean over files, measured from the system's transcripts.",
    "Difference": "Transcript minus reference, on average: above 0 the system gives too much.",
    "Typical error": "The mean size of the difference, whichever its sign.",
    "95 % of differences": "Bland-Altman limits: about 95 % of files differ by an amount between these.",
    "Agreement": "Intraclass correlation ICC(A,1): 1 is perfect agreement, 0 none.",
    "Words": "Scored words of the reference.",
    "Replaced": "Words for which the system wrote another (substitutions).",
    "Left out": "Words the system did not write (deletions).",
    "Added": "Words the system wrote that were not said (insertions).",
    "Word errors": "Replaced, left out and added words per 100 words spoken.",
    "Added where nobody spoke": "Words the system wrote for times outside every utterance of the reference.",
    "Minutes without speech": "Time outside the reference's utterances, in files in which every utterance has times.",
    "Per minute": "Words added per minute without speech.",
    "Utterances with a run": "Utterances of the system with five or more added words in a row.",
    "Words in loops": "Added words in stretches where the same words come four or more times in a row, most of them "
    "added.",
    "cpWER": "Word errors of each speaker's words in one row, speakers matched as they fit best: a word ascribed to "
    "the wrong speaker counts twice.",
    "tcpWER": "The same, but words only match within 5 seconds of each other.",
    "Files": "How many files both figures could be taken from.",
}
