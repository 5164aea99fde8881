"""Effect of the LoRA rank on loss, word errors and disfluencies after the same steps, against full fine-tuning.

Runs `recipes/studies/lora_rank.yaml` for each rank and learning rate with the first seed, and for each rank at the rate
that is best on the dev speakers with the other seeds; the test speakers do not affect the choice. alpha is twice the
rank, so that updates are scaled alike. Called again, it skips finished runs and resumes interrupted ones.

    python -m benchmarks.lora_rank
    python -m benchmarks.lora_rank --minutes 60      # stops before a run that would not end in time
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper import checkpoint
from lsa_whisper.finetuning import finetune
from lsa_whisper.preparation import prepare

RECIPE = Path("recipes/studies/lora_rank.yaml")
RANKS = ("4", "8", "16", "32", "64", "full", "4 bare", "32 bare")
"""Bare: the attention adapters alone, without the token embeddings that the recipe also trains."""
RATES = {"lora": ("3e-4", "1e-3", "3e-3", "1e-2"), "full": ("1e-4", "3e-4", "8e-4", "2e-3")}
"""Full fine-tuning needs lower rates than adapters."""
FIGURES = ("loss", "eval_loss", "eval_wer_verbatim", "eval_disfluency_f1")
FIGURES += ("eval_out_of_domain_loss", "eval_out_of_domain_wer_verbatim", "eval_out_of_domain_disfluency_f1")
CHOSEN_BY = "eval_loss"
"""On the dev speakers, who say too few words for a stable word error rate."""


@dataclass(frozen=True)
class Run:
    """One cell of the study."""

    rank: str
    rate: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.rank.replace(' ', '-')}-{self.rate}-{self.seed}"

    def overrides(self, data: Path, base: str) -> list[str]:
        """Return its overrides of the recipe."""
        number, _, bare = self.rank.partition(" ")
        adapter = ["adapter=null"] if self.rank == "full" else []
        adapter = adapter or [f"adapter.rank={number}", f"adapter.alpha={2 * int(number)}"]
        adapter += ["adapter.token_embeddings=false"] if bare else []
        paths = [f"data.train={data / 'train.jsonl'}", f"data.dev={data / 'dev.jsonl'}", f"model.base={base}"]
        paths += [f"evaluation.out_of_domain={data / 'test.jsonl'}"]
        return [*adapter, *paths, f"training.learning_rate={self.rate}", f"seed={self.seed}"]


def main() -> None:
    """Run what is not finished, within the time limit, and write a table and a plot of all finished runs."""
    options = parser().parse_args()
    data = prepared(options)
    found = trained(options, data)
    settings = {"settings": options.set, "planned": planned(options), "done": len(found)}
    rows = [{"rank": run.rank, "rate": run.rate, "seed": run.seed, **row} for run, row in found.items()]
    write_result(options, rows, summary(found), settings)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--corpus", type=Path, default=Path("corpora/storybook"))
    made.add_argument("--base", default="models/nano")
    made.add_argument("--runs", type=Path, default=Path("runs/lora-rank"), help="Where data and runs are kept.")
    made.add_argument("--out", type=Path, help="A folder for the result instead of benchmarks/results.")
    made.add_argument("--ranks", nargs="+", default=RANKS, choices=RANKS)
    made.add_argument("--rates", nargs="+", help="Learning rates for all, instead of four each.")
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument("--minutes", type=float, help="Start no run that would end later than this.")
    made.add_argument("--set", action="append", default=[], help="Of the recipe, such as training.max_steps=20.")
    return made


def grid(options: argparse.Namespace, found: dict[Run, dict[str, Any]]) -> Iterator[Run]:
    """Yield the runs: one seed for every rank and rate, then the other seeds at the best rates."""
    yield from (Run(rank, rate, 0) for rank in options.ranks for rate in rates(rank, options.rates))
    best = {row["rank"]: row["rate"] for row in summary(found)}
    yield from (Run(rank, rate, seed) for seed in range(1, options.seeds) for rank, rate in best.items())


def planned(options: argparse.Namespace) -> int:
    """Return the number of runs without a time limit."""
    return sum(len(rates(rank, options.rates)) + options.seeds - 1 for rank in options.ranks)


def rates(rank: str, given: Sequence[str] | None) -> Sequence[str]:
    return given or RATES["full" if rank == "full" else "lora"]


def prepared(options: argparse.Namespace) -> Path:
    """Return the folder of the windows, as long as the base's context."""
    folder = options.runs / "data"
    if not (folder / "test.jsonl").exists():
        prepare([options.corpus], folder, context_s=checkpoint.load(options.base).context_s)
    return Path(folder)


def trained(options: argparse.Namespace, data: Path) -> dict[Run, dict[str, Any]]:
    """Return the figures of each run that finishes within the time limit."""
    began, longest, found = time.monotonic(), 0.0, dict[Run, dict[str, Any]]()
    for run in grid(options, found):
        out = options.runs / run.name
        if not (out / "curve.jsonl").exists() and late(time.monotonic() - began + longest, options.minutes):
            print(f"{run.name}: no time left for it", flush=True)
            continue
        start = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # low ranks are studied here
            finetune(RECIPE, set=[*run.overrides(data, options.base), *options.set], out=out, report=reporter(run))
        longest = max(longest, time.monotonic() - start)
        found[run] = figures(out / "curve.jsonl")
    return found


def late(seconds: float, minutes: float | None) -> bool:
    return minutes is not None and seconds > 60 * minutes


def reporter(run: Run) -> Callable[[str], None]:
    return lambda line: print(f"{run.name}: {line}", flush=True)


def figures(curve: Path) -> dict[str, float]:
    """Return the last of each figure, the training loss as the mean of the last five logged."""
    logged: dict[str, list[float]] = {key: [] for key in FIGURES}
    for line in curve.read_text("utf-8").splitlines():
        for key, value in json.loads(line).items():
            if key in logged:
                logged[key].append(value)
    last = {key: values[-1] for key, values in logged.items() if values}
    return last | {"loss": statistics.fmean(logged["loss"][-5:])} if logged["loss"] else last


def summary(found: dict[Run, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each rank the learning rate that was best on the development speakers, and its figures over seeds."""
    table = []
    for rank in RANKS:
        of_first = {run.rate: row[CHOSEN_BY] for run, row in found.items() if (run.rank, run.seed) == (rank, 0)}
        if of_first:
            rate = min(of_first, key=lambda each: of_first[each])
            rows = [row for run, row in found.items() if (run.rank, run.rate) == (rank, rate)]
            table.append({"rank": rank, "rate": rate, "seeds": len(rows), **spread(rows)})
    return table


def spread(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    columns = {key: [row[key] for row in rows if key in row] for key in FIGURES}
    return {
        key: {"mean": statistics.fmean(values), "least": min(values), "most": max(values)}
        for key, values in columns.items()
        if values
    }


def write_result(
    options: argparse.Namespace, rows: list[dict[str, Any]], chosen: list[dict[str, Any]], settings: dict[str, Any]
) -> None:
    """Write table and picture."""
    if options.out is not None:
        result.FOLDER = options.out
        options.out.mkdir(parents=True, exist_ok=True)
    path = result.write(
        "lora_rank",
        ("torch", "transformers", "peft"),
        f"{options.corpus}; SYNTHETIC speech; dev speakers choose the learning rate, out_of_domain holds the test ones",
        base=options.base,
        load_average=[round(load, 1) for load in os.getloadavg()],
        **settings,
        chosen=chosen,
        runs=rows,
    )
    if chosen:
        draw(rows, chosen, path.with_suffix(".png"))


def draw(rows: Sequence[dict[str, Any]], chosen: Sequence[dict[str, Any]], out: Path) -> None:
    """Draw the loss over the ranks for each learning rate, and the figures at the best: mean, least and most."""
    from matplotlib.figure import Figure

    panels = {
        "eval_out_of_domain_loss": "loss, nats per token (test speakers)",
        "eval_out_of_domain_wer_verbatim": "word errors, verbatim (test speakers)",
        "eval_out_of_domain_disfluency_f1": "disfluencies detected, F1 (test speakers)",
    }
    figure = Figure(figsize=(18, 4), layout="constrained")
    first, *others = figure.subplots(1, 1 + len(panels))
    ranks = [row["rank"] for row in chosen]
    names = [rank.replace(" ", "\n") for rank in ranks]
    for rate in sorted({row["rate"] for row in rows}, key=float):
        losses = {row["rank"]: row[CHOSEN_BY] for row in rows if (row["rate"], row["seed"]) == (rate, 0)}
        at = [index for index, rank in enumerate(ranks) if rank in losses]
        first.plot(at, [losses[ranks[index]] for index in at], "o-", label=rate)
    first.set(title="loss, nats per token (dev speakers, seed 0)", yscale="log")
    first.set_xticks(range(len(ranks)), names)
    first.legend(title="learning rate")
    for axes, (key, title) in zip(others, panels.items(), strict=True):
        known = [row for row in chosen if key in row]
        means = [row[key]["mean"] for row in known]
        bars = [[mean - row[key]["least"], row[key]["most"] - mean] for mean, row in zip(means, known, strict=True)]
        at = [ranks.index(row["rank"]) for row in known]
        axes.errorbar(at, means, yerr=list(zip(*bars, strict=True)), fmt="o-", capsize=4)
        axes.set(title=title)
        axes.set_xticks(range(len(ranks)), names)
        axes.set_ylim(bottom=0)
    for axes in (first, *others):
        axes.set(xlabel="rank")
        axes.grid(alpha=0.3, which="both")
    figure.savefig(out, dpi=120)
    print(out)


if __name__ == "__main__":
    main()
