"""A simulated corrector: share of errors corrected against time spent listening, doubtful utterances first or in order.

    python -m benchmarks.review_time runs/demo/lora

The model transcribes storybook's dev and test speakers; its confidences are calibrated on dev. A simulated reviewer
listens to one utterance of the drafts of test after another, with a second of overhead for each, and corrects all of
its errors. Errors are verbatim word errors; a missing word counts for the neighboring utterance of the draft. After
each quarter of the time, the estimate of errors left is compared with the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.decoding.confidences import Calibration, Confidences, read_confidences
from lsa_whisper.review.corrections import errors_left
from lsa_whisper.scoring.align import UNALIGNED
from lsa_whisper.scoring.wer import align_verbatim, utterance_of_columns
from lsa_whisper.scoring.words import file_words
from lsa_whisper.transcription import transcribe
from lsa_whisper.transcription.assembly.confidence import fit_calibration

STORYBOOK = Path("corpora/storybook")
OVERHEAD_S = 1.0
SHARES = (0.1, 0.25, 0.5, 0.75)
Utterances = list[tuple[float, float, int]]
"""Seconds, expected errors and true errors of each utterance of a draft."""


def drafts(model: Path, split: str, out: Path) -> list[tuple[Path, Path]]:
    """Return draft and reference of each recording of a split; finished drafts are kept."""
    done = transcribe([STORYBOOK / split], model, out=out / split).done
    return [(each.transcript, each.audio.with_suffix(".cha")) for each in done]


def scored(draft: Path, reference: Path) -> tuple[list[float], list[bool], Confidences, np.ndarray]:
    """Return the log-probability of each word, whether it is right, the confidences, and errors by utterance."""
    found = read_confidences(draft)
    assert found is not None
    own, other = file_words(chat.read(draft).utterances), file_words(chat.read(reference).utterances)
    alignment = align_verbatim(own, other)
    logprobs, right = [], []
    for (position, _), equal in zip(alignment.pairs, alignment.equal, strict=True):
        if position != UNALIGNED:
            score = found.utterances[own.utterance_of[position]].scores[own.spoken_of[position]]
            if score is not None:
                logprobs.append(score)
                right.append(bool(equal))
    wrong = utterance_of_columns(alignment, own, other)[~alignment.equal & ~alignment.excluded]
    return logprobs, right, found, np.bincount(wrong[wrong >= 0], minlength=len(found.utterances))


def utterances(pairs: Sequence[tuple[Path, Path]], calibration: Calibration) -> Utterances:
    """Return what the simulation needs of each utterance of the drafts."""
    rows: Utterances = []
    for draft, reference in pairs:
        _, _, found, errors = scored(draft, reference)
        for each, wrong in zip(found.utterances, errors, strict=True):
            seconds = each.span.duration_ms / 1000 if each.span else 3.0
            expected = sum(1 - calibration(score) for score in each.scores if score is not None)
            rows.append((seconds + OVERHEAD_S, expected, int(wrong)))
    return rows


def simulate(rows: Utterances, order: Sequence[int]) -> dict[str, Any]:
    """Return the share of errors corrected, and estimate and truth of the errors left, at each share of the time."""
    total_s, total = sum(row[0] for row in rows), sum(row[2] for row in rows)
    points, spent, found, done = {}, 0.0, 0, 0
    for share in SHARES:
        while done < len(order) and spent + rows[order[done]][0] <= share * total_s:
            spent, found, done = spent + rows[order[done]][0], found + rows[order[done]][2], done + 1
        left = errors_left([rows[at][1] for at in order[done:]], [rows[at][1] for at in order[:done]], found)
        points[f"{share:.0%}"] = {
            "errors_corrected": round(found / max(total, 1), 3),
            "errors_left": total - found,
            "estimate": round(left.errors, 1),
            "low": round(left.low, 1),
            "high": round(left.high, 1),
        }
    return points


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("model", type=Path)
    options.add_argument("--out", type=Path, default=Path("build/review_time"))
    given = options.parse_args()
    logprobs: list[float] = []
    right: list[bool] = []
    for draft, reference in drafts(given.model, "dev", given.out):
        values, correct, _, _ = scored(draft, reference)
        logprobs += values
        right += correct
    calibration = fit_calibration(logprobs, right)
    rows = utterances(drafts(given.model, "test", given.out), calibration)
    numbers = range(len(rows))
    orders = {
        "from start to end": list(numbers),
        "doubtful first": sorted(numbers, key=lambda at: -rows[at][1] / rows[at][0]),
        "best possible": sorted(numbers, key=lambda at: -rows[at][2] / rows[at][0]),
    }
    result.write(
        "review_time",
        ("numpy",),
        f"storybook, synthetic speech: drafts of all {len(rows)} utterances of test; {given.model.name} is a LoRA of "
        f"nano as the demo trains it; calibrated on {len(right)} words of dev; {OVERHEAD_S} s of overhead for each",
        utterances=len(rows),
        errors=sum(row[2] for row in rows),
        seconds=round(sum(row[0] for row in rows)),
        orders={name: simulate(rows, order) for name, order in orders.items()},
    )


if __name__ == "__main__":
    main()
