"""``python -m corpora.storybook.generator``: rebuild the committed corpus, or make hours of training speech."""

from __future__ import annotations

import argparse
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .conversation import write_session
from .voices import of_split, stranger

SESSIONS = {"train": (12, 137.0), "dev": (2, 100.0), "test": (6, 90.0)}
"""Per split of the committed corpus: how many sessions, of how many seconds."""


def main() -> None:
    """Parse the command line and write the sessions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the sessions")
    parser.add_argument("--hours", type=float, help="make this much speech, of training speakers and many others")
    parser.add_argument(
        "--style",
        choices=("talk", "read", "stammer", "rare", "lists"),
        default="talk",
        help="with --hours: the kind of speech",
    )
    parser.add_argument(
        "--captions",
        choices=("chat", "cleaned", "words", "web", "sounds"),
        default="chat",
        help="with --hours: how they are transcribed",
    )
    parser.add_argument(
        "--split", choices=SESSIONS, default="train", help="with --hours: whose speech; train also has many strangers"
    )
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    jobs = _hours(options) if options.hours else _corpus(options)
    for job in jobs:
        job.stem.parent.mkdir(parents=True, exist_ok=True)
    # A synthesizer's output depends slightly on what it produced before. Every session has its own process, so that
    # the audio does not depend on the number of processes.
    with multiprocessing.get_context("fork").Pool(options.processes, maxtasksperchild=1) as pool:
        lengths = pool.map(_session, jobs, chunksize=1)
    print(f"{len(lengths)} sessions, {sum(lengths) / 3600:.2f} hours in {options.out}")


@dataclass(frozen=True)
class Job:
    """One session to write; its content depends only on the seed and its number."""

    seed: int
    number: int
    stem: Path
    split: str
    length_s: float
    strangers: bool = False
    style: str = "talk"
    captions: str = "chat"


def _corpus(options: argparse.Namespace) -> list[Job]:
    return [
        Job(options.seed, 1000 * number + index, options.out / split / f"{split}{index + 1:02d}", split, length)
        for number, (split, (count, length)) in enumerate(SESSIONS.items())
        for index in range(count)
    ]


def _hours(options: argparse.Namespace) -> list[Job]:
    how = (options.split == "train", options.style, options.captions)
    return [
        Job(options.seed, 10_000 + i, options.out / f"{i // 100:03d}" / f"hours{i:05d}", options.split, 60.0, *how)
        for i in range(round(options.hours * 60))
    ]


def _session(job: Job) -> float:
    rng = np.random.default_rng([job.seed, job.number])
    adults, children = of_split(job.split, "ADU"), of_split(job.split, "CHI")
    if job.strangers:
        adult, child = stranger("ADU", rng), stranger("CHI", rng)
    else:
        adult = adults[job.number % len(adults)]
        child = children[(job.number * 3 + job.number // len(adults)) % len(children)]
    return write_session(job.stem, adult, child, job.length_s, rng, style=job.style, captions=job.captions)


if __name__ == "__main__":
    main()
