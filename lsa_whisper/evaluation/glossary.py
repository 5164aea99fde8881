"""The columns of the report and their definitions, shown on hover and in its glossary."""

from __future__ import annotations

COLUMNS: dict[str, str] = {
    "In reference": "How many the reference transcript has.",
    "Found": "In the reference and, at the same words, in the system's transcript (true positives).",
    "Missed": "In the reference, but not in the system's transcript (false negatives).",
    "False alarms": "In the system's transcript, but not in the reference (false positives).",
    "Share found": "Found, of those in the reference. Of fewer than ten, no share is given: too few to judge.",
    "Spoken": "How often the reference has the word.",
    "Left out": "How often the system left it out.",
    "Replaced": "How often the system wrote another word.",
    "Made up": "How often the system wrote it where it was not spoken.",
    "Precision": "The share of those in the system's transcript that are correct.",
    "Recall": "The share of those in the reference that were found.",
    "F1": "The harmonic mean of precision and recall: 100 % if all are found without false alarms.",
    "Timed F1": "F1 by time: found if one of the same class begins at the same time, even if the words differ.",
    "Reference": "The mean over files, measured from the reference transcripts.",
    "Transcript": "The mean over files, measured from the system's transcripts.",
    "Bias": "The mean of transcript minus reference: above 0 the system's values are too high.",
    "Mean absolute error": "The mean size of the difference, regardless of its sign.",
    "Limits of agreement": "Bland-Altman limits: about 95 % of the differences of single files lie between them.",
    "ICC": "Intraclass correlation ICC(A,1): 1 is perfect agreement, 0 none.",
    "Words": "Scored words of the reference.",
    "Substitutions": "Words that the system replaced with another word.",
    "Deletions": "Words that the system left out.",
    "Insertions": "Words in the system's transcript that were not spoken.",
    "Word errors": "Word error rate: substitutions, deletions and insertions per 100 words spoken.",
    "Inserted in silence": "Inserted words whose time lies outside every utterance of the reference.",
    "Minutes of silence": "Time outside the reference's utterances, in files in which every utterance has times.",
    "Per minute": "Inserted words per minute of silence; no rate is given for fewer than ten words.",
    "Utterances with a run": "Utterances of the system with five or more consecutive inserted words.",
    "Words in loops": "Inserted words in repetition loops: the same words four or more times in a row, most of them "
    "insertions.",
    "cpWER": "Concatenated minimum-permutation word error rate: the words of each speaker are concatenated and "
    "speakers are matched so that errors are fewest. A word attributed to the wrong speaker counts twice.",
    "tcpWER": "Time-constrained cpWER: words match only within 5 seconds of each other.",
    "Files": "The number of files in which both values are defined.",
}
