"""Killed runs: one fine-tuning run is killed at random moments and must end with the weights of an undisturbed one.

The recipe is the one that ``lsa-whisper recipes new`` writes for part of storybook and a small random Whisper, with
sixty steps: dropout, speed perturbation, windows of unequal lengths, and checkpoints by default. The process gets
SIGKILL at a moment drawn uniformly from the time that the undisturbed run took, and the same command is called again.

    python -m benchmarks.kill_resume
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import result
from tests.tiny_whisper import build_checkpoint

STEPS, KILLS, WINDOWS = 60, 10, 40
CORPUS = Path("corpora/storybook/dev")


def main() -> None:
    """Write ``benchmarks/results/kill_resume.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/kill_resume"))
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    recipe = write_recipe(options.out)
    began = time.monotonic()
    assert call(recipe, options.out / "undisturbed").wait() == 0
    whole_s = time.monotonic() - began
    rows, largest, runs = disturb(recipe, options.out, options.kills, whole_s, random.Random(options.seed))
    resumable = [row for row in rows if row["checkpoint_before"]]
    result.write(
        "kill_resume",
        ("torch", "transformers", "accelerate"),
        f"{WINDOWS} windows of storybook (synthetic speech), a small random model, fp32, one process",
        seed=options.seed,
        steps=STEPS,
        kills=sum(row["killed"] for row in rows),
        finished_runs=runs,
        began_again=sum(row["resumed_from"] == 0 for row in resumable),
        starts_with_a_checkpoint=len(resumable),
        most_steps_lost=max(row["steps_lost"] for row in rows),
        max_abs_weight_difference=largest,
        undisturbed_s=round(whole_s, 1),
        rows=rows,
    )


def write_recipe(folder: Path) -> Path:
    """Prepare some windows, and write the recipe that the program chooses for them; return its path."""
    from lsa_whisper import manifest
    from lsa_whisper.finetuning.from_corpus import new_recipe
    from lsa_whisper.preparation import prepare

    prepared = prepare([CORPUS], folder / "all", context_s=3).out
    rows = [row for name in ("train", "dev", "test") for row in manifest.stream(prepared / f"{name}.jsonl")]
    manifest.write(rows[:WINDOWS], folder / "data" / "train.jsonl")
    base = build_checkpoint(folder / "base", width=96)
    return new_recipe(folder / "data", out=folder / "recipe.yaml", model=base)


def call(recipe: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start the run in a process group of its own; its log is next to ``out``."""
    settings = [f"training.max_steps={STEPS}", "training.logging_steps=1", "training.use_cpu=true"]
    words = [part for setting in settings for part in ("--set", setting)]
    command = [sys.executable, "-m", "lsa_whisper", "finetune", str(recipe), *words, "-o", str(out)]
    with out.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, start_new_session=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )


def disturb(
    recipe: Path, folder: Path, kills: int, whole_s: float, rng: random.Random
) -> tuple[list[dict[str, Any]], float, int]:
    """Kill and repeat; return a row for each call, the largest difference of weights, and the number of ended runs.

    A run that ends before it was killed as often is compared, and another one is started.
    """
    rows: list[dict[str, Any]] = []
    largest, runs = 0.0, 0
    while sum(row["killed"] for row in rows) < kills or not rows or rows[-1]["killed"]:
        out = folder / f"disturbed-{runs}"
        before = _step(out)
        checkpoint = bool(list(out.with_name(f"{out.name}.unfinished").glob("checkpoint-*/complete.json")))
        enough = sum(row["killed"] for row in rows) >= kills
        within_s = None if enough else rng.uniform(0, whole_s)
        process = call(recipe, out)
        killed = _kill(process, within_s)
        log = out.with_suffix(".log").read_text("utf-8", "replace")
        assert killed or process.returncode == 0, log[-3000:]
        resumed = next((int(line.rsplit("-", 1)[1]) for line in log.splitlines() if "resuming from" in line), 0)
        training = "training " in log
        rows.append(
            {
                "killed_after_s": round(within_s, 1) if killed and within_s is not None else None,
                "killed": killed,
                "step_before": before,
                "checkpoint_before": checkpoint and training and bool(before),
                "resumed_from": resumed,
                "steps_lost": max(0, before - resumed) if training else 0,
            }
        )
        print(rows[-1], flush=True)
        if not killed:
            largest, runs = max(largest, difference(folder / "undisturbed", out)), runs + 1
    return rows, largest, runs


def _kill(process: subprocess.Popen[bytes], within_s: float | None) -> bool:
    """Wait for a process, at most ``within_s`` seconds; return whether it was killed then."""
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def _step(out: Path) -> int:
    """Return the last step that a stopped run has logged, 0 if there is none."""
    curve = out.with_name(f"{out.name}.unfinished") / "curve.jsonl"
    if not curve.exists():
        return 0
    lines = [line for line in curve.read_text("utf-8").splitlines() if line.endswith("}")]
    return max((json.loads(line)["step"] for line in lines), default=0)


def difference(one: Path, other: Path) -> float:
    """Return the largest difference of a weight of two checkpoints."""
    from safetensors.torch import load_file

    first, second = load_file(one / "model.safetensors"), load_file(other / "model.safetensors")
    assert first.keys() == second.keys()
    return max(float((first[name] - second[name]).abs().max()) for name in first)


if __name__ == "__main__":
    main()
