"""Speed of scoring on one core, memory by number of files and for one long file, and speed of the bootstrap.

References and hypotheses are generated: utterances of six to eleven words, one in four with a disfluency, and a
hypothesis in which a tenth of the words is wrong. Each size is scored in a new process, without a report. Memory is the
highest that this process itself held (``VmHWM``).

    python -m benchmarks.scoring_speed
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import result
from lsa_whisper import chat
from lsa_whisper.chat import Participant
from lsa_whisper.evaluation import evaluate
from lsa_whisper.scoring.bootstrap import Resamples
from lsa_whisper.scoring.file_scores import EVERYONE
from lsa_whisper.timespan import TimeSpan

UTTERANCES = 100
LONG = 20_000
"""The utterances of the long file: a day of conversation."""
VOCABULARY = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "ll", "t", "sh")]
DISFLUENCIES = ("&-um", "&-uh", "&+b", "the [/]", "<I want> [/]", "<he said> [//]", "(.)")


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", nargs="+", type=int, default=[100, 300, 1000], help="How many, 100 utterances each.")
    parser.add_argument("--score", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.score:
        print(json.dumps(scored(*options.score)))
        return
    sizes = sorted(options.files)
    with tempfile.TemporaryDirectory() as folder:
        figures = {size: alone(Path(folder), size) for size in sizes}
        write_pair(Path(folder) / "long", 0, LONG)
        long_file = measured(Path(folder) / "long" / "reference", Path(folder) / "long" / "hypothesis")
    more = figures[sizes[-1]]["peak_memory_mb"] - figures[sizes[0]]["peak_memory_mb"]
    result.write(
        "scoring_speed",
        ("jiwer", "numpy", "rapidfuzz"),
        f"up to {sizes[-1]} pairs of synthetic transcripts of {UTTERANCES} utterances",
        **{f"files_{size}": of for size, of in figures.items()},
        one_file=long_file,
        # What is kept of a file are its counts, for the bootstrap; not its words.
        memory_per_further_file_kb=round(1024 * more / max(sizes[-1] - sizes[0], 1), 1),
        bootstrap_10000_resamples_of_100_files_s=bootstrap(),
    )


def alone(folder: Path, count: int) -> dict[str, Any]:
    """Return the figures of scoring ``count`` files in a fresh process."""
    for number in range(count):
        if not (folder / "reference" / f"{number:05}.cha").exists():
            write_pair(folder, number)
    some = folder / f"{count}"
    for side in ("reference", "hypothesis"):
        (some / side).mkdir(parents=True)
        for number in range(count):
            (some / side / f"{number:05}.cha").hardlink_to(folder / side / f"{number:05}.cha")
    return measured(some / "reference", some / "hypothesis")


def measured(reference: Path, hypothesis: Path) -> dict[str, Any]:
    """Return the figures of scoring a folder in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.scoring_speed", "--score", reference, hypothesis]
    said = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
    figures: dict[str, Any] = json.loads(said)
    return figures


def scored(reference: Path, hypothesis: Path) -> dict[str, float]:
    """Return what scoring a folder takes: seconds of one core, the highest memory, and the rates as a check."""
    before = peak_mb()
    began, cpu = time.perf_counter(), time.process_time()
    evaluation = evaluate(reference, [hypothesis])
    evaluation.table()
    seconds, core = time.perf_counter() - began, time.process_time() - cpu
    system = next(iter(evaluation.systems.values()))
    return {
        "utterances": sum(each.samples[EVERYONE][0].utterances for each in system.files),
        "words": system.word_errors_verbatim.reference_words,
        "wall_s": round(seconds, 2),
        "core_s": round(core, 2),
        "peak_memory_mb": peak_mb(),
        "memory_before_mb": before,
        "wer_verbatim": round(system.word_errors_verbatim.rate or 0, 4),
        "disfluency_f1": round(system.disfluency.together.f1 or 0, 4),
    }


def peak_mb() -> float:
    """Return the most memory that this process has held, in megabytes; not that of the process that started it."""
    status = Path("/proc/self/status").read_text("utf-8")
    return round(int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024, 1)  # type: ignore[index]


def write_pair(folder: Path, number: int, utterances: int = UTTERANCES) -> None:
    """Write one reference and its hypothesis."""
    generator = random.Random(number)
    said, heard = [], []
    for position in range(utterances):
        words = generator.choices(VOCABULARY, k=generator.randint(6, 11))
        if generator.random() < 0.25:
            words.insert(generator.randrange(len(words)), generator.choice(DISFLUENCIES))
        span, speaker = TimeSpan(4000 * position, 4000 * position + 3500), generator.choice(("CHI", "INV"))
        said.append(chat.utterance(speaker, f"{' '.join(words)} .", span))
        heard.append(chat.utterance(speaker, f"{' '.join(misheard(words, generator))} .", span))
    people = [Participant("CHI", "Target_Child", age="4;06."), Participant("INV", "Investigator")]
    for side, spoken in (("reference", said), ("hypothesis", heard)):
        (folder / side).mkdir(parents=True, exist_ok=True)
        written = chat.compose(languages=["eng"], participants=people, utterances=spoken)
        chat.write(written, folder / side / f"{number:05}.cha")


def misheard(words: list[str], generator: random.Random) -> list[str]:
    """Return the words with a tenth left out, replaced or doubled; marks are lost like words."""
    heard = []
    for word in words:
        rng = generator.random()
        if rng > 0.1 or (word in DISFLUENCIES and rng > 0.03):
            heard.append(word)
        elif rng > 0.03:
            heard += [generator.choice(VOCABULARY)] * (2 if rng > 0.07 else 1)
    return heard if any(word.isalpha() for word in heard) else ["no"]


def bootstrap() -> float:
    """Return the seconds that 10,000 resamples of 100 files and their interval take, the best of five."""
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        resamples = Resamples(100, samples=10_000)
        resamples.interval(resamples.ratios(np.arange(100), np.full(100, 200)))
        seconds.append(time.perf_counter() - began)
    return round(min(seconds), 4)


if __name__ == "__main__":
    main()
