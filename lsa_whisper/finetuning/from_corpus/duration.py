"""How long a run will take on this machine, told before it starts."""

from __future__ import annotations

import time

from lsa_whisper.finetuning.from_corpus.method import Method
from lsa_whisper.finetuning.from_corpus.setting import Setting
from lsa_whisper.finetuning.memory.shape import Shape, shape_of

_LABEL_TOKENS = 150
"""Tokens of a window of 30 s and its prompt."""
_EFFICIENCY = 0.6
"""Share of the speed of one matrix product that a training step reaches. Measured with OpenAI's base on a CPU: 0.6 to
0.8."""
_SIDE = 1024


def run_minutes(setting: Setting, method: Method) -> float | None:
    """Return the minutes that all steps take; ``None`` if the model's size is unknown.

    It counts two floating-point operations for each weight and position, twice as many again where gradients are
    computed, and the attention of the encoder, against the measured speed of a matrix product on the device.
    """
    if setting.parameters is None:
        return None
    shape = shape_of(setting.base)
    operations = _per_window(shape, method) * setting.windows * method.epochs
    return operations / (_EFFICIENCY * _operations_per_s(setting.has_gpu)) / 60


def _per_window(shape: Shape, method: Method) -> float:
    positions, width = shape.source_positions, shape.width
    encoder = 2.0 * shape.count("encoder.") * positions + 4.0 * positions**2 * width * shape.encoder_layers
    decoder = 2.0 * shape.count("decoder.") * _LABEL_TOKENS
    is_decoder_only = method.model.get("freeze_encoder") or method.adapter.get("stacks") == "decoder"
    return encoder * (1 if is_decoder_only else 3) + decoder * 3


def _operations_per_s(has_gpu: bool) -> float:
    import torch

    device, dtype = ("cuda", torch.float16) if has_gpu else ("cpu", torch.float32)
    matrix = torch.ones(_SIDE, _SIDE, device=device, dtype=dtype)
    repeats, times = (50 if has_gpu else 3), []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(repeats):
            product = matrix @ matrix
        float(product[0, 0])  # waits for the GPU
        times.append(time.perf_counter() - began)
    return repeats * 2.0 * _SIDE**3 / min(times)
