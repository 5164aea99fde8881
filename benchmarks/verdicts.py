"""How often intervals cover the true rate, and how often a verdict names a difference where there is none, or one is.

    python -m benchmarks.verdicts

Recordings are simulated as counts: each person is easy or hard, for all systems; each recording differs a little from
the person, and each system a little from the others, by chance alone. Coverage is that of the word error rate's
interval, with one and with five recordings of each person. False alarms are verdicts on equal systems; power is that of
finding a system that makes 5 points more word errors. The package's own code computes every interval and verdict.

Writes ``benchmarks/results/verdicts.json``.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks import result
from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation.differences import differences
from lsa_whisper.scoring.bootstrap import Resamples
from lsa_whisper.scoring.counts import Detections, WordErrors
from lsa_whisper.scoring.disfluency import SCORED, DisfluencyScores
from lsa_whisper.scoring.file_scores import FileCounts, Totals
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.scoring.system import System

RATE, BETWEEN_PERSONS, BETWEEN_FILES, BETWEEN_SYSTEMS = 0.20, 0.06, 0.02, 0.03
"""Word error rate: its mean, and standard deviations between persons, recordings of one, and systems on one."""
FOUND, PER_WORD = 0.7, 0.12
"""The share of disfluencies that a system finds, and how many there are for each word."""
FILES = (4, 6, 8, 10, 20, 40)
PER_PERSON = (1, 5)
POINTS = 0.05
_WER = next(metric for metric in METRICS if metric.key == "wer_verbatim")
_KINDS = (Disfluency.FILLED_PAUSE, Disfluency.REPETITION, Disfluency.REVISION)


def main() -> None:
    """Simulate, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=1000)
    repetitions = parser.parse_args().repetitions
    coverage = [
        {"persons": persons, "files_per_person": each, "coverage": round(covered(persons, each, repetitions), 3)}
        for persons in FILES
        for each in PER_PERSON
    ]
    alarms = [
        {"files": files, "systems": systems, "decides": decide, "named": round(named(files, systems, decide, n), 3)}
        for files, n in ((8, repetitions), (20, repetitions))
        for systems in (2, 3)
        for decide in ("wer_verbatim", "disfluency_f1")
    ]
    power = {files: round(named(files, 2, "wer_verbatim", repetitions, POINTS), 3) for files in (8, 20)}
    data = f"simulated recordings, {repetitions} repetitions of each case"
    result.write("verdicts", ("numpy", "scipy"), data, coverage=coverage, false_alarms=alarms, power_5_points=power)


def covered(persons: int, files_per_person: int, repetitions: int) -> float:
    """Return the share of repetitions in which the interval holds the true word error rate."""
    hits = 0
    for seed in range(repetitions):
        system = simulate(np.random.default_rng(seed), persons, files_per_person, 1, samples=2000)[0]
        interval = system.interval(_WER)
        hits += interval is not None and interval.low <= RATE <= interval.high
    return hits / repetitions


def named(files: int, systems: int, decide: str, repetitions: int, points: float = 0.0) -> float:
    """Return the share of repetitions in which the verdict calls the right system (any of equal ones) better."""
    count = 0
    for seed in range(repetitions):
        made = simulate(np.random.default_rng(seed), files, 1, systems, samples=2000, points=points)
        pairs = len(list(combinations(made, 2)))
        found = [d.better for d, _ in zip(differences(made, decide), range(pairs), strict=False) if d.better]
        count += "system 0" in found if points else bool(found)
    return count / repetitions


def simulate(
    generator: np.random.Generator, persons: int, each: int, systems: int, *, samples: int, points: float = 0.0
) -> list[System]:
    """Return systems over the same simulated recordings; the last makes ``points`` more word errors."""
    rates = np.repeat(generator.beta(*_shape(RATE, BETWEEN_PERSONS), size=persons), each)
    rates = rates + generator.normal(0, BETWEEN_FILES if each > 1 else 0, persons * each)
    words = np.round(generator.lognormal(5.5, 0.6, persons * each)).astype(int) + 5
    events = generator.poisson(PER_WORD * words / len(_KINDS), (len(_KINDS), len(words)))
    units = np.repeat(np.arange(persons), each)
    resamples = Resamples(persons, samples, seed=int(generator.integers(1 << 31)))
    return [
        _system(generator, number, rates + points * (number == systems - 1), words, events, units, resamples, systems)
        for number in range(systems)
    ]


def _system(
    generator: np.random.Generator,
    number: int,
    rates: Any,
    words: Any,
    events: Any,
    units: Any,
    resamples: Resamples,
    systems: int,
) -> System:
    apart = BETWEEN_SYSTEMS if systems > 1 else 0
    own = np.clip(rates + generator.normal(0, apart, len(words)), 0.01, 0.9)
    finds = np.clip(FOUND + generator.normal(0, 3 * apart, len(words)), 0.05, 0.95)
    errors = generator.binomial(words, own)
    found = generator.binomial(events, finds)
    invented = generator.poisson(0.1 * events)
    files, total = [], Totals()
    for at in range(len(words)):
        scores = {kind: Detections() for kind in SCORED}
        for row, kind in enumerate(_KINDS):
            hits = int(found[row, at])
            scores[kind] = Detections(hits, int(invented[row, at]), int(events[row, at]) - hits)
        counts = WordErrors(hits=int(words[at] - errors[at]), substitutions=int(errors[at]))
        disfluency = DisfluencyScores(scores)
        files.append(FileCounts(key=str(at), missing=False, verbatim=counts, disfluency=disfluency))
        total += Totals(verbatim=counts, disfluency=disfluency)
    return System(f"system {number}", files, total, resamples, persons=units)


def _shape(mean: float, deviation: float) -> tuple[float, float]:
    """Return the parameters of a beta distribution."""
    size = mean * (1 - mean) / deviation**2 - 1
    return mean * size, (1 - mean) * size


if __name__ == "__main__":
    main()
