"""What one fine-tuning run is, as dataclasses. Paths are relative to the folder the command is typed in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.augment import Augmentation
from lsa_whisper.finetune.recipe.sections import Adapter, Evaluation, Loss
from lsa_whisper.whisper_constants import CONTEXT_S, DECODER_POSITIONS

_BYTES = 256


@dataclass(frozen=True)
class Data:
    """Where the prepared data are and how they are read."""

    train: str
    """Manifest of the training windows (``train.jsonl`` of ``lsa-whisper prepare``)."""
    dev: str | None = None
    """Manifest of the development windows; needed for evaluation during training."""
    workers: int = 0
    """Processes that read audio and compute features beside the training; 0 does it in between steps."""
    cache: bool = False
    """Keep the features in memory after the first epoch (small corpora: 30 h of 80 mels take about 1.7 GB); with
    ``workers``, in each of them."""
    trim: bool = False
    """Cut each training batch to its longest window, and put windows of like length together (unless ``training`` sets
    ``train_sampling_strategy``): no time is spent on silence. But it is in silence up to the whole context that the
    model hears a short window when it transcribes; see ``untrimmed``. Windows packed close to the context gain little.
    Evaluation always hears the whole context."""
    untrimmed: float = 0.1
    """With ``trim``: share of the batches left whole, so that the model goes on learning to write nothing for the
    silence after a short window; at 0 it may come to write words into it, at 1 nothing is trimmed."""
    augment: Augmentation = field(default_factory=Augmentation)
    """How training windows are varied each time they are heard."""


@dataclass(frozen=True)
class Scratch:
    """The shape of a new, small Whisper with random weights."""

    d_model: int
    """Width."""
    encoder_layers: int
    """Layers that hear."""
    decoder_layers: int
    """Layers that write."""
    heads: int
    """Attention heads in each layer."""
    mels: int = 80
    """Mel bands of the features."""
    context_s: float = CONTEXT_S
    """Longest window in whole seconds."""
    target_positions: int = DECODER_POSITIONS
    """Longest label in tokens."""
    vocabulary: int = 1000
    """Text tokens to learn; specials and timestamps come on top."""
    vocabulary_texts: tuple[str, ...] = ()
    """Manifests whose texts the vocabulary is learned from; the training manifest when empty."""
    dropout: float = 0.0
    """Share of activations dropped in training."""

    def problems(self) -> Iterator[str]:
        """Yield what is wrong, key first."""
        for name in ("encoder_layers", "decoder_layers", "heads", "mels", "target_positions"):
            if getattr(self, name) < 1:
                yield f"{name}: 1 or more, not {getattr(self, name)}"
        if self.d_model < 4 or self.d_model % 2 or (self.heads > 0 and self.d_model % self.heads):
            yield f"d_model: an even number from 4 on that its {self.heads} heads divide, not {self.d_model}"
        if not is_context(self.context_s):
            yield f"context_s: whole seconds from 1 on, not {self.context_s:g}"
        if self.vocabulary < _BYTES:
            yield f"vocabulary: {_BYTES} or more, a token for each byte at least, not {self.vocabulary}"
        if not 0 <= self.dropout < 1:
            yield f"dropout: from 0 up to 1, not {self.dropout:g}"


@dataclass(frozen=True)
class Model:
    """What is trained: a checkpoint's weights, or new ones."""

    base: str | None = None
    """A checkpoint directory or a hub name such as ``openai/whisper-large-v3``."""
    scratch: Scratch | None = None
    """Train new weights of this shape instead."""
    context_s: float | None = None
    """Hear windows of so many whole seconds instead of the checkpoint's own: shorter ones train faster."""
    decoder_layers: int | None = None
    """Give the base's decoder more layers, a multiple of its own; new ones change nothing until they are trained."""
    train: str = "all"
    """``all``, or ``decoder`` to leave the encoder as it is."""
    top_layers: int | None = None
    """Train only so many of the last layers of the encoder and of the decoder (of the decoder alone with ``train:
    decoder``), and the norms behind them; everything below and the token table stay."""
    dropout: float | None = None
    """Share of activations dropped in training, in place of the checkpoint's own; slows learning by heart."""
    ctc_weight: float = 0.0
    """Weight of an auxiliary CTC loss on the encoder; helps small models align (its head is not saved)."""


@dataclass(frozen=True)
class Offload:
    """Where that is kept which does not fit on the GPU."""

    optimizer: str = "none"
    """``none``, ``cpu`` or ``nvme``; with ``zero2`` and ``zero3``. A run with its optimizer on NVMe cannot go on after
    a stop."""
    parameters: str = "none"
    """``none``, ``cpu`` or ``nvme`` with ``zero3``; ``cpu`` with ``fsdp2`` takes gradients and optimizer along."""
    path: str | None = None
    """A folder on a fast local disk, for ``nvme``."""


@dataclass(frozen=True)
class Fsdp:
    """What ``fsdp2`` cuts into pieces, one for each process."""

    shard: str = "full"
    """``full``: parameters, gradients and optimizer; ``gradients``: parameters stay whole from a step's forward to its
    backward pass, which takes memory and saves traffic; ``hybrid``: pieces within a node, copies between nodes;
    ``none``: nothing, as ``ddp``."""
    low_ram: bool = False
    """Only the first process reads the weights and sends the others their pieces: for a host that cannot hold one copy
    for each GPU."""


@dataclass(frozen=True)
class Recipe:
    """One run."""

    data: Data
    """What to learn from."""
    out: str
    """The folder that will hold the checkpoint."""
    model: Model
    """What to train."""
    adapter: Adapter | None = None
    """Train an adapter instead of the weights themselves."""
    strategy: str = "single"
    """``single``, ``ddp``, ``zero2``, ``zero3`` or ``fsdp2``."""
    offload: Offload = field(default_factory=Offload)
    """Only with ``zero2``, ``zero3`` and ``fsdp2``."""
    fsdp: Fsdp = field(default_factory=Fsdp)
    """Only with ``fsdp2``."""
    deepspeed: dict[str, Any] = field(default_factory=dict)
    """Laid over the configuration that ``zero2`` and ``zero3`` give DeepSpeed, in DeepSpeed's own words."""
    auto_micro_batch: bool = False
    """When memory runs out, go on from the last saved step with a smaller ``per_device_train_batch_size`` and as much
    more accumulation: the steps stay the same. Only in one process (strategy ``single``)."""
    loss: Loss = field(default_factory=Loss)
    """What is added to plain cross-entropy."""
    evaluation: Evaluation | None = None
    """Look at the development set while training."""
    precision: str = "fp32"
    """``fp32``; ``bf16`` or ``fp16`` compute in 16 bits (autocast) over weights kept in fp32; ``pure-bf16`` keeps the
    weights themselves in bf16: half the memory, but small updates are rounded away; ``fp8`` multiplies matrices in 8
    bits on GPUs that can."""
    optimizer: str = "adamw"
    """``adamw`` (or what ``training.optim`` says); ``adafactor``, ``adamw-8bit`` (bitsandbytes) or ``adamw-cpu``
    (torchao: its state and step on the CPU, for one GPU) take less GPU memory."""
    seed: int = 0
    """Decides initial weights and the order of the data."""
    training: dict[str, Any] = field(default_factory=dict)
    """Handed to transformers' ``Seq2SeqTrainingArguments``; what the recipe says elsewhere (``out``, ``seed``, and with
    ``evaluation.keep_best`` when to save) is not said here."""


def is_context(seconds: float) -> bool:
    """Tell whether a model can hear so long: the settings of its features know whole seconds only."""
    return seconds >= 1 and seconds.is_integer()
