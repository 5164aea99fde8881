"""The demo's claim, over several seeds: fine-tuning on storybook teaches models/nano to keep disfluencies.

Runs the whole demo once per seed and writes what the reports say of the TEST speakers.

    python -m benchmarks.demo_seeds --seeds 3
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from benchmarks import result
from lsa_whisper.demo import demo

CLASSES = (
    "filled_pause",
    "repetition",
    "revision",
    "fragment",
    "part_word_repetition",
    "prolongation",
    "block",
    "pause",
)


def main() -> None:
    """Run the seeds and write ``benchmarks/results/demo_seeds.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/demo-seeds"))
    options = parser.parse_args()
    rows = []
    for seed in range(options.seeds):
        began = time.monotonic()
        report = demo(options.out / str(seed), seed=seed)
        rows += scores(report.with_suffix(".json"), seed, round(time.monotonic() - began))
    result.write(
        "demo_seeds",
        ("torch", "transformers", "peft"),
        "corpora/storybook, test speakers; SYNTHETIC speech",
        rows=rows,
    )


def scores(report: Path, seed: int, seconds: int) -> list[dict[str, object]]:
    """Return one row per system of a report."""
    rows = []
    for system in json.loads(report.read_text("utf-8"))["systems"]:
        found = {kind: system["disfluency"][kind] for kind in CLASSES if kind in system["disfluency"]}
        rows.append(
            {
                "seed": seed,
                "system": system["name"],
                "demo_seconds": seconds,
                "wer_verbatim": system["word_errors"]["verbatim"]["rate"],
                "wer_fluent": system["word_errors"]["fluent"]["rate"],
                "f1": {kind: counts["f1"] for kind, counts in found.items()},
                "recall": {kind: counts["recall"] for kind, counts in found.items()},
            }
        )
    return rows


if __name__ == "__main__":
    main()
