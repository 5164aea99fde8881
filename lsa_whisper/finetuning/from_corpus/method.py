"""How a model is trained on data that come without a recipe: what of it, how fast, and how long that takes.

A :class:`Setting` is what this depends on: the data, the model to start from, and the machine.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper import checkpoint, manifest
from lsa_whisper.decoding.style import is_stock
from lsa_whisper.errors import CheckpointError, CorpusError
from lsa_whisper.finetuning.workload.dev_set import decides
from lsa_whisper.finetuning.workload.shape import Shape, shape_of
from lsa_whisper.labels import VERBATIM_PROMPTS
from lsa_whisper.languages import chat_code
from lsa_whisper.system.device import has_native_bf16


@dataclass(frozen=True)
class Setting:
    """What a recipe is chosen for.

    Attributes:
        data: The folder of prepared data, absolute.
        base: The model to start from.
        out: The checkpoint's folder.
        windows: Training windows.
        dev_windows: Windows of the dev set; 0 if there is none that is large enough.
        parameters: The base model's; ``None`` if unknown.
        has_gpu: Whether torch finds a GPU.
        has_bf16: Whether the GPU computes in bfloat16.
        hours: Hours of the training windows.
        language: The language of nine in ten windows or more (ISO 639-3), or ``mul``.
        is_stock: Whether the base was never fine-tuned to write disfluencies.
    """

    data: Path
    base: str
    out: Path
    windows: int
    dev_windows: int
    parameters: int | None
    has_gpu: bool
    has_bf16: bool = True
    hours: float = 1.0
    language: str = "eng"
    is_stock: bool = False


def setting_of(data: Path, base: str, out: Path) -> Setting:
    """Return what a recipe for ``data`` is chosen for on this machine.

    Raises:
        CorpusError: If the data hold no windows.
    """
    import torch

    train, dev = split_path(data, "train"), split_path(data, "dev")
    rows = [(row.duration, row.lang) for row in manifest.stream(train)]
    if not rows:
        raise CorpusError(f"{train}: holds no windows; add recordings of more speakers, and prepare the data again")
    durations, languages = zip(*rows, strict=True)
    language, count = Counter(languages).most_common(1)[0]
    has_gpu = torch.cuda.is_available()
    return Setting(
        data=data,
        base=base,
        out=out,
        windows=len(durations),
        dev_windows=sum(1 for _ in manifest.stream(dev)) if decides(dev) else 0,
        parameters=_parameters(base),
        has_gpu=has_gpu,
        has_bf16=has_native_bf16(),
        hours=sum(durations) / 3600,
        language=chat_code(language) if count >= 0.9 * len(rows) else "mul",
        is_stock=is_stock_base(base),
    )


def split_path(data: Path, split: str) -> Path:
    """Return the manifest of a split in prepared data, or the glob of its shards where only those are there."""
    rows = data / f"{split}.jsonl"
    shards = next(data.glob(f"{split}-*.parquet"), None)
    return data / f"{split}-*.parquet" if shards is not None and not rows.is_file() else rows


def is_stock_base(base: str) -> bool:
    """Return whether ``base`` was never fine-tuned; one that is not on this machine is judged by its name."""
    try:
        return is_stock(checkpoint.load(base, weights=False))
    except CheckpointError:
        return base.startswith("openai/")


def _parameters(base: str) -> int | None:
    try:
        return shape_of(base).parameters
    except CheckpointError:
        return None


_SMALL = 30e6
"""Parameters up to which all weights are trained: a model this small has no room to spare for a LoRA of rank 32."""
_MIDDLE = 100e6
"""Parameters up to which the layers of the decoder are trained themselves on little data, and above with a LoRA."""
LITTLE_H = 1.0
"""Hours up to which only the decoder is trained, for few steps: of little data, a model forgets more than it learns."""
_STEPS = 500
"""Optimizer steps to aim at with enough data; the demo's recipes take 520."""
_MIN_STEPS = 18
"""Optimizer steps of four windows for some minutes of speech.

On the real English of :func:`choose_method`, with OpenAI's base and one seed, word errors without disfluencies are
23.6 % after the steps that this gives, 25.0 % after half of them, and 24.1 % after twice as many. Of 16 repetitions, 7,
5 and 10 are found; 1, 1 and 3 filled pauses are invented."""


_BASE_SHARE = 0.5
"""The base's share of a model that was trained on little data.

On the real English of :func:`choose_method`, with OpenAI's base and three seeds, word errors without disfluencies fall
from 25.1, 25.4 and 26.3 to 23.7, 24.1 and 25.1 % (the decoder's weights), and with one seed from 26.4 to 23.2 % (a
LoRA, which then invents 1 filled pause, not 7). 22 of 26 filled pauses are found with and without it. Shares of 0.25
and 0.75 give 23.8 and 25.1 % (one seed)."""


@dataclass(frozen=True)
class Method:
    """What is trained, and how.

    Attributes:
        learning_rate: The highest.
        batch: Windows of an optimizer step.
        epochs: Passes over the data.
        model: Further settings of the recipe's section ``model``.
        adapter: The recipe's section ``adapter``; empty without one.
        data: Further settings of its section ``data``.
        schedule: The learning rate's after the warm-up.
        base_share: The base's share of the finished weights.
    """

    learning_rate: float
    batch: int
    epochs: int
    model: dict[str, Any] = field(default_factory=dict)
    adapter: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    schedule: str = "cosine"
    base_share: float = 0.0

    def steps(self, windows: int) -> int:
        """Return the optimizer steps of the whole run."""
        return -(-windows // self.batch) * self.epochs


def choose_method(setting: Setting) -> Method:
    """Return how the base of ``setting`` is trained.

    Of 5 minutes of real English (24 recordings of about 25 people, cross-validated by people, one seed), OpenAI's base
    forgot least with its encoder frozen, a prompt that asks for disfluencies, and the lowest rate that still teaches:
    3e-5 for the decoder's weights, 3e-4 for a LoRA. At 1e-3, a LoRA repeats itself in loops. Above an hour, no real
    speech was at hand to decide by.
    """
    if setting.parameters is not None and setting.parameters <= _SMALL:
        trim_and_speed = {"trim": True, "augment": {"speed_perturbation": 0.1}}
        epochs = max(3, min(8, round(_STEPS * 4 / setting.windows)))
        return Method(8e-4, 4, epochs, model={"dropout": 0.1}, data=trim_and_speed)
    if setting.hours >= LITTLE_H:
        batch = 16 if setting.windows >= 160 else 8
        epochs = max(3, min(8, round(_STEPS * batch / setting.windows)))
        return Method(3e-4, batch, epochs, adapter={"rank": 32, "alpha": 64})
    prompt = VERBATIM_PROMPTS.get(setting.language, "") if setting.is_stock else ""
    data = {"prompt": prompt} if prompt else {}
    epochs = max(3, -(-_MIN_STEPS // -(-setting.windows // 4)))
    if setting.parameters is not None and setting.parameters <= _MIDDLE:
        layers = {"freeze_encoder": True, "top_layers": shape_of(setting.base).decoder_layers}
        return Method(3e-5, 4, epochs, model=layers, data=data, schedule="linear", base_share=_BASE_SHARE)
    adapter = {"rank": 16, "alpha": 32, "stacks": "decoder"}
    return Method(3e-4, 4, epochs, adapter=adapter, data=data, schedule="linear", base_share=_BASE_SHARE)


_LABEL_TOKENS = 150
"""Tokens of a window of 30 s and its prompt."""
_EFFICIENCY = 0.6
"""Share of the speed of one matrix product that a training step reaches. Measured with OpenAI's base on a CPU: 0.6 to
0.8."""
_SIDE = 1024


def run_minutes(setting: Setting, method: Method, passes: float) -> float | None:
    """Return the minutes that so many passes over the windows take; ``None`` if the model's size is unknown.

    It counts two floating-point operations for each weight and position, twice as many again where gradients are
    computed, and the attention of the encoder, against the measured speed of a matrix product on the device.
    """
    if setting.parameters is None:
        return None
    shape = shape_of(setting.base)
    operations = _per_window(shape, method) * setting.windows * passes
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
