"""A small example of the complete workflow: a model that drops disfluencies is fine-tuned to keep them."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from lsa_whisper.checkpoint.user_settings import remember_model
from lsa_whisper.errors import CorpusError, LsaWhisperError
from lsa_whisper.system.shipped import NANO, STORYBOOK, shipped
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

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
        LsaWhisperError: If fine-tuning or transcription fails.
    """
    from lsa_whisper.evaluation import evaluate

    report = report or print_progress
    began = time.monotonic()
    corpus, out = Path(corpus or shipped(STORYBOOK)), Path(out)
    model = model or str(shipped(NANO))
    recipes = [shipped(f"recipes/demo-{name}.yaml") for name in ADAPTATIONS]
    missing = [path for path in (corpus, *recipes) if not path.exists()]
    if missing:
        raise CorpusError(f"{missing[0]}: no such file or folder; name a corpus, or install the package again")
    data = _prepared(corpus, out, model, report)
    finetuning = {
        name: _finetune_command(recipe, data, model, seed, out / name)
        for name, recipe in zip(ADAPTATIONS, recipes, strict=True)
    }
    systems = {"before": model} | {name: str(out / name) for name in ADAPTATIONS}
    transcripts = {name: out / "transcripts" / name for name in systems}
    transcribe = ["transcribe", str(corpus / "test"), "--beams", str(BEAMS)]
    transcription = {name: [*transcribe, "--model", systems[name], "--out", str(transcripts[name])] for name in systems}
    with ThreadPoolExecutor(len(ADAPTATIONS)) as pool:
        runs = [pool.submit(_run, name, [finetuning[name], transcription[name]], report) for name in ADAPTATIONS]
        runs.append(pool.submit(_run, "before", [transcription["before"]], report))
        try:
            for run in runs:
                run.result()
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C, nothing that still waits is started
    report("evaluate: the three systems side by side")
    evaluation = evaluate(
        corpus / "test", list(transcripts.values()), names=list(transcripts), out=out / "report", audio=corpus / "test"
    )
    report(evaluation.table())
    for name in ADAPTATIONS:
        remember_model(Path(systems[name]), _scores(evaluation.systems[name]))
    report(f"to transcribe with the second model by default: lsa-whisper models use {shlex.quote(systems['full'])}")
    report(f"{time.monotonic() - began:.0f} seconds in all; synthetic speech, so no claim about people")
    assert evaluation.report is not None
    return evaluation.report


def _prepared(corpus: Path, out: Path, model: str, report: Callable[[str], None]) -> Path:
    """Prepare the data for ``model``'s context; return the manifest to train on."""
    from lsa_whisper import checkpoint
    from lsa_whisper.preparation import prepare

    context_s = checkpoint.load(model, weights=False).context_s
    report(f"prepare: {corpus} in windows of up to {context_s:g} s")
    data = prepare([corpus], out / "data", speaker_codes=True, context_s=context_s, splice=SPLICE_RATE, processes=2)
    report(data.table())
    return out / "data" / "train.jsonl"


def _finetune_command(recipe: Path, data: Path, base: str, seed: int, out: Path) -> list[str]:
    from lsa_whisper.finetuning.recipe import quote_override

    overrides = [f"data.train={quote_override(data)}", f"model.base={quote_override(base)}", f"seed={seed}"]
    settings = [part for override in overrides for part in ("--set", override)]
    return ["finetune", str(recipe), "--out", str(out), *settings]


def _run(name: str, commands: list[list[str]], report: Callable[[str], None]) -> None:
    """Run commands one after another, each in a process: two processes with a small model use two cores, one does not.

    Raises:
        LsaWhisperError: If one of them fails.
    """
    from lsa_whisper.finetuning.distributed.launch import thread_environment

    for words in commands:
        report(f"{name}: {' '.join(words[:2])}")
        with subprocess.Popen(
            [sys.executable, "-m", "lsa_whisper", *words],
            env=thread_environment(len(ADAPTATIONS)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stderr is not None
            for line in running.stderr:
                report(f"{name}: {line.rstrip()}")
        if running.returncode:
            raise LsaWhisperError(f"{name}: {' '.join(words[:2])} failed; its message is above")


def _scores(system: System) -> str:
    words, disfluencies = system.word_errors_verbatim.rate, system.disfluency.together.f1
    figures = [f"WER {words:.1%}"] if words is not None else []
    figures += [f"disfluency F1 {disfluencies:.2f}"] if disfluencies is not None else []
    return ", ".join([*figures, "on the demo's test set"])
