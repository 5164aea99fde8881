"""Speed of transcription compared with other programs, with the same weights, audio and machine.

    python -m benchmarks.transcribe_speed corpora/storybook/test --processor PROCESSOR --sizes tiny base small

Sizes measured by earlier calls stay in the result.

PROCESSOR is a folder with the tokenizer and generation settings of openai/whisper-tiny (for turbo and large-v3, of
openai/whisper-large-v3). The weights are random and write a known number of tokens for each window (see
``forced_text``): the text is meaningless, but its length and therefore the work are the same for all. Decoding is
greedy everywhere, without fallbacks. Our engines are measured from the audio file to CHAT. Each program has a process
of its own, and they run in turns.

Rows that are called trimmed have a checkpoint that notes ``data.trim``: our engines cut windows of at most 10 s and the
encoder sees no more than these. Their tokens per window are fewer, so that all write the same amount of text.

- ``transformers pipeline``: overlapping chunks of 30 s in batches; with a static cache, it compiles on a GPU;
- ``faster-whisper batched``: over the same windows as ours, so that voice activity detection does not matter;
- ``openai-whisper`` and ``faster-whisper``: one window after another.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

import numpy as np
import soundfile
import torch

from benchmarks import result
from benchmarks.forced_text import SHAPES, build, openai_model
from benchmarks.isolated import Isolated, Run
from lsa_whisper import checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.audio.speech_energy import find_speech
from lsa_whisper.audio.speech_windows import pack_windows
from lsa_whisper.checkpoint.trimming import TRIM_MARGIN_S, longest_window_s
from lsa_whisper.transcription import Transcriber
from lsa_whisper.transcription.long_form import borders, loops, repairs

_GREEDY: dict[str, Any] = {
    "language": "en",
    "beam_size": 1,
    "temperature": 0.0,
    "compression_ratio_threshold": None,
    "log_prob_threshold": None,
    "no_speech_threshold": None,
}
"""What faster-whisper is told: the likeliest token each time, and no second try."""


def main() -> None:
    """Time every program on every size, and write the result."""
    options = arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with tempfile.TemporaryDirectory() as name:
        audio, length_s = sound(options.folder, options.seconds, Path(name) / "audio.wav")
        for size in options.sizes:
            model = build(size, options.processor, options.tokens, Path(name) / size)
            trimmed = trimmed_model(size, audio, options, Path(name) / f"{size}-trimmed")
            loaded = programs(model, trimmed, audio, device, options)
            write(size, timed(loaded, length_s, options), length_s, options)


def trimmed_model(size: str, audio: Path, options: argparse.Namespace, out: Path) -> Path:
    """Return a model that may be trimmed and writes as much text in all its windows as the other one."""
    recording = Recording.open(audio)
    speech = find_speech(recording.stream(), SAMPLE_RATE_HZ)
    whole, short = (
        len(pack_windows(speech, context_s=longest_window_s(30.0, margin_s), duration_s=recording.duration_s))
        for margin_s in (None, TRIM_MARGIN_S)
    )
    tokens = round(options.tokens * whole / short)
    return build(size, options.processor, tokens, out, trim_margin_s=TRIM_MARGIN_S)


def write(size: str, figures: dict[str, Any], length_s: float, options: argparse.Namespace) -> None:
    """Write the figures of a size beside those of others, which may be of another day and another device."""
    before = result.last("transcribe_speed")
    settings = (
        f"{date.today()}, {torch.cuda.get_device_name() if torch.cuda.is_available() else 'cpu'}; {length_s:.0f} s of "
        f"sound, batches of {options.batch_size}, {options.threads} threads, best and median of {options.rounds} rounds"
    )
    result.write(
        "transcribe_speed",
        ("torch", "transformers", "ctranslate2", "faster-whisper", "openai-whisper"),
        f"{options.folder} (SYNTHETIC speech), random weights, {options.tokens} tokens a window",
        note=options.note,
        settings=before.get("settings", {}) | {size: settings},
        load_average=before.get("load_average", {}) | {size: [round(load, 1) for load in os.getloadavg()]},
        seconds_of_sound_per_second=before.get("seconds_of_sound_per_second", {}) | {size: figures},
    )


def arguments() -> argparse.Namespace:
    """Return the command line options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processor", type=Path, required=True)
    parser.add_argument("--sizes", nargs="+", choices=SHAPES, default=["tiny", "base", "small"])
    parser.add_argument("--tokens", type=int, default=80, help="Tokens per window of up to 30 s.")
    parser.add_argument("--seconds", type=float, default=480, help="Seconds of audio.")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", help="Names of programs.")
    parser.add_argument("--note", default="", help="About the machine, for the result.")
    return parser.parse_args()


def sound(folder: Path, seconds: float, out: Path) -> tuple[Path, float]:
    """Write the folder's recordings as one, cut to some seconds; return its path and length."""
    parts = [Recording.open(path).load() for path in sorted(folder.glob("*.flac"))]
    samples = np.concatenate(parts)[: round(seconds * SAMPLE_RATE_HZ)]
    soundfile.write(out, samples, SAMPLE_RATE_HZ)
    return out, len(samples) / SAMPLE_RATE_HZ


def timed(programs: dict[str, Isolated], length_s: float, options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of audio that each program transcribes per second of wall time and of CPU time."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for _ in range(options.rounds):
        for name, run in programs.items():
            seconds[name].append(run())
            print(f"{name}: {seconds[name][-1][0]:.1f} s, of the processor {seconds[name][-1][1]:.1f} s", flush=True)
    for run in programs.values():
        run.close()
    return {name: speeds(measured, length_s) for name, measured in seconds.items()}


def speeds(measured: Sequence[tuple[float, float]], length_s: float) -> dict[str, float]:
    """Return the best and the median speed by the clock and by the processor's time."""
    clock, processor = zip(*measured, strict=True)
    return {
        "clock": round(length_s / min(clock), 2),
        "processor": round(length_s / min(processor), 2),
        "clock_median": round(length_s / median(clock), 2),
        "processor_median": round(length_s / median(processor), 2),
    }


def programs(model: Path, trimmed: Path, audio: Path, device: str, options: argparse.Namespace) -> dict[str, Isolated]:
    """Return the loaded programs by name, each in a process of its own."""
    names = loaders(model, trimmed, audio, device, options)
    chosen = [name for name in names if not options.only or name in options.only]
    return {name: Isolated(load, name, model, trimmed, audio, device, options) for name in chosen}


def load(name: str, model: Path, trimmed: Path, audio: Path, device: str, options: argparse.Namespace) -> Run:
    """Load a program by its name."""
    torch.set_num_threads(options.threads)
    return loaders(model, trimmed, audio, device, options)[name]()


def loaders(
    model: Path, trimmed: Path, audio: Path, device: str, options: argparse.Namespace
) -> dict[str, Callable[[], Run]]:
    """Return for each program by name what loads it."""
    dtype = "float16" if device == "cuda" else "float32"

    def converted(source: Path = model) -> Path:
        out = source.with_name(f"{source.name}-ct2")
        return out if out.exists() else checkpoint.export(source, out, to="ct2")

    return {
        "lsa-whisper": lambda: ours(model, audio, device, dtype, "transformers", options),
        "lsa-whisper ct2": lambda: ours(converted(), audio, device, dtype, "ct2", options),
        "lsa-whisper ct2 int8": lambda: ours(converted(), audio, device, "int8", "ct2", options),
        "lsa-whisper, trimmed": lambda: ours(trimmed, audio, device, dtype, "transformers", options),
        "lsa-whisper ct2, trimmed": lambda: ours(converted(trimmed), audio, device, dtype, "ct2", options),
        "lsa-whisper ct2 int8, trimmed": lambda: ours(converted(trimmed), audio, device, "int8", "ct2", options),
        "transformers pipeline": lambda: pipeline(model, audio, device, dtype, options),
        "transformers pipeline, static cache": lambda: pipeline(model, audio, device, dtype, options, "static"),
        "openai-whisper": lambda: openai(model, audio, device),
        "faster-whisper": lambda: faster(converted(), audio, device, dtype, options),
        "faster-whisper batched": lambda: faster_batched(converted(), audio, device, dtype, options),
        "faster-whisper batched int8": lambda: faster_batched(converted(), audio, device, "int8", options),
    }


@contextmanager
def decoded_once() -> Iterator[None]:
    """Decode each window once: random words are improbable and repeat, and no program is timed with a second try."""
    with (
        mock.patch.object(loops, "has_loop", return_value=False),
        mock.patch.object(repairs, "is_uncertain", return_value=False),
        mock.patch.object(borders, "_SURE_LOGPROB", -math.inf),
    ):
        yield


def ours(model: Path, audio: Path, device: str, dtype: str, engine: str, options: argparse.Namespace) -> Run:
    """Return one of our engines, from the file to CHAT."""
    transcriber = Transcriber(model, device=device, dtype=dtype, engine=engine, batch_size=options.batch_size)

    def run() -> Any:
        with decoded_once():
            return transcriber.transcribe(Recording.open(audio))

    return run


def pipeline(
    model: Path, audio: Path, device: str, dtype: str, options: argparse.Namespace, cache: str | None = None
) -> Run:
    """Return transformers' own pipeline, in chunks; with a static cache it compiles the decoder on a GPU."""
    from transformers import pipeline as load

    pipe = load(
        "automatic-speech-recognition",
        str(model),
        device=device,
        dtype=getattr(torch, dtype),
        chunk_length_s=30,
        batch_size=options.batch_size,
    )
    if pipe.tokenizer.pad_token_id is None:  # it asks for one even if every text is of the same length
        pipe.tokenizer.pad_token_id = pipe.tokenizer.eos_token_id
    asked = {"language": "en", "task": "transcribe", "num_beams": 1, "do_sample": False}
    asked |= {"cache_implementation": cache} if cache else {}
    samples, rate_hz = soundfile.read(audio, dtype="float32")
    return lambda: pipe({"raw": samples, "sampling_rate": rate_hz}, return_timestamps=True, generate_kwargs=dict(asked))


def openai(model: Path, audio: Path, device: str) -> Run:
    """Return OpenAI's package with the same weights."""
    loaded = openai_model(checkpoint.load(model).model).to(device)
    samples, _ = soundfile.read(audio, dtype="float32")
    return lambda: loaded.transcribe(
        samples,
        language="en",
        temperature=0.0,
        condition_on_previous_text=False,
        compression_ratio_threshold=None,
        logprob_threshold=None,
        no_speech_threshold=None,
        fp16=device == "cuda",
    )


def faster(model: Path, audio: Path, device: str, dtype: str, options: argparse.Namespace) -> Run:
    """Return faster-whisper, one window after another."""
    from faster_whisper import WhisperModel

    loaded = WhisperModel(str(model), device=device, compute_type=dtype, cpu_threads=options.threads)
    samples, _ = soundfile.read(audio, dtype="float32")

    return lambda: list(loaded.transcribe(samples, condition_on_previous_text=False, **_GREEDY)[0])


def faster_batched(model: Path, audio: Path, device: str, dtype: str, options: argparse.Namespace) -> Run:
    """Return faster-whisper's batches over the windows we cut."""
    from faster_whisper import BatchedInferencePipeline, WhisperModel

    loaded = WhisperModel(str(model), device=device, compute_type=dtype, cpu_threads=options.threads)
    batched = BatchedInferencePipeline(loaded)
    recording = Recording.open(audio)
    speech = find_speech(recording.stream(), SAMPLE_RATE_HZ)
    spans = pack_windows(speech, context_s=30.0, duration_s=recording.duration_s)
    clips = [{"start": span.start_ms / 1000, "end": span.end_ms / 1000} for span in spans]
    samples, _ = soundfile.read(audio, dtype="float32")

    over = {"vad_filter": False, "clip_timestamps": clips, "without_timestamps": False}
    return lambda: list(batched.transcribe(samples, batch_size=options.batch_size, **over, **_GREEDY)[0])


if __name__ == "__main__":
    main()
