"""A small example of the complete workflow: a model that drops disfluencies is fine-tuned to keep them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.errors import CorpusError, RecipeError
from lsa_whisper.models import remember_model
from lsa_whisper.shipped import NANO, STORYBOOK, shipped
from lsa_whisper.terminal import print_progress
from lsa_whisper.umask import private_umask

if TYPE_CHECKING:
    from lsa_whisper.scoring.system import System

ADAPTATIONS = ("lora", "full")
"""The two ways the demo fine-tunes, each a recipe in ``recipes/demo-*.yaml``."""
SPLICE_RATE = 1.0
"""Spliced versions of each train utterance: half an hour of speech has few disfluencies of the rare classes."""
BEAMS = 2
"""Texts that are compared in transcription: a model with so few examples often writes one copy of a word too many."""


@private_umask()
def demo(
    out: Path = Path("runs/demo"),
    *,
    corpus: Path | None = None,
    model: str | None = None,
    seed: int = 0,
    report: Callable[[str], None] | None = None,
) -> Path:
    """Prepare, fine-tune twice, transcribe new speakers before and after, evaluate; return the path of the report.

    Args:
        out: Folder for data, checkpoints, transcripts and the report; finished steps are not repeated.
        corpus: A corpus with a card that fixes its splits; storybook, which is shipped, if not given.
        model: The checkpoint to start from; nano, which is shipped, if not given.
        seed: Of the fine-tuning runs.
        report: Receives progress lines; by default they go to standard error.

    Raises:
        CorpusError: If ``corpus`` or the demo's recipes are missing.
    """
    from lsa_whisper.evaluate import evaluate

    report = report or print_progress
    began = time.monotonic()
    corpus, out = Path(corpus or shipped(STORYBOOK)), Path(out)
    model = model or str(shipped(NANO))
    recipes = [shipped(f"recipes/demo-{name}.yaml") for name in ADAPTATIONS]
    missing = [path for path in (corpus, *recipes) if not path.exists()]
    if missing:
        raise CorpusError(f"{missing[0]}: no such file or folder; name a corpus, or install the package again")
    systems = {"before": model} | _finetuned(corpus, out, model, recipes, seed, report)
    written = {
        name: _transcribed(name, corpus / "test", checkpoint, out, report) for name, checkpoint in systems.items()
    }
    report("evaluate: the three systems side by side")
    evaluation = evaluate(
        corpus / "test", list(written.values()), names=list(written), out=out / "report", audio=corpus / "test"
    )
    report(evaluation.table())
    for name in ADAPTATIONS:
        remember_model(Path(systems[name]), _scores(evaluation.systems[name]))
    report(f"to transcribe with the second model by default: lsa-whisper models use {systems['full']}")
    report(f"{time.monotonic() - began:.0f} seconds in all; synthetic speech, so no claim about people")
    assert evaluation.report is not None
    return evaluation.report


def _finetuned(
    corpus: Path, out: Path, model: str, recipes: list[Path], seed: int, report: Callable[[str], None]
) -> dict[str, str]:
    """Prepare the data for ``model``'s context and train each recipe on them; return the checkpoints by name."""
    from lsa_whisper import checkpoint
    from lsa_whisper.finetune.recipe import quote_override
    from lsa_whisper.prepare import prepare

    context_s = checkpoint.load(model).context_s
    report(f"prepare: {corpus} in windows of up to {context_s:g} s")
    data = prepare([corpus], out / "data", roles=True, context_s=context_s, splice=SPLICE_RATE, processes=2)
    report(data.table())
    report(f"finetune: {' and '.join(map(str, recipes))}, side by side")
    overrides = [
        f"data.train={quote_override(out / 'data' / 'train.jsonl')}",
        f"model.base={quote_override(model)}",
        f"seed={seed}",
    ]
    with ThreadPoolExecutor(len(recipes)) as pool:
        runs = [
            pool.submit(_finetune, name, recipe, overrides, out / name, report)
            for name, recipe in zip(ADAPTATIONS, recipes, strict=True)
        ]
    return {name: run.result() for name, run in zip(ADAPTATIONS, runs, strict=True)}


def _finetune(name: str, recipe: Path, overrides: list[str], out: Path, report: Callable[[str], None]) -> str:
    """Train in a process of its own: a model this small cannot keep two cores busy, two of them can."""
    from lsa_whisper.finetune.distributed.launch import thread_environment

    settings = [part for override in overrides for part in ("--set", override)]
    command = [sys.executable, "-m", "lsa_whisper", "finetune", str(recipe), "--out", str(out), *settings]
    with subprocess.Popen(
        command, env=thread_environment(len(ADAPTATIONS)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as training:
        assert training.stderr is not None
        for line in training.stderr:
            report(f"{name}: {line.rstrip()}")
    if training.returncode:
        raise RecipeError(f"{recipe}: fine-tuning failed; its message is above")
    return str(out)


def _scores(system: System) -> str:
    words, disfluencies = system.word_errors_verbatim.rate, system.disfluency.together.f1
    shown = [f"WER {words:.1%}"] if words is not None else []
    shown += [f"disfluency F1 {disfluencies:.2f}"] if disfluencies is not None else []
    return ", ".join([*shown, "on the demo's test set"])


def _transcribed(name: str, audio: Path, model: str, out: Path, report: Callable[[str], None]) -> Path:
    from lsa_whisper.transcribe import transcribe

    report(f"transcribe: {audio} with {model}")
    folder = out / "transcripts" / name
    transcribe([audio], model=model, out=folder, beams=BEAMS)
    return folder
