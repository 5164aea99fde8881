"""Where the time of a transcription goes: encoder, decoder layers, output matrix, features, and everything else.

    python -m benchmarks.transcribe_profile corpora/storybook/test --processor PROCESSOR --sizes tiny base

The models, the sound and the amount of text are those of ``transcribe_speed``, with and without trimmed inputs. Times
are the processor's, of the engine ``transformers``; CTranslate2 cannot be timed inside. What remains if one part took
no time bounds what can be gained there.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from benchmarks import result
from benchmarks.forced_text import SHAPES, build
from benchmarks.transcribe_speed import decoded_once, sound, trimmed_model
from lsa_whisper.audio import Recording
from lsa_whisper.decoding import transformers_engine
from lsa_whisper.transcription import Transcriber


def main() -> None:
    """Profile every size, whole and trimmed, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processor", type=Path, required=True)
    parser.add_argument("--sizes", nargs="+", choices=SHAPES, default=["tiny", "base"])
    parser.add_argument("--tokens", type=int, default=80, help="Tokens per window of up to 30 s.")
    parser.add_argument("--seconds", type=float, default=240, help="Seconds of audio.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    figures = result.last("transcribe_profile").get("processor_seconds", {})
    with tempfile.TemporaryDirectory() as name:
        audio, length_s = sound(options.folder, options.seconds, Path(name) / "audio.wav")
        for size in options.sizes:
            models = {
                "whole": build(size, options.processor, options.tokens, Path(name) / size),
                "trimmed": trimmed_model(size, audio, options, Path(name) / f"{size}-trimmed"),
            }
            figures[size] = {each: best(model, audio, options.rounds) for each, model in models.items()}
            print(size, figures[size], flush=True)
    result.write(
        "transcribe_profile",
        ("torch", "transformers"),
        f"{options.folder} (SYNTHETIC speech), random weights, {length_s:.0f} s, {options.tokens} tokens in 30 s",
        load_average=[round(load, 1) for load in os.getloadavg()],
        processor_seconds=figures,
    )


def best(model: Path, audio: Path, rounds: int) -> dict[str, float]:
    """Return the seconds of each part in the fastest of some rounds."""
    transcriber = Transcriber(model, device="cpu")
    runs = [profiled(transcriber, audio) for _ in range(rounds)]
    return min(runs, key=lambda parts: parts["all"])


def profiled(transcriber: Transcriber, audio: Path) -> dict[str, float]:
    """Return the seconds of each part of one transcription."""
    spent: dict[str, float] = defaultdict(float)
    model = transcriber._checkpoint.model
    parts = {"encoder": model.get_encoder(), "decoder": model.get_decoder(), "output matrix": model.proj_out}
    with timed_modules(parts, spent), decoded_once():
        features = _timed(transformers_engine.log_mel, "features", spent)
        with mock.patch.object(transformers_engine, "log_mel", features):
            began = time.process_time()
            transcriber.transcribe(Recording.open(audio))
            spent["all"] = time.process_time() - began
    spent["ours"] = spent["all"] - sum(spent[part] for part in (*parts, "features"))
    return {part: round(seconds, 2) for part, seconds in spent.items()}


@contextmanager
def timed_modules(modules: dict[str, Any], spent: dict[str, float]) -> Iterator[None]:
    """Add the processor's time in each module's forward pass to ``spent``."""
    with ExitStack() as patches:
        for name, module in modules.items():
            patches.enter_context(mock.patch.object(module, "forward", _timed(module.forward, name, spent)))
        yield


def _timed(call: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        began = time.process_time()
        try:
            return call(*args, **kwargs)
        finally:
            spent[name] += time.process_time() - began

    return run


if __name__ == "__main__":
    main()
