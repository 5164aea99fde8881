"""The main metrics: title, definition, and the counts that each is a ratio of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.counts import WordErrors
from lsa_whisper.scoring.file_scores import FileCounts

Fraction = tuple[int, int]
Classes = frozenset[Disfluency]


@dataclass(frozen=True)
class Metric:
    """A rate over files: ``fraction`` gives one file's numerator and denominator."""

    key: str
    title: str
    """For readers without a technical background."""
    abbreviation: str
    definition: str
    lower_is_better: bool
    fraction: Callable[[FileCounts, Classes], Fraction]
    over_supported_classes: bool = False
    """Whether it covers only the classes that a system supports, so that systems may differ in what is scored."""


def _errors(field: str) -> Callable[[FileCounts, Classes], Fraction]:
    def fraction(scores: FileCounts, _: Classes) -> Fraction:
        errors: WordErrors = getattr(scores, field)
        return errors.errors, errors.reference_words

    return fraction


def class_f1(kind: Disfluency) -> Callable[[FileCounts, Classes], Fraction]:
    """Return the fraction of one class' F1; 0 / 0 if the system does not support the class."""

    def fraction(scores: FileCounts, supported_classes: Classes) -> Fraction:
        return scores.disfluency[kind].f1_fraction if kind in supported_classes else (0, 0)

    return fraction


METRICS = (
    Metric("wer_verbatim", "Word errors, verbatim", "WER-V",
        "Substituted, deleted and inserted words per 100 words spoken (word error rate). Fillers, repetitions and "
        "cut-off words count like any other word; spellings of the same filler (um, uhm) are one. 0 % is perfect.",
        True, _errors("verbatim"),
    ),
    Metric("wer_fluent", "Word errors, without disfluencies", "WER-F",
        "The same, after fillers, cut-off words and retraced words are removed from both transcripts.",
        True, _errors("fluent"),
    ),
    Metric("wer_fluent_raw", "Word errors, without disfluencies, raw output", "WER-F raw",
        "The complete transcript of the system against the reference without disfluencies: disfluencies that the "
        "system transcribed count as insertions.",
        True, _errors("fluent_raw"),
    ),
    Metric("wer_verbatim_raw", "Word errors, verbatim, fillers as spelled", "WER-V raw",
        "As in the first row, but um and uhm, or uh and er, are different words.",
        True, _errors("verbatim_raw"),
    ),
    Metric("cer_verbatim", "Character errors, verbatim", "CER-V",
        "Substituted, deleted and inserted letters and spaces per 100 (character error rate): a word that is nearly "
        "right adds little.",
        True, _errors("characters"),
    ),
    Metric("cer_fluent", "Character errors, without disfluencies", "CER-F",
        "The same, after fillers, cut-off words and retraced words are removed from both transcripts.",
        True, _errors("fluent_characters"),
    ),
    Metric("disfluency_f1", "Disfluencies detected", "F1",
        "F1, the harmonic mean of precision and recall, over all disfluency classes that the system supports. 100 % is "
        "perfect.",
        False, lambda scores, classes: scores.disfluency.only(classes).together.f1_fraction,
        over_supported_classes=True,
    ),
    Metric("timed_f1", "Disfluencies detected, by time", "timed F1",
        "The same, but a disfluency is detected if the system has one of its class that begins at the same time (by "
        "default within half a second), even if the words around it differ. Needs times in both transcripts.",
        False, lambda scores, classes: scores.timed.only(classes).together.f1_fraction,
        over_supported_classes=True,
    ),
    Metric("boundary_f1", "Utterance boundaries", "boundary F1",
        "F1 of the positions at which utterances end. The end of a file does not count.",
        False, lambda scores, _: scores.boundaries.f1_fraction,
    ),
    Metric("role_accuracy", "Speaker role accuracy", "role accuracy",
        "The share of aligned words that are attributed to a speaker of the same role (Target Child, Mother ...). Not "
        "scored if the system distinguishes no speakers.",
        False, lambda scores, _: scores.same_role,
    ),
)  # fmt: skip
"""The metrics of every evaluation; those by other rules or optional packages are reported apart."""
