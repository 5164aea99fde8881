"""Splicing on storybook: the same 28 minutes of speech, with and without spliced utterances, by class of disfluency.

The runs with spliced speech are those of ``benchmarks.demo_seeds``, whose result is read. Those without train the
demo's recipes for the same number of steps. Spliced speech is in train alone. Finished runs are skipped.

    python -m benchmarks.splice --seeds 3
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.demo_seeds import scores
from benchmarks.hours_heard import DEMO_HOURS, Run, prepared, test_scores, trained
from benchmarks.rare_disfluencies import events, rare_report
from lsa_whisper.demo import ADAPTATIONS, SPLICE_RATE
from lsa_whisper.inspection import inspect
from lsa_whisper.system import plain_json


def main() -> None:
    """Run all seeds and write ``benchmarks/results/splice.json``, and a page with clips of spliced speech."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/hours-heard"))
    options = parser.parse_args()
    if not (demos := result.last("demo_seeds")):
        parser.error(
            "there is no result of benchmarks.demo_seeds, which has the runs with spliced speech; run it first"
        )
    seeds = [(one, seed) for one in ADAPTATIONS for seed in range(options.seeds)]
    without = {Run(one, DEMO_HOURS, 0, seed): f"{one} without splicing, seed {seed}" for one, seed in seeds}
    with_splicing = {f"{one} seed {seed}": f"{one} with splicing, seed {seed}" for one, seed in seeds}
    models = trained(options.out, list(without))
    names = {run.name: name for run, name in without.items()}
    systems, rare = test_scores(models, options.out / "report"), rare_report(models, options.out / "rare")
    spliced = prepared(options.out, DEMO_HOURS, SPLICE_RATE)
    inspect(spliced, out=options.out / "spliced.html")
    result.write(
        "splice",
        ("torch", "transformers", "peft"),
        "corpora/storybook, test speakers; SYNTHETIC speech",
        rate=SPLICE_RATE,
        seeds=options.seeds,
        spliced=dict(plain_json.read(spliced / "prepared.json")["spliced"]),
        systems=[*renamed(systems, names), *renamed(demos["systems"], with_splicing)],
        rare_events=events(rare),
        rare=[*renamed(scores(rare), names), *renamed(demos["rare"], with_splicing)],
    )


def renamed(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of the systems in ``names``, with their new names."""
    return [{**row, "system": names[row["system"]]} for row in rows if row["system"] in names]


if __name__ == "__main__":
    main()
