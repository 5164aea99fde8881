"""What a recipe is chosen for: prepared data, a model to start from, and a machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper import checkpoint, manifest
from lsa_whisper.decoding.style import is_stock
from lsa_whisper.errors import CheckpointError, CorpusError
from lsa_whisper.finetuning.memory.shape import shape_of
from lsa_whisper.labels import Labels, decode
from lsa_whisper.languages import chat_code
from lsa_whisper.manifest import TIMESTAMP, Segment
from lsa_whisper.system.device import has_native_bf16

MIN_DEV_WORDS, MIN_DEV_DISFLUENCIES = 300, 30
"""The least size of a dev set that decides anything. On fewer words, two errors more or less chose the checkpoint."""


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
        language: The language of all windows (ISO 639-3), or ``mul``.
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
        language=chat_code(languages[0]) if len(set(languages)) == 1 else "mul",
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


def dev_size(dev: Path) -> tuple[int, int]:
    """Return the words and the disfluencies of a dev set, counted until both are enough to decide by."""
    words = events = 0
    if not dev.is_file() and "*" not in dev.name:
        return words, events
    for utterance_words, utterance_events in _counts(manifest.stream(dev)):
        words, events = words + utterance_words, events + utterance_events
        if words >= MIN_DEV_WORDS and events >= MIN_DEV_DISFLUENCIES:
            break
    return words, events


def decides(dev: Path) -> bool:
    """Return whether a dev set is large enough to choose a checkpoint by."""
    words, events = dev_size(dev)
    return words >= MIN_DEV_WORDS and events >= MIN_DEV_DISFLUENCIES


def _counts(rows: Iterator[Segment]) -> Iterator[tuple[int, int]]:
    for row in rows:
        text = " ".join(part.strip() for part in TIMESTAMP.split(row.text)[::2] if part.strip())
        for utterance in decode(text, Labels.from_name(row.labels)).utterances:
            yield len(utterance.verbatim()), len(utterance.events())


def _parameters(base: str) -> int | None:
    try:
        return shape_of(base).parameters
    except CheckpointError:
        return None
