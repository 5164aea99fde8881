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
from benchmarks.hours_heard import DEMO_HOURS, Run, prepared, report_on_test, trained
from benchmarks.rare_disfluencies import events, rare_report
from lsa_whisper import plain_json
from lsa_whisper.demo import ADAPTATIONS, SPLICE_RATE
from lsa_whisper.inspection import inspect


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
    names = {
        (how, adaptation, seed): f"{adaptation} {how} splicing, seed {seed}"
        for how in ("without", "with")
        for adaptation in ADAPTATIONS
        for seed in range(options.seeds)
    }
    runs = {name: Run(one, DEMO_HOURS, 0, seed) for (how, one, seed), name in names.items() if how == "without"}
    checkpoints = trained(options.out, list(runs.values()))
    models = {name: checkpoints[run.name] for name, run in runs.items()}
    rare = rare_report(models, options.out / "rare-without")
    known = {f"{one} seed {seed}": name for (how, one, seed), name in names.items() if how == "with"}
    spliced = prepared(options.out, DEMO_HOURS, SPLICE_RATE)
    inspect(spliced, out=options.out / "spliced.html")
    result.write(
        "splice",
        ("torch", "transformers", "peft"),
        "corpora/storybook, test speakers; SYNTHETIC speech",
        rate=SPLICE_RATE,
        seeds=options.seeds,
        spliced=dict(plain_json.read(spliced / "prepared.json")["spliced"]),
        systems=[*scores(report_on_test(models, options.out / "report-without")), *renamed(demos["systems"], known)],
        rare_events=events(rare),
        rare=[*scores(rare), *renamed(demos["rare"], known)],
    )


def renamed(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of the systems that have a new name, with it."""
    return [{**row, "system": names[row["system"]]} for row in rows if row["system"] in names]


if __name__ == "__main__":
    main()
