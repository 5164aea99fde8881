"""Averaged weights: the demo's LoRA of three seeds, their average, and the average interpolated with the base.

Each model transcribes the test speakers of storybook (in domain: conversations as in training) and word lists read by
other synthetic voices (out of domain: words in random order, on which nano was trained and the LoRAs were not). The
recordings of the lists are generated, which needs the libraries of espeak-ng and flite.

    python -m benchmarks.merge --seeds 3
    python -m benchmarks.merge --runs runs/demo-seeds/0/lora runs/demo-seeds/1/lora runs/demo-seeds/2/lora
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper.checkpoint import merge
from lsa_whisper.evaluation import evaluate
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import quote_override
from lsa_whisper.preparation import prepare
from lsa_whisper.transcription import transcribe

CORPUS, BASE, RECIPE = Path("corpora/storybook"), Path("models/nano"), Path("recipes/demo-lora.yaml")
SHARES = (0.5,)
"""Weights of the average in the interpolations with the base."""
_LISTS_SEED, _LISTS_HOURS = 77, 0.07


def main() -> None:
    """Train or take the runs, merge them, score all models and write ``benchmarks/results/merge.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="train this many, if --runs names none")
    parser.add_argument("--runs", type=Path, nargs="+", help="checkpoints of the demo's LoRA, one for each seed")
    parser.add_argument("--out", type=Path, default=Path("runs/merge"))
    options = parser.parse_args()
    runs = options.runs or [trained(options.out, seed) for seed in range(options.seeds)]
    systems = {"base": BASE} | {f"seed {seed}": run for seed, run in enumerate(runs)}
    systems |= merged(runs, options.out)
    sets = {"in_domain": CORPUS / "test", "out_of_domain": lists(options.out)}
    found = {name: scores(place, systems, options.out / name) for name, place in sets.items()}
    rows = [{"system": name} | {place: found[place][name] for place in found} for name in systems]
    for row in rows:
        print(row)
    result.write(
        "merge",
        ("torch", "transformers", "peft"),
        f"{CORPUS}, test speakers; out of domain: {_LISTS_HOURS} h of word lists; SYNTHETIC speech",
        systems=rows,
    )


def trained(out: Path, seed: int) -> Path:
    """Train the demo's LoRA with a seed and return its folder; a finished run is not repeated."""
    data = out / "data"
    if not (data / "train.jsonl").exists():
        prepare([CORPUS], data, context_s=6)
    train = quote_override(data / "train.jsonl")
    return finetune(RECIPE, set=[f"data.train={train}", f"seed={seed}"], out=out / f"seed{seed}").out


def merged(runs: list[Path], out: Path) -> dict[str, Path]:
    """Write the average of the runs and its interpolations with the base; return them by name."""
    average = merge(runs, out / "average").out
    found = {f"average of {len(runs)}": average}
    for share in SHARES:
        name = f"{share:g} average + {1 - share:g} base"
        found[name] = merge([average, BASE], out / f"average-{share:g}", weights=(share,)).out
    return found


def lists(out: Path) -> Path:
    """Return a folder of generated word lists."""
    folder = out / "lists"
    if not folder.exists():
        command = [sys.executable, "-m", "corpora.storybook.generator", "--out", str(folder), "--processes", "1"]
        command += ["--hours", str(_LISTS_HOURS), "--seed", str(_LISTS_SEED), "--style", "lists", "--captions", "words"]
        subprocess.run(command, check=True)
    return folder


def scores(corpus: Path, systems: dict[str, Path], out: Path) -> dict[str, dict[str, Any]]:
    """Transcribe a corpus with every system and return their word error rates and disfluency F1."""
    written = {name: out / name.replace(" ", "-") for name in systems}
    for name, model in systems.items():
        transcribe([corpus], model=str(model), out=written[name])
    found = evaluate(corpus, list(written.values()), names=list(written), out=out / "report")
    assert found.report is not None
    report = json.loads(found.report.with_suffix(".json").read_text("utf-8"))
    keys = ("wer_verbatim", "wer_fluent", "disfluency_f1")
    return {system["name"]: {key: system["metrics"][key] for key in keys} for system in report["systems"]}


if __name__ == "__main__":
    main()
