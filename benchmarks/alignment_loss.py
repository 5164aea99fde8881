"""The alignment loss on storybook: word times, word errors and disfluencies with and without it.

The runs with the loss are those of ``benchmarks.demo_seeds``, whose result is read: the demo's recipes, LoRA with
weight 0.3 and full fine-tuning with weight 1. Those without train the same recipes with weight 0 on the same data.
Finished runs are skipped. Other models, such as one that is used as it is, are measured by ``benchmarks.word_times``.

    python -m benchmarks.alignment_loss --seeds 3
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.demo_seeds import scores, timed_words
from benchmarks.hours_heard import DEMO_HOURS, Run, test_scores, trained
from benchmarks.rare_disfluencies import rare_report
from benchmarks.splice import renamed
from lsa_whisper.demo import ADAPTATIONS, SPLICE_RATE
from lsa_whisper.finetuning.recipe import read_recipe

HOW = ("without", "with")


def main() -> None:
    """Run all seeds and write ``benchmarks/results/alignment_loss.json``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/alignment-loss"))
    options = parser.parse_args()
    if not (demos := result.last("demo_seeds")):
        parser.error("there is no result of benchmarks.demo_seeds, which has the runs with the loss; run it first")
    seeds = [(one, seed) for one in ADAPTATIONS for seed in range(options.seeds)]
    without = {Run(one, DEMO_HOURS, SPLICE_RATE, seed): f"{one} without, seed {seed}" for one, seed in seeds}
    with_loss = {f"{one} seed {seed}": f"{one} with, seed {seed}" for one, seed in seeds}
    models = trained(options.out, list(without), ["loss.alignment_weight=0"])
    names = {run.name: name for run, name in without.items()}
    found = {
        "systems": test_scores(models, options.out / "report"),
        "rare": scores(rare_report(models, options.out / "rare")),
        "word_starts": timed_words(models, {name: options.out / "word-times" / names[name] for name in models}),
    }
    rows = {key: [*renamed(own, names), *renamed(demos[key], with_loss)] for key, own in found.items()}
    result.write(
        "alignment_loss",
        ("torch", "transformers", "peft"),
        "corpora/storybook, test speakers; SYNTHETIC speech, whose word times are exact",
        seeds=options.seeds,
        weights={one: read_recipe(Path(f"recipes/demo-{one}.yaml")).loss.alignment_weight for one in ADAPTATIONS},
        means=[{"adaptation": one, "loss": how, **means(rows, f"{one} {how}, ")} for one in ADAPTATIONS for how in HOW],
        **rows,
    )


def means(rows: Mapping[str, Iterable[Mapping[str, Any]]], name: str) -> dict[str, float]:
    """Return the means over the seeds of the systems whose name begins with ``name``."""
    own = {key: [each for each in found if each["system"].startswith(name)] for key, found in rows.items()}
    shares = {
        f"within_{limit}_ms": statistics.mean(each["share_within_ms"][limit] for each in own["word_starts"])
        for limit in own["word_starts"][0]["share_within_ms"]
    }
    scored = {
        prefix + metric: statistics.mean(each[metric]["value"] for each in own[key])
        for key, prefix in (("systems", ""), ("rare", "rare_"))
        for metric in ("wer_verbatim", "wer_fluent", "disfluency_f1")
    }
    return {key: round(value, 4) for key, value in (shares | scored).items()}


if __name__ == "__main__":
    main()
