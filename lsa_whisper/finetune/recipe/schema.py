"""The sections of a recipe that describe one fine-tuning run. Paths are relative to the current folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.augment import Augmentation
from lsa_whisper.finetune.recipe.sections import AdapterSettings, EvaluationSettings, LossSettings
from lsa_whisper.whisper_constants import CONTEXT_S, DECODER_POSITIONS

_BYTES = 256


@dataclass(frozen=True)
class DataSettings:
    """Where the prepared data are and how they are loaded."""

    train: str
    """Manifest of the training windows (``train.jsonl``, written by ``lsa-whisper prepare``)."""
    dev: str | None = None
    """Manifest of the dev set. Required by ``evaluation``."""
    workers: int = 0
    """Data loader processes that read audio and compute features. With 0 the training process does it itself."""
    cache: bool = False
    """Keep the features in memory after the first epoch (30 h with 80 mel bins take about 1.7 GB). With ``workers``
    each worker keeps its own copy."""
    trim: bool = False
    """Cut each training batch to its longest window and batch windows of similar length together (unless ``training``
    sets ``train_sampling_strategy``). This avoids computing on padding; the gain is small if windows are close to the
    context length. Transcription always pads to the full context, so a share of the batches should too; see
    ``full_length_share``. Evaluation always uses the full context."""
    full_length_share: float = 0.1
    """With ``trim``: share of the batches that keep the full context, so that the model continues to see silence after
    a short window. At 0 it may learn to insert words into that silence; at 1 no batch is trimmed."""
    augment: Augmentation = field(default_factory=Augmentation)
    """Augmentation of the training windows, redrawn every epoch."""


@dataclass(frozen=True)
class ScratchModel:
    """Dimensions of a new, small Whisper model with random weights."""

    d_model: int
    """Width of the hidden states."""
    encoder_layers: int
    """Number of encoder layers."""
    decoder_layers: int
    """Number of decoder layers."""
    attention_heads: int
    """Attention heads per layer."""
    mel_bins: int = 80
    """Mel bins of the input features."""
    context_s: float = CONTEXT_S
    """Longest window, in whole seconds."""
    max_target_positions: int = DECODER_POSITIONS
    """Longest label sequence, in tokens."""
    vocab_size: int = 1000
    """Text tokens to learn (byte-pair encoding); special tokens and timestamps are added to these."""
    vocab_manifests: tuple[str, ...] = ()
    """Manifests whose texts the vocabulary is learned from. Default: the training manifest."""
    dropout: float = 0.0
    """Dropout probability."""

    def problems(self) -> Iterator[str]:
        """Yield each problem, starting with its key."""
        for name in ("encoder_layers", "decoder_layers", "attention_heads", "mel_bins", "max_target_positions"):
            if getattr(self, name) < 1:
                yield f"{name}: must be 1 or more, not {getattr(self, name)}"
        heads = self.attention_heads
        if self.d_model < 4 or self.d_model % 2 or (heads > 0 and self.d_model % heads):
            yield f"d_model: must be even, 4 or more, and a multiple of the {heads} attention heads, not {self.d_model}"
        if not is_valid_context(self.context_s):
            yield f"context_s: must be a whole number of seconds, 1 or more, not {self.context_s:g}"
        if self.vocab_size < _BYTES:
            yield f"vocab_size: must be {_BYTES} or more (one token for each byte), not {self.vocab_size}"
        if not 0 <= self.dropout < 1:
            yield f"dropout: must be at least 0 and below 1, not {self.dropout:g}"


@dataclass(frozen=True)
class ModelSettings:
    """The model to train: a checkpoint, or new weights."""

    base: str | None = None
    """Checkpoint folder, or Hub name such as ``openai/whisper-large-v3``."""
    scratch: ScratchModel | None = None
    """Train a new model with these dimensions instead."""
    context_s: float | None = None
    """Window length in whole seconds, in place of the checkpoint's own. Shorter windows train faster."""
    decoder_layers: int | None = None
    """Number of decoder layers after adding new ones; a multiple of the base's number. New layers start as the
    identity, so that the output is unchanged before training."""
    freeze_encoder: bool = False
    """Train the decoder only."""
    top_layers: int | None = None
    """Train only this many of the last layers of the encoder and of the decoder (with ``freeze_encoder``: of the
    decoder), with their final layer norms. Lower layers and the token embeddings stay frozen."""
    dropout: float | None = None
    """Dropout probability in training, in place of the checkpoint's own. Reduces overfitting."""
    ctc_weight: float = 0.0
    """Weight of an auxiliary CTC loss on the encoder. Helps small models to learn alignment. The CTC head is not
    saved."""


@dataclass(frozen=True)
class OffloadSettings:
    """Where to keep training state that does not fit in GPU memory."""

    optimizer: str = "none"
    """``none``, ``cpu`` or ``nvme``; with ``zero2`` and ``zero3``. A run with its optimizer on NVMe cannot be
    resumed."""
    parameters: str = "none"
    """``none``, ``cpu`` or ``nvme`` with ``zero3``; ``none`` or ``cpu`` with ``fsdp2``, where ``cpu`` also offloads
    gradients and optimizer."""
    nvme_path: str | None = None
    """Folder on a fast local disk. Required by ``nvme``."""


@dataclass(frozen=True)
class FsdpSettings:
    """Settings of the ``fsdp2`` strategy."""

    sharding_strategy: str = "full_shard"
    """``full_shard``: shard parameters, gradients and optimizer state. ``shard_grad_op``: keep the parameters gathered
    between forward and backward pass, which uses more memory and less communication. ``hybrid_shard``: shard within a
    node, replicate across nodes. ``no_shard``: replicate everything, as ``ddp`` does."""
    cpu_ram_efficient_loading: bool = False
    """Only rank 0 reads the weights and broadcasts the shards. For hosts that cannot hold one copy of the model per
    GPU."""


@dataclass(frozen=True)
class Recipe:
    """Everything that defines one fine-tuning run."""

    data: DataSettings
    """Training and dev data."""
    out: str
    """Folder for the finished checkpoint."""
    model: ModelSettings
    """The model to train."""
    adapter: AdapterSettings | None = None
    """Train a LoRA adapter instead of the model's weights."""
    strategy: str = "single"
    """``single``, ``ddp``, ``zero2``, ``zero3`` or ``fsdp2``."""
    offload: OffloadSettings = field(default_factory=OffloadSettings)
    """Only with ``zero2``, ``zero3`` and ``fsdp2``."""
    fsdp: FsdpSettings = field(default_factory=FsdpSettings)
    """Only with ``fsdp2``."""
    deepspeed: dict[str, Any] = field(default_factory=dict)
    """Entries of a DeepSpeed configuration, merged into the one that ``zero2`` and ``zero3`` generate."""
    auto_micro_batch: bool = False
    """On running out of memory, resume from the last checkpoint with a smaller ``per_device_train_batch_size`` and
    proportionally more gradient accumulation; the effective batch size stays the same. Only with one process (strategy
    ``single``)."""
    loss: LossSettings = field(default_factory=LossSettings)
    """Terms added to the cross-entropy loss."""
    evaluation: EvaluationSettings | None = None
    """Evaluate on the dev set during training."""
    precision: str = "fp32"
    """``fp32``; ``bf16`` or ``fp16``: mixed precision (autocast) with fp32 weights; ``pure-bf16``: weights in bf16 too,
    which halves their memory but rounds small updates away; ``fp8``: 8-bit matrix products, on GPUs that support
    them."""
    optimizer: str = "adamw"
    """``adamw`` (or the one set by ``training.optim``). To save GPU memory: ``adafactor``, ``adamw-8bit``
    (bitsandbytes) or ``adamw-cpu`` (torchao: optimizer state and step on the CPU, for one GPU)."""
    seed: int = 0
    """Random seed for initial weights, dropout and the order of the data."""
    training: dict[str, Any] = field(default_factory=dict)
    """Arguments for transformers' ``Seq2SeqTrainingArguments``, except those that the recipe sets elsewhere (``out``,
    ``seed`` and, with ``evaluation.keep_best``, when to save)."""


def is_valid_context(seconds: float) -> bool:
    """Return whether a context length is valid: feature extractors store it as a whole number of seconds."""
    return seconds >= 1 and seconds.is_integer()
