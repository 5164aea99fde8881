"""A second test set of storybook, in which each class of disfluency occurs at least 30 times; SYNTHETIC speech.

The committed test set is as long as the demo has time for, and in it a class such as word fragments occurs a few times
only. This one has the same speakers, other sentences, and more disfluencies of the rare classes. It is generated from a
fixed seed (this needs the libraries of espeak-ng and flite).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsa_whisper.demo import BEAMS
from lsa_whisper.evaluation import evaluate
from lsa_whisper.transcription import transcribe

HOURS, SEED = 0.25, 30


def rare_test(folder: Path) -> Path:
    """Generate the test set in ``folder`` if it is not there; return the folder of its sessions."""
    if not folder.exists():
        partial = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        command = [sys.executable, "-m", "corpora.storybook.generator", "--out", str(partial)]
        command += ["--hours", str(HOURS), "--style", "rare", "--split", "test", "--seed", str(SEED)]
        subprocess.run(command, check=True)
        partial.rename(folder)
    return folder / "000"


def rare_report(models: Mapping[str, Path], out: Path) -> Path:
    """Transcribe the test set with each model, by name, as the demo does; return the path of the report's figures.

    Transcripts that are there already are kept.
    """
    test = rare_test(out / "test")
    written = []
    for name, model in models.items():
        transcripts = out / "transcripts" / name.replace(" ", "-").replace(",", "")
        transcribe([test], model=str(model), out=transcripts, beams=BEAMS)
        written.append(transcripts)
    report = evaluate(test, written, names=list(models), out=out / "report", audio=test)
    print(report.table())
    assert report.report is not None
    return report.report.with_suffix(".json")


def events(report: Path) -> dict[str, int]:
    """Return how many disfluencies of each class the references of a report have."""
    # The last system: of a model without marks, the first one, some classes are not scored.
    kinds: dict[str, Any] = json.loads(report.read_text("utf-8"))["systems"][-1]["disfluency"]
    return {kind: found["true_positives"] + found["false_negatives"] for kind, found in kinds.items()}
