"""Programs judged by ``evaluate`` from their own output, with the same checkpoint and recordings.

    python -m benchmarks.peers models/nano corpora/storybook/test
    python -m benchmarks.peers MODEL_OF_OPENAI'S_SHAPE FOLDER [--only NAME...]

Each program that is installed (``pip install openai-whisper faster-whisper``) transcribes the recordings of the folder
with its own windows and defaults, greedily, in English, on a CPU, and writes its own format; a program that cannot load
a checkpoint has the reason in its row. Models measured by earlier calls stay. Writes
``benchmarks/results/peers.json`` and ``benchmarks/peers.md``.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper import chat, checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.evaluation import evaluate
from lsa_whisper.scoring.disfluency import SCORED
from lsa_whisper.scoring.metrics import METRICS
from lsa_whisper.system import plain_json
from lsa_whisper.transcription import Transcriber

PAGE = Path(__file__).with_name("peers.md")
METRICS_SHOWN = ("wer_verbatim", "wer_fluent", "disfluency_f1")
NOT_RUN = {
    "WhisperX": "requires another torch (2.8), torchaudio and pyannote.audio",
    "Batchalign": "needs an environment of its own; it runs the model as the transformers pipeline does",
    "CrisperWhisper": "weights cannot be downloaded here",
}
"""Programs that are not run, with the reason."""

Transcribe = Callable[[Path, Path], None]
"""Transcribes a recording into a file without its extension, which the program chooses."""


def main() -> None:
    """Transcribe with every program and model, score, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path, help="CHAT transcripts with recordings.")
    parser.add_argument("--only", nargs="+", help="The names of the transcripts to use. Default: all.")
    parser.add_argument("--speech", default="SYNTHETIC", help="The kind of speech, for the result.")
    options = parser.parse_args()
    names = options.only or sorted(path.stem for path in options.folder.glob("*.cha"))
    judged = {
        "date": date.today().isoformat(),
        "data": f"{options.folder}: {len(names)} recording(s), {options.speech} speech",
        "programs": judge(options.model, options.folder, names),
    }
    packages = ("torch", "transformers", "ctranslate2", "faster-whisper", "openai-whisper")
    models = result.last("peers").get("models", {}) | {options.model.name: judged}
    result.write("peers", packages, "see each model", models=models, not_run=NOT_RUN)
    PAGE.write_text(page(result.last("peers")), "utf-8")


def judge(model: Path, folder: Path, names: list[str]) -> dict[str, Any]:
    """Return the scores of every program with a model, or why it cannot be run."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        (scratch / "reference").mkdir()
        for transcript in names:
            shutil.copy(folder / f"{transcript}.cha", scratch / "reference")
        for program, load in PROGRAMS.items():
            out = scratch / program
            out.mkdir()
            try:
                transcribe = load(model, scratch)
                for transcript in names:
                    transcribe(folder / f"{transcript}.flac", out / transcript)
                found[program] = scores(scratch / "reference", out)
            except Exception as error:  # of other programs, whose reason is the result
                found[program] = {"failed": f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"}
            print(f"{model.name}, {program}: {json.dumps(found[program])}", flush=True)
    return found


def scores(folder: Path, out: Path) -> dict[str, Any]:
    """Return what ``evaluate`` finds in the files that a program wrote."""
    (system,) = evaluate(folder, [out], samples=1000).systems.values()
    shown = {metric.key: metric for metric in METRICS if metric.key in METRICS_SHOWN}
    figures: dict[str, Any] = {"format": next(out.iterdir()).suffix}
    for key in METRICS_SHOWN:
        interval = system.interval(shown[key])
        figures[key] = {"value": system.value(shown[key])} | (
            {"low": interval.low, "high": interval.high} if interval else {}
        )
    scored = {kind.value: one for kind in SCORED if not (one := system.disfluency[kind]).not_scored}
    found = {
        name: [one.true_positives, one.reference_events, one.false_positives]
        for name, one in scored.items()
        if one.reference_events
    }
    return figures | {"found_of_false": found}


def lsa_whisper(model: Path, _: Path) -> Transcribe:
    """Write CHAT."""
    transcriber = Transcriber(model)
    return lambda recording, out: chat.write(
        transcriber.transcribe(recording).transcript, out.with_name(f"{out.name}.cha")
    )


def transformers_pipeline(model: Path, _: Path) -> Transcribe:
    """Write the pipeline's own dictionary, with time stamps, as JSON; long recordings as its documentation says."""
    from transformers import pipeline

    pipe = pipeline("automatic-speech-recognition", str(model), device="cpu")
    asked = {"num_beams": 1, "do_sample": False} | (
        {"language": "en", "task": "transcribe"} if multilingual(model) else {}
    )

    def transcribe(recording: Path, out: Path) -> None:
        sound = {"raw": Recording.open(recording).load(), "sampling_rate": 16_000}
        write_text(out, ".json", json.dumps(pipe(sound, return_timestamps=True, generate_kwargs=dict(asked))))

    return transcribe


def faster_whisper(model: Path, scratch: Path) -> Transcribe:
    """Write its segments as JSON."""
    from faster_whisper import WhisperModel

    converted = scratch / f"{model.name}-ct2"
    loaded = WhisperModel(str(checkpoint.export(model, converted, to="ct2")), device="cpu", compute_type="float32")
    suppressed = plain_json.read(model / "generation_config.json").get("suppress_tokens")

    def transcribe(recording: Path, out: Path) -> None:
        sound = Recording.open(recording).load()
        segments, _ = loaded.transcribe(sound, language="en", beam_size=1, suppress_tokens=suppressed)
        write_text(out, ".json", json.dumps({"segments": [asdict(each) for each in segments]}))

    return transcribe


def openai_whisper(model: Path, _: Path) -> Transcribe:
    """Write JSON by its own writer; it reads only vocabularies, mel bands and windows of OpenAI's models."""
    from whisper.model import ModelDimensions, Whisper
    from whisper.utils import get_writer

    from benchmarks.forced_text import openai_weights

    source = checkpoint.load(model).model
    c = source.config
    if c.num_mel_bins not in (80, 128) or c.max_source_positions != 1500:
        raise ValueError(f"{c.num_mel_bins} mel bands and windows of {c.max_source_positions // 50} s are not OpenAI's")
    audio = (c.num_mel_bins, c.max_source_positions, c.d_model, c.encoder_attention_heads, c.encoder_layers)
    text = (c.vocab_size, c.max_target_positions, c.d_model, c.decoder_attention_heads, c.decoder_layers)
    loaded = Whisper(ModelDimensions(*audio, *text))
    loaded.load_state_dict(openai_weights(source))
    loaded.eval()
    suppressed = plain_json.read(model / "generation_config.json").get("suppress_tokens")

    def transcribe(recording: Path, out: Path) -> None:
        sound = Recording.open(recording).load()
        found = loaded.transcribe(sound, language="en", temperature=0.0, suppress_tokens=suppressed, fp16=False)
        get_writer("json", str(out.parent))(found, str(recording), {})

    return transcribe


PROGRAMS: Mapping[str, Callable[[Path, Path], Transcribe]] = {
    "lsa-whisper": lsa_whisper,
    "transformers pipeline": transformers_pipeline,
    "faster-whisper": faster_whisper,
    "openai-whisper": openai_whisper,
}


def multilingual(model: Path) -> bool:
    """Return whether a model may be told its language."""
    return bool(plain_json.read(model / "generation_config.json").get("is_multilingual"))


def write_text(out: Path, suffix: str, text: str) -> None:
    """Write a program's output."""
    out.with_name(out.name + suffix).write_text(text, "utf-8")


def page(found: dict[str, Any]) -> str:
    """Return ``peers.md``."""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items() if version)
    lines = [
        "# Programs judged from their own output",
        "",
        "Every program has the same checkpoint, its own windows and defaults, and no beam search; `evaluate` reads",
        "what it writes. These checkpoints leave out *um*, as OpenAI's models do: the figures compare programs, and",
        "say nothing about the speech of people. Made by `python -m benchmarks.peers`.",
        "",
        f"Versions: {versions}.",
    ]
    for model, judged in found["models"].items():
        lines += ["", f"## {model}", "", f"{judged['data']}; {judged['date']}. In parentheses: 95 % intervals.", ""]
        lines += ["| program | format | verbatim WER | WER without disfluencies | F1 of disfluencies |"]
        lines += ["|---|---|---|---|---|", *(_row(name, figures) for name, figures in judged["programs"].items())]
    lines += ["", "## Not run", "", *(f"- {name}: {reason}" for name, reason in found["not_run"].items())]
    return "\n".join(lines) + "\n"


def _row(name: str, figures: dict[str, Any]) -> str:
    if "failed" in figures:
        reason = re.sub(r"[|`]", " ", figures["failed"])
        return f"| {name} | - | cannot load it: {reason} | - | - |"
    return f"| {name} | `{figures['format']}` | {' | '.join(_percent(figures[key]) for key in METRICS_SHOWN)} |"


def _percent(one: dict[str, float]) -> str:
    if one["value"] is None:
        return "-"
    interval = f" ({100 * one['low']:.1f} to {100 * one['high']:.1f})" if "low" in one else ""
    return f"{100 * one['value']:.1f} %{interval}"


if __name__ == "__main__":
    main()
