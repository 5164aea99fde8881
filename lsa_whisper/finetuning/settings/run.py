"""The sections of a recipe that describe one fine-tuning run, and what strategies read of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from lsa_whisper.audio.augment import Augmentation
from lsa_whisper.checkpoint.whisper_constants import CONTEXT_S, DECODER_POSITIONS
from lsa_whisper.finetuning.settings.sections import MAX_WEIGHT, AdapterSettings, EvaluationSettings, TrainingSettings
from lsa_whisper.finetuning.settings.values import OneOf, Range, TranscribeOnly

PIPELINE_SCHEDULES = ("1f1b", "gpipe")
SHARDING_STRATEGIES = ("full_shard", "shard_grad_op", "hybrid_shard", "no_shard")
ATTENTIONS = ("sdpa", "flash_attention_2", "eager")
PLACES = ("none", "cpu", "nvme")
_BYTES = 256
_MEL_BINS = 128
"""As large-v3 has them; of more, the lowest would hold no frequency of the spectrum."""


@dataclass(frozen=True)
class CorpusSettings:
    """How much of one corpus a run trains on."""

    weight: Annotated[float, Range(above=0)] = 1.0
    """How often its windows are drawn in an epoch, on average: 2 for twice, 0.5 for every second epoch."""
    max_hours: Annotated[float | None, Range(above=0)] = None
    """Train on this many hours of it at most, chosen at random once for the run."""


@dataclass(frozen=True)
class DataSettings:
    """Where the prepared data are and how they are loaded."""

    train: str
    """Manifest of the training windows (``train.jsonl``, written by ``lsa-whisper prepare``), or the folder that it is
    in, whose ``dev.jsonl`` is then the dev set of ``evaluation``."""
    dev: str | None = None
    """Manifest of the dev set. Required by ``evaluation``."""
    language: str | None = None
    """Language of every window, as Whisper's code (``en``), in place of the manifests': for a language that the model
    does not know, name one that it does."""
    prompt: str | None = None
    """The text that the decoder reads before each window, in training and then in ``transcribe``. One with disfluencies
    (``um I I want uh the the dog. um uh wan- want it. Yeah.``) already makes a stock Whisper write them, so that few
    steps are enough. ``null`` keeps that of the base, if any."""
    task: Annotated[str, TranscribeOnly()] = "transcribe"
    """The task token before each label. Only ``transcribe``: the labels are what was spoken, in its language."""
    corpora: dict[str, CorpusSettings] = field(default_factory=dict)
    """How much of each corpus to train on, by its name in the manifest (the corpus card's, or the folder's); corpora
    that are not named are used in full."""
    spliced: Annotated[float | None, Range(least=0)] = None
    """Hours of spliced speech (``prepare --splice``) in an epoch for each hour of recorded speech, drawn again each
    epoch: with ``prepare --splice 8`` and 1 here, an epoch has about one of the eight versions of each utterance.
    ``null`` uses every window once in each epoch, 0 no spliced one."""
    workers: Annotated[int, Range(least=0)] = 0
    """Data loader processes that read audio and compute features. With 0 the training process does it itself."""
    cache: bool = False
    """Keep the features in memory after the first epoch (30 h with 80 mel bins take about 1.7 GB). With ``workers``
    each worker keeps its own copy. If the encoder is not trained and nothing changes its input, what it makes of each
    window is kept instead, up to 1 GiB (``single`` and ``ddp`` in fp32): training the decoder alone is then some times
    faster."""
    trim: bool = False
    """Cut the windows of each optimizer step one second after the longest of them, and take windows of similar length
    into the same step (unless ``trainer_args`` sets ``train_sampling_strategy``). This avoids computing on padding. The
    checkpoint notes it, and ``transcribe`` then decodes windows of at most 10 s and cuts them likewise, which is
    faster. Evaluation during training uses the full context."""
    full_length_share: Annotated[float, Range(least=0, most=1)] = 0.1
    """With ``trim``: share of the optimizer steps that keep the full context, so that the model continues to see
    silence after a short window. At 0 it may learn to insert words into that silence; at 1 no step is trimmed."""
    augment: Augmentation = field(default_factory=Augmentation)
    """Augmentation of the training windows, redrawn every epoch."""


@dataclass(frozen=True)
class ScratchModel:
    """Dimensions of a new, small Whisper model with random weights."""

    d_model: int
    """Width of the hidden states."""
    encoder_layers: Annotated[int, Range(least=1)]
    """Number of encoder layers."""
    decoder_layers: Annotated[int, Range(least=1)]
    """Number of decoder layers."""
    attention_heads: Annotated[int, Range(least=1)]
    """Attention heads per layer."""
    mel_bins: Annotated[int, Range(least=1), Range(most=_MEL_BINS)] = 80
    """Mel bins of the input features."""
    context_s: float = CONTEXT_S
    """Longest window, in whole seconds."""
    max_target_positions: Annotated[int, Range(least=1)] = DECODER_POSITIONS
    """Longest label sequence, in tokens."""
    vocab_size: int = 1000
    """Text tokens to learn (byte-pair encoding); special tokens and timestamps are added to these."""
    vocab_manifests: tuple[str, ...] = ()
    """Manifests whose texts the vocabulary is learned from. Default: the training manifest."""
    dropout: Annotated[float, Range(least=0, below=1)] = 0.0
    """Dropout probability."""

    def problems(self) -> Iterator[str]:
        """Yield each problem, starting with its key."""
        heads = self.attention_heads
        if self.d_model < 4 or self.d_model % 2 or (heads > 0 and self.d_model % heads):
            yield f"d_model: must be even, 4 or more, and a multiple of the {heads} attention heads, not {self.d_model}"
        if not is_valid_context(self.context_s):
            yield f"context_s: must be a whole number of seconds, 1 or more, not {self.context_s:g}"
        if self.vocab_size < _BYTES:
            yield f"vocab_size: must be {_BYTES} or more (one token for each byte), not {self.vocab_size}"


@dataclass(frozen=True)
class ModelSettings:
    """The model to train: a checkpoint, or new weights."""

    base: str | None = None
    """Checkpoint folder, Hub name such as ``openai/whisper-large-v3``, or short name such as ``large-v3``. For an
    adapter's folder, see ``adapter.second_stage``."""
    scratch: ScratchModel | None = None
    """Train a new model with these dimensions instead."""
    context_s: float | None = None
    """Window length in whole seconds, in place of the checkpoint's own. Shorter windows train faster."""
    decoder_layers: Annotated[int | None, Range(least=1)] = None
    """Number of decoder layers after adding new ones; a multiple of the base's number. New layers start as the
    identity, so that the output is unchanged before training."""
    freeze_encoder: bool = False
    """Train the decoder only."""
    top_layers: Annotated[int | None, Range(least=1)] = None
    """Train only this many of the last layers of the encoder and of the decoder (with ``freeze_encoder``: of the
    decoder), with their final layer norms. Lower layers and the token embeddings stay frozen."""
    dropout: Annotated[float | None, Range(least=0, below=1)] = None
    """Dropout probability in training, in place of the checkpoint's own. Reduces overfitting."""
    attention: Annotated[str, OneOf(*ATTENTIONS)] = "sdpa"
    """Implementation of attention: ``sdpa`` (torch's own, which stores no matrix of scores), ``flash_attention_2``
    (needs the package flash-attn, a GPU and 16-bit precision) or ``eager`` (plain matrix products; slow)."""
    ctc_weight: Annotated[float, Range(least=0), Range(most=MAX_WEIGHT)] = 0.0
    """Weight of an auxiliary CTC loss on the encoder. Helps small models to learn alignment. The CTC head is not
    saved."""


@dataclass(frozen=True)
class OffloadSettings:
    """Where to keep training state that does not fit in GPU memory."""

    optimizer: Annotated[str, OneOf(*PLACES)] = "none"
    """``none``, ``cpu`` or ``nvme``; with ``zero2`` and ``zero3``. A run with its optimizer on NVMe cannot be
    resumed."""
    parameters: Annotated[str, OneOf(*PLACES)] = "none"
    """``none``, ``cpu`` or ``nvme`` with ``zero3``; ``none`` or ``cpu`` with ``fsdp2``, where ``cpu`` also offloads
    gradients and optimizer."""
    nvme_path: str | None = None
    """Folder on a fast local disk. Required by ``nvme``."""


@dataclass(frozen=True)
class FsdpSettings:
    """Settings of the ``fsdp2`` strategy."""

    sharding_strategy: Annotated[str, OneOf(*SHARDING_STRATEGIES)] = "full_shard"
    """``full_shard``: shard parameters, gradients and optimizer state. ``shard_grad_op``: keep the parameters gathered
    between forward and backward pass, which uses more memory and less communication. ``hybrid_shard``: shard within a
    node, replicate across nodes. ``no_shard``: replicate everything, as ``ddp`` does."""
    cpu_ram_efficient_loading: bool = False
    """Only rank 0 reads the weights and broadcasts the shards. For hosts that cannot hold one copy of the model per
    GPU."""


@dataclass(frozen=True)
class PipelineSettings:
    """Settings of the ``pipeline`` strategy."""

    schedule: Annotated[str, OneOf(*PIPELINE_SCHEDULES)] = "1f1b"
    """``1f1b``: each stage alternates forward and backward passes, so that it keeps the activations of no more
    micro-batches than there are stages (Narayanan et al. 2021). ``gpipe``: all forward passes first (Huang et al.
    2019)."""
    micro_batches: Annotated[int | None, Range(least=1)] = None
    """Parts of a batch that follow each other through the stages: the more, the less the stages wait. By default, one
    for each window of ``training.per_device_train_batch_size``, and as many as there are stages at least."""


class RunSettings:
    """What strategies read of a recipe; it says there what each setting does."""

    strategy: str
    adapter: AdapterSettings | None
    model: ModelSettings
    tensor_parallel: int | None
    pipeline: PipelineSettings
    offload: OffloadSettings
    fsdp: FsdpSettings
    deepspeed: dict[str, Any]
    auto_micro_batch: bool
    evaluation: EvaluationSettings | None
    precision: str
    training: TrainingSettings

    def micro_batches(self, stages: int) -> int:
        """Return the parts of a batch that follow each other through the ``stages`` of a pipeline."""
        return self.pipeline.micro_batches or max(self.training.per_device_train_batch_size, stages)


def is_valid_context(seconds: float) -> bool:
    """Return whether a context length is valid: feature extractors store it as a whole number of seconds."""
    return seconds >= 1 and seconds.is_integer()
