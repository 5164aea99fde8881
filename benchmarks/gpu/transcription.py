"""Speed of transcription with each program and batch size, from ``benchmarks.transcribe_speed``."""

from __future__ import annotations

import argparse
import gc
import os
import time
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from benchmarks import forced_text, transcribe_speed
from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting
from lsa_whisper.errors import MissingExtraError
from lsa_whisper.system.machine import GIB

PROGRAMS = (
    "lsa-whisper",
    "transformers pipeline",
    "transformers pipeline, static cache",
    "openai-whisper",
    "lsa-whisper ct2",
    "faster-whisper batched",
)
ONE_BY_ONE = ("openai-whisper",)
"""Programs without batches."""
BATCHES, DRY_BATCHES = (16, 1, 32), (2, 1)
"""The most telling first."""
DRY_SHAPE = (64, 2, 2, 2, 80)
DRY_PROCESSOR = Path("models/nano")
TOKENS, DRY_TOKENS = 80, 8


def transcribe(setting: Setting, record: Record, *, size: str) -> None:
    """Record the real-time factor of each program with each batch size, as they become known."""
    processor = Path(setting.processor) if setting.processor else DRY_PROCESSOR
    if not setting.processor:
        record.not_run("processor", "no folder of openai/whisper-large-v3's tokenizer: nano's, with fewer tokens")
    shapes = {size: DRY_SHAPE} if setting.dry else {}
    with mock.patch.dict(forced_text.SHAPES, shapes):
        model = setting.folder / f"forced-{'dry' if setting.dry else size}"
        if not model.exists():
            forced_text.build(size, processor, DRY_TOKENS if setting.dry else TOKENS, model)
        for batch in DRY_BATCHES if setting.dry else BATCHES:
            with_batch(setting, record, model, batch)
    if setting.dry:
        record.not_run("compiling", "transformers compiles the decoder on a GPU only")


def with_batch(setting: Setting, record: Record, model: Path, batch: int) -> None:
    """Record every program with one batch size, over sound for at least two batches."""
    seconds = 20.0 * batch if setting.dry else min(1800.0, max(240.0, 60.0 * batch))
    folder = Path("corpora/storybook") / ("test" if setting.dry else "train")
    audio, length_s = transcribe_speed.sound(folder, seconds, setting.folder / f"sound-{batch}.wav")
    options = argparse.Namespace(batch_size=batch, threads=os.cpu_count(), only=None)
    loaders = transcribe_speed.loaders(model, model, audio, setting.device, options)
    for name in PROGRAMS:
        if name in ONE_BY_ONE and batch > 1:
            continue
        try:
            found = measured(loaders[name], length_s, setting)
        except Exception as error:  # of another program or of its libraries: the next one may work
            if setting.dry and not isinstance(error, (ModuleNotFoundError, MissingExtraError)):
                raise
            found = {"failed": f"{type(error).__name__}: {str(error)[:300]}"}
        record.add(f"batch {batch}", {name: found})
        gc.collect()
        if not setting.dry:
            torch.cuda.empty_cache()


def measured(load: Any, length_s: float, setting: Setting) -> dict[str, Any]:
    """Return what a program takes: the first pass, which may compile, and the faster of two more."""
    if not setting.dry:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    program = load()
    seconds = []
    for _ in range(2 if setting.dry else 3):
        began = time.perf_counter()
        text = program()
        seconds.append(time.perf_counter() - began)
    found = {
        "real_time_factor": round(length_s / min(seconds[1:]), 1),
        "first_pass_s": round(seconds[0], 2),
        "sound_s": round(length_s),
        "letters": letters(text),
    }
    if setting.dry:
        return found
    free, total = torch.cuda.mem_get_info()  # CTranslate2's memory, too
    return found | {"gpu_gib": round((total - free) / GIB, 2)}


def letters(result: Any) -> int:
    """Return the length of the text that a program returned, which shows that it decoded something.

    >>> letters({"text": "abc"}), letters([argparse.Namespace(text="ab"), argparse.Namespace(text="c")])
    (3, 3)
    """
    if isinstance(result, dict):
        return len(result["text"])
    parts = result if isinstance(result, list) else result.utterances
    return sum(len(each.text) for each in parts)
