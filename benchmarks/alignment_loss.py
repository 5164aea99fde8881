"""The alignment loss on storybook: word times, word errors and disfluencies with and without it.

Each run trains a recipe of the demo with one weight of the loss, transcribes the test speakers with word times and is
scored against their transcripts. Finished runs are skipped. Other models, such as one that is used as it is, are
measured by ``benchmarks.word_times``.

    python -m benchmarks.alignment_loss --seeds 3 --weights 0 1
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.demo_seeds import TEST, joint_report, scores, word_starts
from benchmarks.hours_heard import CORPUS, NANO
from lsa_whisper import checkpoint
from lsa_whisper.finetune import finetune
from lsa_whisper.prepare import prepare
from lsa_whisper.transcribe import transcribe


def main() -> None:
    """Run all seeds and write ``benchmarks/results/alignment_loss.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--weights", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--adaptations", nargs="+", default=["full"], choices=["lora", "full"])
    parser.add_argument("--out", type=Path, default=Path("runs/alignment-loss"))
    options = parser.parse_args()
    data = options.out / "data"
    if not (data / "prepared.json").exists():
        print(prepare([CORPUS], data, context_s=checkpoint.load(NANO).context_s).table())
    runs = [
        (adaptation, weight, seed, transcripts(adaptation, data, options.out, weight, seed))
        for seed in range(options.seeds)
        for adaptation in options.adaptations
        for weight in options.weights
    ]
    written = {f"{adaptation}, weight {weight:g}, seed {seed}": out for adaptation, weight, seed, out in runs}
    found = scores(joint_report(written, options.out / "report").with_suffix(".json"))
    systems = [
        {"adaptation": adaptation, "weight": weight, "seed": seed, **word_starts(out), **scored}
        for (adaptation, weight, seed, out), scored in zip(runs, found, strict=True)
    ]
    result.write(
        "alignment_loss",
        ("torch", "transformers", "peft"),
        "corpora/storybook, test speakers; SYNTHETIC speech, whose word times are exact",
        seeds=options.seeds,
        means=[
            {"adaptation": adaptation, "weight": weight, **means(systems, adaptation, weight)}
            for adaptation in options.adaptations
            for weight in options.weights
        ],
        systems=systems,
    )


def means(systems: Sequence[dict[str, Any]], adaptation: str, weight: float) -> dict[str, float]:
    """Return the means over the seeds of one adaptation with one weight."""
    own = [each for each in systems if (each["adaptation"], each["weight"]) == (adaptation, weight)]
    shares = {
        f"within_{limit}_ms": statistics.mean(each["share_within_ms"][limit] for each in own)
        for limit in own[0]["share_within_ms"]
    }
    scored = {name: statistics.mean(each[name]["value"] for each in own) for name in ("wer_verbatim", "disfluency_f1")}
    return {name: round(value, 4) for name, value in (shares | scored).items()}


def transcripts(adaptation: str, data: Path, out: Path, weight: float, seed: int) -> Path:
    """Train a recipe of the demo with one weight of the loss; return the folder with the transcripts."""
    run = out / f"{adaptation}-{weight:g}-{seed}"
    written = run / "transcripts"
    if not written.exists():
        settings = [f"data.train={data / 'train.jsonl'}", f"model.base={NANO}", f"seed={seed}"]
        settings += [f"loss.alignment_weight={weight}"]
        finetune(Path(f"recipes/demo-{adaptation}.yaml"), out=run / "run", set=settings)
        partial = run / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        transcribe([TEST], model=str(run / "run"), out=partial, word_times=True)
        partial.rename(written)
    return written


if __name__ == "__main__":
    main()
