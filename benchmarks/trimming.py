"""Word errors of decoding with trimmed encoder inputs, beside whole ones, with the same weights.

    python -m benchmarks.trimming corpora/storybook/test runs/demo/lora runs/demo/full

A model that was trained with ``data.trim`` is exported twice, with and without the note of its margin, and transcribes
the corpus with both engines.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper import checkpoint
from lsa_whisper.checkpoint.folder import METADATA_FILE
from lsa_whisper.evaluation import evaluate
from lsa_whisper.transcription import transcribe

ENGINES = (("transformers", "float32"), ("ct2", "float32"), ("ct2", "int8"))


def main() -> None:
    """Transcribe with every model, engine and input, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    options = parser.parse_args()
    figures = result.last("trimming").get("models", {})
    for model in options.models:
        with tempfile.TemporaryDirectory() as name:
            figures |= {model.name: compared(model, options.corpus, Path(name))}
    result.write(
        "trimming",
        ("torch", "transformers", "ctranslate2"),
        f"{options.corpus} (SYNTHETIC speech)",
        load_average=[round(load, 1) for load in os.getloadavg()],
        models=figures,
    )


def compared(model: Path, corpus: Path, folder: Path) -> dict[str, Any]:
    """Return the margin of a model, and its word errors and seconds with each engine, trimmed and whole."""
    trimmed = checkpoint.export(model, folder / "trimmed")
    whole = without_margin(checkpoint.export(model, folder / "whole"))
    margin_s = checkpoint.load(trimmed).trim_margin_s
    found: dict[str, Any] = {"margin_s": margin_s}
    for engine, dtype in ENGINES:
        for each in (trimmed, whole):
            out = folder / f"{each.name}-{engine}-{dtype}"
            began = time.process_time()
            transcribe([corpus], model=each, out=out, engine=engine, dtype=dtype)
            seconds = time.process_time() - began
            (system,) = evaluate(corpus, [out]).systems.values()
            rate = system.word_errors_verbatim.rate
            row = {"wer_verbatim": round(rate, 4), "processor_seconds": round(seconds, 1)}
            found.setdefault(f"{engine} {dtype}", {})[each.name] = row
            print(model, engine, dtype, each.name, row, flush=True)
    return found


def without_margin(folder: Path) -> Path:
    """Remove the note of a margin from a checkpoint and return its folder."""
    file = folder / METADATA_FILE
    ours = {key: value for key, value in json.loads(file.read_text("utf-8")).items() if key != "trim"}
    file.write_text(json.dumps(ours, indent=2) + "\n", "utf-8")
    return folder


if __name__ == "__main__":
    main()
