"""``python -m corpora.storybook.generator``: rebuild the committed corpus, or make hours of training speech."""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from .conversation import write_session
from .voices import of_split

SESSIONS = {"train": (20, 62.0), "dev": (3, 60.0), "test": (6, 62.0)}
"""Per split of the committed corpus: how many sessions, of how many seconds."""


def main() -> None:
    """Parse the command line and write the sessions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the sessions")
    parser.add_argument("--hours", type=float, help="make this much speech of the TRAINING voices only")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    jobs = _hours(options) if options.hours else _corpus(options)
    for _, _, stem, *_ in jobs:
        stem.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.processes) as pool:
        lengths = list(pool.map(_session, jobs, chunksize=4))
    print(f"{len(lengths)} sessions, {sum(lengths) / 3600:.2f} hours in {options.out}")


Job = tuple[int, int, Path, str, float, bool]


def _corpus(options: argparse.Namespace) -> list[Job]:
    return [
        (options.seed, 1000 * number + index, options.out / split / f"{split}{index + 1:02d}", split, length, False)
        for number, (split, (count, length)) in enumerate(SESSIONS.items())
        for index in range(count)
    ]


def _hours(options: argparse.Namespace) -> list[Job]:
    count = round(options.hours * 60)
    return [
        (options.seed, 10_000 + i, options.out / f"{i // 100:03d}" / f"hours{i:05d}", "train", 60.0, True)
        for i in range(count)
    ]


def _session(job: Job) -> float:
    """Write one session; the seed and the session's number alone decide what it holds."""
    seed, number, stem, split, length_s, varied = job
    rng = np.random.default_rng([seed, number])
    pairs = list(product(of_split(split, "ADU"), of_split(split, "CHI")))
    if varied:
        adult, child = (voice.varied(rng) for voice in pairs[int(rng.integers(len(pairs)))])
    else:
        adults, children = of_split(split, "ADU"), of_split(split, "CHI")
        adult, child = adults[number % len(adults)], children[(number * 3 + number // len(adults)) % len(children)]
    return write_session(stem, adult, child, length_s, rng)


if __name__ == "__main__":
    main()
