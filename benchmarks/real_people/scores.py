"""Counts of words, disfluencies and utterance boundaries of one recording, their sums, and the figures of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.real_people.corpus import Clip
from lsa_whisper.chat import Disfluency
from lsa_whisper.scoring.groups import ParsedTranscript
from lsa_whisper.scoring.score_file import ScoringOptions, score_file
from lsa_whisper.transcription import Transcriber

CLASSES = {
    "filled_pauses": Disfluency.FILLED_PAUSE,
    "repetitions": Disfluency.REPETITION,
    "revisions": Disfluency.REVISION,
    "cut_offs": Disfluency.FRAGMENT,
}
BOUNDARIES = "utterance_boundaries"
"""Ends of utterances between the same words, as ``evaluate`` counts them."""
Counts = dict[str, int]


def count(transcriber: Transcriber, clip: Clip) -> Counts:
    """Return what a model got right and wrong of a recording, as counts that can be added."""
    written = transcriber.transcribe(clip.sound).transcript.utterances
    parsed = (ParsedTranscript(tuple(said), {}) for said in (clip.said, written))
    scores = score_file(clip.sound.stem, *parsed, ScoringOptions(keep_alignment=False))
    counts = {}
    for name, errors in (("verbatim", scores.verbatim), ("fluent", scores.fluent)):
        counts |= {f"{name}_errors": errors.errors, f"{name}_words": errors.reference_words}
    for name, found in {
        BOUNDARIES: scores.boundaries,
        **{name: scores.disfluency[kind] for name, kind in CLASSES.items()},
    }.items():
        counts |= {f"{name}_found": found.true_positives, f"{name}_missed": found.false_negatives}
        counts |= {f"{name}_invented": found.false_positives}
    return counts


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sums."""
    sums: Counter[str] = Counter()
    for one in counts:
        sums.update(one)
    return dict(sums)


def figures(counts: Counts) -> dict[str, float | list[int] | None]:
    """Return word errors in per cent, F1, and each class and the utterance boundaries as found, missed, invented."""
    row: dict[str, float | list[int] | None] = {}
    for name, title in (("verbatim", "word_errors"), ("fluent", "word_errors_without_disfluencies")):
        words = counts.get(f"{name}_words", 0)
        row[title] = round(100 * counts[f"{name}_errors"] / words, 1) if words else None
    for name in CLASSES:
        row[name] = _of(name, counts)
    row["filled_pauses_f1"] = _f1("filled_pauses", counts)
    if f"{BOUNDARIES}_found" in counts:  # counts of earlier runs have none
        row |= {BOUNDARIES: _of(BOUNDARIES, counts), f"{BOUNDARIES}_f1": _f1(BOUNDARIES, counts)}
    return row


def _f1(name: str, counts: Counts) -> float | None:
    found, missed, invented = _of(name, counts)
    there = 2 * found + missed + invented
    return round(2 * found / there, 3) if there else None


def _of(name: str, counts: Counts) -> list[int]:
    return [counts.get(f"{name}_{part}", 0) for part in ("found", "missed", "invented")]


def by_set(clips: Sequence[Clip], counts: Sequence[Counts]) -> dict[str, Counts]:
    """Return the sums of each set."""
    names = dict.fromkeys(clip.set for clip in clips)
    pairs = list(zip(clips, counts, strict=True))
    return {name: total(one for clip, one in pairs if clip.set == name) for name in names}
