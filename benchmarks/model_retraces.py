"""Revisions in a model's transcripts: those that it marked itself, and those that a tagger adds.

Each model, fine-tuned on storybook, transcribes the test speakers once; the shipped tagger, and then the model's own,
which was learned from the marks of its training data, set the retraces that it left out.

    python -m benchmarks.model_retraces runs/demo-seeds/*/lora
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import result
from benchmarks.demo_seeds import TEST
from lsa_whisper import chat, checkpoint
from lsa_whisper.chat import Disfluency
from lsa_whisper.evaluation import evaluate
from lsa_whisper.retraces import Tagger, add_retraces, tagger_for
from lsa_whisper.retraces.corpus_tagger import CorpusTagger
from lsa_whisper.transcription import transcribe


def main() -> None:
    """Transcribe, add marks, score, and write ``benchmarks/results/model_retraces.json``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    options = parser.parse_args()
    result.write(
        "model_retraces",
        ("python-crfsuite", "torch"),
        "corpora/storybook, test speakers; SYNTHETIC speech",
        models=[measured(model) for model in options.models],
    )


def measured(model: Path) -> dict[str, Any]:
    """Return the figures of one model's transcripts as written, and with either tagger."""
    own = checkpoint.load(model).retraces["eng"]
    taggers = {"written": None, "shipped tagger": tagger_for("eng"), "own tagger": CorpusTagger(own, "eng")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        transcribe([TEST], model, out=folder / "written", retraces=False)
        for kind, tagger in taggers.items():
            if tagger:
                marked(folder / "written", folder / kind, tagger)
        found = evaluate(TEST, [folder / kind for kind in taggers], names=list(taggers))
    print(model, found.table())
    return {"model": "/".join(model.parts[-2:])} | {kind: figures(found.systems[kind]) for kind in taggers}


def marked(source: Path, out: Path, tagger: Tagger) -> None:
    """Write copies of transcripts with the retraces that ``tagger`` adds."""
    out.mkdir()
    for path in sorted(source.glob("*.cha")):
        transcript = chat.read(path)
        blocks = [
            dataclasses.replace(each, main=each.main[: -len(each.body)] + add_retraces(each.body, tagger))
            if isinstance(each, chat.Utterance)
            else each
            for each in transcript.blocks
        ]
        chat.write(dataclasses.replace(transcript, blocks=blocks), out / path.name)


def figures(system: Any) -> dict[str, Any]:
    """Return the detections of revisions and repetitions, and the F1 of all classes."""
    found = {}
    for kind in (Disfluency.REVISION, Disfluency.REPETITION):
        counts = system.disfluency[kind]
        found[kind.value] = {
            "found": counts.true_positives,
            "invented": counts.false_positives,
            "missed": counts.false_negatives,
        }
    return found | {"disfluency_f1": round(system.disfluency.together.f1 or 0, 4)}


if __name__ == "__main__":
    main()
