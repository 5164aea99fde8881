"""What a LoRA's rank changes: loss, word errors and disfluencies after the same steps, against full fine-tuning.

Runs `recipes/studies/lora_rank.yaml` for each rank, learning rate and seed. The learning rate of a rank is chosen on
the development speakers, over all seeds; the test speakers decide nothing. alpha is twice the rank, so that the update
is scaled alike at each. Called again it goes on: a finished run is not done again, one that was cut goes on.

    python -m benchmarks.lora_rank
    python -m benchmarks.lora_rank --minutes 60      # stops before a run that would not end in time
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper import checkpoint
from lsa_whisper.finetune import finetune
from lsa_whisper.prepare import prepare

RECIPE = Path("recipes/studies/lora_rank.yaml")
RANKS = ("4", "8", "16", "32", "64", "full")
RATES = {"lora": ("1e-3", "3e-3", "1e-2"), "full": ("3e-4", "8e-4", "2e-3")}
"""Whole weights want smaller steps than the matrices beside them."""
FIGURES = ("loss", "eval_loss", "eval_wer_verbatim", "eval_disfluency_f1")
FIGURES += ("eval_elsewhere_loss", "eval_elsewhere_wer_verbatim", "eval_elsewhere_disfluency_f1")
CHOSEN_BY = "eval_wer_verbatim"


@dataclass(frozen=True)
class Run:
    """One cell of the study."""

    rank: str
    rate: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.rank}-{self.rate}-{self.seed}"

    def overrides(self, data: Path, base: str) -> list[str]:
        """Return what it changes in the recipe."""
        adapter = ["adapter=null"] if self.rank == "full" else []
        adapter = adapter or [f"adapter.rank={self.rank}", f"adapter.alpha={2 * int(self.rank)}"]
        paths = [f"data.train={data / 'train.jsonl'}", f"data.dev={data / 'dev.jsonl'}", f"model.base={base}"]
        paths += [f"evaluation.elsewhere={data / 'test.jsonl'}"]
        return [*adapter, *paths, f"training.learning_rate={self.rate}", f"seed={self.seed}"]


def main() -> None:
    """Run what is not done yet, as far as the time goes, and write table and picture of all that is."""
    options = parser().parse_args()
    data = prepared(options)
    done = trained(grid(options), options, data)
    settings = {"settings": options.set, "planned": len(grid(options)), "done": len(done)}
    rows = [{"rank": run.rank, "rate": run.rate, "seed": run.seed, **found} for run, found in done.items()]
    chosen = summary(rows)
    write_result(options, rows, chosen, settings)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--corpus", type=Path, default=Path("corpora/storybook"))
    made.add_argument("--base", default="models/nano")
    made.add_argument("--runs", type=Path, default=Path("runs/lora-rank"), help="Where data and runs are kept.")
    made.add_argument("--out", type=Path, help="A folder for the result instead of benchmarks/results.")
    made.add_argument("--ranks", nargs="+", default=RANKS, choices=RANKS)
    made.add_argument("--rates", nargs="+", help="Learning rates for all, instead of three each.")
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument("--minutes", type=float, help="Start no run that would end later than this.")
    made.add_argument("--set", action="append", default=[], help="Of the recipe, such as training.max_steps=20.")
    return made


def grid(options: argparse.Namespace) -> list[Run]:
    """Return the runs, all of one seed before the next: stopped early, the study is smaller and not lopsided."""
    cells = [(rank, rate) for rank in options.ranks for rate in rates(rank, options.rates)]
    return [Run(rank, rate, seed) for seed, (rank, rate) in itertools.product(range(options.seeds), cells)]


def rates(rank: str, given: Sequence[str] | None) -> Sequence[str]:
    return given or RATES["full" if rank == "full" else "lora"]


def prepared(options: argparse.Namespace) -> Path:
    """Return the folder of windows as long as the base hears."""
    folder = options.runs / "data"
    if not (folder / "test.jsonl").exists():
        prepare([options.corpus], folder, context_s=checkpoint.load(options.base).context_s)
    return Path(folder)


def trained(runs: Iterable[Run], options: argparse.Namespace, data: Path) -> dict[Run, dict[str, Any]]:
    """Return the figures of each run that is done by the time there is."""
    began, longest, found = time.monotonic(), 0.0, {}
    for run in runs:
        out = options.runs / run.name
        if not (out / "curve.jsonl").exists() and late(time.monotonic() - began + longest, options.minutes):
            print(f"{run.name}: no time left for it", flush=True)
            continue
        start = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # low ranks are the question here
            finetune(RECIPE, set=[*run.overrides(data, options.base), *options.set], out=out, say=teller(run))
        longest = max(longest, time.monotonic() - start)
        found[run] = figures(out / "curve.jsonl")
    return found


def late(seconds: float, minutes: float | None) -> bool:
    return minutes is not None and seconds > 60 * minutes


def teller(run: Run) -> Callable[[str], None]:
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


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each rank the learning rate that was best on the development speakers, and its figures over seeds."""
    table = []
    for rank in RANKS:
        of_rate: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row["rank"] == rank:
                of_rate.setdefault(row["rate"], []).append(row)
        if of_rate:
            rate = min(of_rate, key=lambda each: statistics.fmean(row[CHOSEN_BY] for row in of_rate[each]))
            table.append({"rank": rank, "rate": rate, "seeds": len(of_rate[rate]), **spread(of_rate[rate])})
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
        f"{options.corpus}; SYNTHETIC speech; dev speakers choose the learning rate, `elsewhere` is the test speakers",
        base=options.base,
        load_average=[round(load, 1) for load in os.getloadavg()],
        **settings,
        chosen=chosen,
        runs=rows,
    )
    if chosen:
        draw(chosen, path.with_suffix(".png"))


def draw(chosen: Sequence[dict[str, Any]], out: Path) -> None:
    """Draw each figure over the ranks: the mean of the seeds, a bar from the least to the most."""
    from matplotlib.figure import Figure

    shown = {
        "eval_elsewhere_loss": "loss, nats per token (test speakers)",
        "eval_elsewhere_wer_verbatim": "word errors, as spoken (test speakers)",
        "eval_elsewhere_disfluency_f1": "disfluencies found, F1 (test speakers)",
    }
    figure = Figure(figsize=(13, 4), layout="constrained")
    for axes, (key, title) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
        rows = [row for row in chosen if key in row]
        means = [row[key]["mean"] for row in rows]
        bars = [[mean - row[key]["least"], row[key]["most"] - mean] for mean, row in zip(means, rows, strict=True)]
        axes.errorbar([row["rank"] for row in rows], means, yerr=list(zip(*bars, strict=True)), fmt="o-", capsize=4)
        axes.set(xlabel="rank", title=title)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    figure.savefig(out, dpi=120)
    print(out)


if __name__ == "__main__":
    main()
