"""Splicing on storybook: the same 28 minutes of speech, with and without spliced utterances, by class of disfluency.

Each run trains the demo's recipe for the same number of steps from models/nano, transcribes the test speakers and is
scored against their transcripts, and on a second test set in which each class is frequent. Spliced speech is in train
alone. Finished runs are skipped.

    python -m benchmarks.splice --seeds 3 --adaptations lora full
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.demo_seeds import TEST, scores
from benchmarks.rare_disfluencies import events, rare_report
from lsa_whisper import checkpoint
from lsa_whisper.evaluate import evaluate
from lsa_whisper.finetune import finetune
from lsa_whisper.inspection import inspect
from lsa_whisper.prepare import prepare
from lsa_whisper.transcribe import transcribe

CORPUS, NANO = Path("corpora/storybook"), Path("models/nano")


def main() -> None:
    """Run all seeds and write ``benchmarks/results/splice.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--adaptations", nargs="+", default=["lora", "full"], choices=["lora", "full"])
    parser.add_argument("--rate", type=float, default=1.0, help="Spliced versions of each train utterance.")
    parser.add_argument("--steps", type=int, help="Default: the recipe's own.")
    parser.add_argument("--out", type=Path, default=Path("runs/splice"))
    options = parser.parse_args()
    data = {"without": prepared(options.out / "data-without", 0.0)}
    data["with"] = prepared(options.out / "data-with", options.rate)
    systems: dict[str, Path] = {}
    # Word times are not compared, so the loss for them is left out.
    settings = ["loss.alignment_weight=0"]
    settings += [f"training.max_steps={options.steps}", "training.warmup_steps=0"] if options.steps else []
    for seed in range(options.seeds):
        for adaptation in options.adaptations:
            for name, folder in data.items():
                out = options.out / f"{adaptation}-{name}-{seed}"
                systems[f"{adaptation} {name} splicing, seed {seed}"] = trained(adaptation, folder, out, seed, settings)
    report = evaluate(TEST, list(systems.values()), names=list(systems), out=options.out / "report", audio=TEST)
    print(report.table())
    assert report.report is not None
    models = {name: transcripts.parent / "run" for name, transcripts in systems.items()}
    rare = rare_report(models, options.out / "rare")
    result.write(
        "splice",
        ("torch", "transformers", "peft"),
        "corpora/storybook, test speakers; SYNTHETIC speech",
        rate=options.rate,
        steps=options.steps or "as in the recipe",
        seeds=options.seeds,
        spliced=counts(data["with"]),
        systems=scores(report.report.with_suffix(".json")),
        rare_events=events(rare),
        rare=scores(rare),
    )


def prepared(out: Path, rate: float) -> Path:
    """Prepare storybook for nano's context and write the page with clips next to the data; return the folder."""
    if not (out / "prepared.json").exists():
        made = prepare([CORPUS], out, context_s=checkpoint.load(NANO).context_s, splice=rate)
        print(made.table())
        inspect(out, out=out.with_suffix(".html"))
    return out


def counts(folder: Path) -> dict[str, Any]:
    """Return the counts of recorded and spliced speech."""
    from lsa_whisper import plain_json

    return dict(plain_json.read(folder / "prepared.json")["spliced"])


def trained(
    adaptation: str, data: Path, out: Path, seed: int, settings: Sequence[str] = (), *, word_times: bool = False
) -> Path:
    """Train a recipe of the demo on ``data`` and return the folder with the transcripts of the test speakers.

    ``settings`` are changes of the recipe.
    """
    transcripts = out / "transcripts"
    if not transcripts.exists():
        overrides = [f"data.train={data / 'train.jsonl'}", f"model.base={NANO}", f"seed={seed}"]
        finetune(Path(f"recipes/demo-{adaptation}.yaml"), out=out / "run", set=[*overrides, *settings])
        partial = out / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        transcribe([TEST], model=str(out / "run"), out=partial, word_times=word_times)
        partial.rename(transcripts)
    return transcripts


if __name__ == "__main__":
    main()
