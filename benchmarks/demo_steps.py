"""The first five steps of the demo's recipes with the installed transformers: their losses, kept for each version.

The learning rate rises within these steps, because a run must be as long as its warm-up.

Without dropout: up to 5.17 transformers drew a random number for each layer even if no layer is ever dropped, so other
units were left out in each version.

Run with the lowest declared version by ``make test-lowest``; the tests take them with the installed one, the newest.

    python -m benchmarks.demo_steps
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from benchmarks import result
from lsa_whisper.demo import ADAPTATIONS
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import quote_override
from lsa_whisper.preparation import prepare
from lsa_whisper.system.terminal import print_progress

CORPUS, BASE = Path("corpora/storybook"), Path("models/nano")
STEPS = 5


def main() -> None:
    """Take the steps and add the losses to ``benchmarks/results/demo_steps.json``."""
    with tempfile.TemporaryDirectory() as folder:
        losses = {name: first_losses(name, Path(folder)) for name in ADAPTATIONS}
    print(losses)
    known = result.last("demo_steps").get("losses", {})
    result.write(
        "demo_steps",
        ("torch", "transformers", "peft", "accelerate"),
        f"{CORPUS}, first {STEPS} steps of recipes/demo-*.yaml, warm-up as long, without dropout; SYNTHETIC speech",
        losses=dict(sorted((known | {version("transformers"): losses}).items())),
    )


def first_losses(name: str, folder: Path, report: Callable[[str], None] = print_progress) -> list[float]:
    """Return the loss of each of the first steps of a demo recipe.

    Args:
        name: ``lora`` or ``full``.
        folder: For data and checkpoint.
        report: Receives progress lines.
    """
    data, out = folder / "data", folder / name
    if not (data / "train.jsonl").exists():
        prepare([CORPUS], data, context_s=6)
    settings = {"data.train": quote_override(data / "train.jsonl"), "model.base": quote_override(BASE.resolve())}
    settings |= {"training.max_steps": STEPS, "training.logging_steps": 1, "model.dropout": 0}
    settings["training.warmup_steps"] = STEPS
    finetune(
        Path(f"recipes/demo-{name}.yaml"),
        set=[f"{key}={value}" for key, value in settings.items()],
        out=out,
        report=report,
    )
    rows = [json.loads(line) for line in (out / "curve.jsonl").read_text("utf-8").splitlines()]
    return [row["loss"] for row in rows if "loss" in row]


if __name__ == "__main__":
    main()
