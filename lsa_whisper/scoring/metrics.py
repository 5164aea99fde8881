"""The headline numbers: what each is called, what it means, and the counts it is a ratio of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.counts import Detections, WordErrors
from lsa_whisper.scoring.file_scores import FileCounts

Fraction = tuple[int, int]
Classes = frozenset[Disfluency]


@dataclass(frozen=True)
class Metric:
    """A rate over files: ``fraction`` gives one file's numerator and denominator, or arrays of those of all files."""

    key: str
    title: str
    """For a reader who is no engineer."""
    abbreviation: str
    definition: str
    lower_is_better: bool
    fraction: Callable[[FileCounts, Classes], Fraction]
    over_supported_classes: bool = False
    """Whether it is taken over the classes a system can write: of two that write others, each is judged on its own."""


def _errors(field: str) -> Callable[[FileCounts, Classes], Fraction]:
    def fraction(scores: FileCounts, _: Classes) -> Fraction:
        errors: WordErrors = getattr(scores, field)
        return errors.errors, errors.reference_words

    return fraction


def f1_fraction(found: Detections) -> Fraction:
    """Return F1 as one fraction: 2 TP / (2 TP + FP + FN)."""
    right = 2 * found.true_positives
    return right, right + found.false_positives + found.false_negatives


def class_f1(kind: Disfluency) -> Callable[[FileCounts, Classes], Fraction]:
    """Return the fraction of one class' F1; 0 / 0 where the system cannot write the class."""

    def fraction(scores: FileCounts, supported_classes: Classes) -> Fraction:
        return f1_fraction(scores.disfluency[kind]) if kind in supported_classes else (0, 0)

    return fraction


METRICS = (
    Metric(
        "wer_verbatim",
        "Word errors, as spoken",
        "WER-V",
        "Words left out, added or replaced, per 100 words really spoken: fillers, repetitions and cut-off words count "
        "like any other. Spellings of the same filler (um, uhm) are one. 0 % is perfect.",
        True,
        _errors("verbatim"),
    ),
    Metric(
        "wer_fluent",
        "Word errors, as meant",
        "WER-F",
        "The same, after removing fillers, repetitions, restarts and fragments from both transcripts.",
        True,
        _errors("fluent"),
    ),
    Metric(
        "wer_fluent_raw",
        "Word errors, as meant, nothing removed",
        "WER-F raw",
        "The whole transcript of the system against the words that were meant: disfluencies it kept count as added.",
        True,
        _errors("fluent_raw"),
    ),
    Metric(
        "wer_verbatim_raw",
        "Word errors, as spoken, fillers as spelled",
        "WER-V raw",
        "As the first row, but um and uhm, or uh and er, are different words.",
        True,
        _errors("verbatim_raw"),
    ),
    Metric(
        "cer_verbatim",
        "Letter errors, as spoken",
        "CER-V",
        "Letters and spaces left out, added or replaced, per 100 spoken: a nearly right word costs little.",
        True,
        _errors("characters"),
    ),
    Metric(
        "cer_fluent",
        "Letter errors, as meant",
        "CER-F",
        "The same, after removing fillers, repetitions, restarts and fragments from both transcripts.",
        True,
        _errors("fluent_characters"),
    ),
    Metric(
        "disfluency_f1",
        "Disfluencies found",
        "F1",
        "How well disfluencies of all classes the system can write are found and not made up (F1: the balance of "
        "precision and recall). 100 % is perfect. Classes it cannot write are not in it.",
        False,
        lambda scores, supported_classes: f1_fraction(scores.disfluency.only(supported_classes).together),
        over_supported_classes=True,
    ),
    Metric(
        "timed_f1",
        "Disfluencies found, by time",
        "timed F1",
        "The same, but a disfluency counts as found when the system has one of its class that begins at the same time "
        "(within half a second, unless said otherwise), whatever words are around it. Needs times in both transcripts.",
        False,
        lambda scores, supported_classes: f1_fraction(scores.timed.only(supported_classes).together),
        over_supported_classes=True,
    ),
    Metric(
        "boundary_f1",
        "Utterance ends found",
        "boundary F1",
        "How well utterances end where the reference ends them (F1). The end of a file does not count.",
        False,
        lambda scores, _: f1_fraction(scores.boundaries),
    ),
    Metric(
        "role_accuracy",
        "Words given to the right role",
        "role accuracy",
        "Of the words that stand for a word of the reference, how many are ascribed to a speaker of the same role "
        "(Target Child, Mother ...). Nothing is judged where the system tells of one speaker only.",
        False,
        lambda scores, _: scores.same_role,
    ),
)
"""Every transcript has these; those of foreign modes and of optional packages stand apart."""
