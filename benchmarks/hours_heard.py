"""The learning curve of the demo: F1 of each class of disfluency by hours of training speech.

Storybook's generator makes the hours: other sentences, the training speakers and many more voices; SYNTHETIC speech.
Half an hour is storybook itself; with splicing, that is the demo (``benchmarks.demo_seeds``). About four fifths are in
train, on which the demo's recipes train, with twice the steps for four times the hours. The test speakers are
transcribed with and without the tagger of retraces, and also a second test set in which each class is frequent.
Finished runs are skipped; rows of other hours stay.

    python -m benchmarks.hours_heard --hours 2 --seeds 1
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.demo_seeds import TEST, joint_report, scores
from benchmarks.rare_disfluencies import events, rare_report
from lsa_whisper import checkpoint
from lsa_whisper.demo import BEAMS, SPLICE_RATE
from lsa_whisper.finetuning.distributed.launch import thread_environment
from lsa_whisper.finetuning.recipe import read_recipe
from lsa_whisper.preparation import prepare
from lsa_whisper.transcription import transcribe

CORPUS, NANO, DEMO_HOURS, SPEECH_SEED = Path("corpora/storybook"), Path("models/nano"), 0.5, 40


@dataclass(frozen=True)
class Run:
    """A fine-tuning run: which of the demo's recipes, hours of speech, spliced versions of each utterance, and seed."""

    adaptation: str
    hours: float
    splice: float
    seed: int

    @property
    def name(self) -> str:
        """Its name in reports."""
        return f"{self.adaptation}, {self.hours:g} h, splice {self.splice:g}, seed {self.seed}"


def main() -> None:
    """Run all hours and seeds and write ``benchmarks/results/hours_heard.json``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, nargs="+", default=[2, 8, 30])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--adaptations", nargs="+", default=["lora", "full"], choices=["lora", "full"])
    parser.add_argument("--splice", type=float, default=SPLICE_RATE, help="Spliced versions of each utterance.")
    parser.add_argument("--out", type=Path, default=Path("runs/hours-heard"))
    options = parser.parse_args()
    runs = [
        Run(adaptation, hours, options.splice, seed)
        for hours in options.hours
        for seed in range(options.seeds)
        for adaptation in options.adaptations
    ]
    models = trained(options.out, runs)
    systems = test_scores(models, options.out / "report", untagged=True)
    rare = rare_report(models, options.out / "rare")
    result.write(
        "hours_heard",
        ("torch", "transformers", "peft"),
        "storybook and hours of its generator, test speakers; SYNTHETIC speech",
        rare_events=events(rare),
        systems=merged("systems", systems),
        rare=merged("rare", scores(rare)),
    )


def trained(out: Path, runs: Sequence[Run], settings: Sequence[str] = ()) -> dict[str, Path]:
    """Generate and prepare the speech, train all runs, and return the checkpoints by name.

    Args:
        out: Folder of speech, data and checkpoints.
        runs: What to train.
        settings: Of the recipes, for all runs, such as ``loss.alignment_weight=0``.
    """
    data = {(run.hours, run.splice): prepared(out, run.hours, run.splice) for run in runs}
    return trained_on([data[run.hours, run.splice] for run in runs], out, runs, settings)


def trained_on(data: Sequence[Path], out: Path, runs: Sequence[Run], settings: Sequence[str] = ()) -> dict[str, Path]:
    """Train each run on its prepared folder, and return the checkpoints by name."""
    with ThreadPoolExecutor(2) as pool:  # a model this small cannot keep two cores busy, two of them can
        models = list(pool.map(lambda folder, run: _trained(out, folder, run, settings), data, runs))
    return {run.name: model for run, model in zip(runs, models, strict=True)}


def test_scores(models: Mapping[str, Path], out: Path, *, untagged: bool = False) -> list[dict[str, Any]]:
    """Transcribe the test speakers with each model, as the demo does; return the main figures of each.

    Args:
        models: Checkpoints by name.
        out: Folder of the report; the transcripts are beside each checkpoint.
        untagged: Also without the tagger of retraces.
    """
    written = {}
    for name, model in models.items():
        for suffix, tagger in (("", True), (", without the tagger", False))[: 1 + untagged]:
            folder = model.with_name(f"{model.name}-transcripts{'' if tagger else '-untagged'}")
            transcribe([TEST], model=str(model), out=folder, retraces=tagger, beams=BEAMS)
            written[name + suffix] = folder
    return scores(joint_report(written, out).with_suffix(".json"))


def merged(key: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the last result, with these in place of those of the same system, and new ones at the end."""
    return list({row["system"]: row for row in [*result.last("hours_heard").get(key, []), *rows]}.values())


def prepared(out: Path, hours: float, splice: float) -> Path:
    """Generate and prepare speech; return the prepared folder."""
    folder = out / f"data-{hours:g}-{splice:g}"
    speech = CORPUS if hours == DEMO_HOURS else out / f"speech-{hours:g}"
    if not speech.exists():
        partial = speech.with_name(f"{speech.name}.partial")
        command = [sys.executable, "-m", "corpora.storybook.generator", "--out", str(partial)]
        subprocess.run([*command, "--hours", str(hours), "--seed", str(SPEECH_SEED)], check=True)
        partial.rename(speech)
    if not (folder / "prepared.json").exists():
        context_s = checkpoint.load(NANO).context_s
        print(prepare([speech], folder, speaker_codes=True, context_s=context_s, splice=splice, processes=2).table())
    return folder


def _trained(out: Path, data: Path, run: Run, settings: Sequence[str]) -> Path:
    """Train a recipe of the demo on ``data`` in a process of its own; return the checkpoint."""
    model, recipe = out / run.name.replace(",", "").replace(" ", "-"), f"recipes/demo-{run.adaptation}.yaml"
    steps = round((read_recipe(Path(recipe)).training.max_steps or 0) * math.sqrt(run.hours / DEMO_HOURS))
    of_run = [f"data.train={data / 'train.jsonl'}", f"model.base={NANO}", f"seed={run.seed}"]
    of_run += [f"training.max_steps={steps}"]
    command = [sys.executable, "-m", "lsa_whisper", "finetune", recipe, "--out", str(model)]
    subprocess.run(
        [*command, *(part for each in (*of_run, *settings) for part in ("--set", each))],
        env=thread_environment(2),
        check=True,
    )
    return model


if __name__ == "__main__":
    main()
