"""How much memory a fine-tuning run needs: counted from the model's shape, before anything is loaded.

Model states per trained parameter (Rajbhandari et al. 2020, ZeRO): fp32 master weight, gradient and two moments of
AdamW, 4 bytes each. Frozen weights cost their own 4 bytes. Activations follow from the layers' shapes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetune import recipe as recipes
from lsa_whisper.finetune.recipe import Adapter, Offload, Recipe

GIB = 2**30


@dataclass(frozen=True)
class Shape:
    """What decides a Whisper's size: width, layers, positions, mel bands and vocabulary."""

    width: int
    encoder_layers: int
    decoder_layers: int
    mels: int = 80
    vocabulary: int = 51865
    source_positions: int = 1500
    target_positions: int = 448

    @property
    def parameters(self) -> int:
        """Trainable numbers of the model; the encoder's sinusoidal positions count, the tied output layer does not.

        >>> SHAPES["large-v3"].parameters, SHAPES["tiny"].parameters
        (1543490560, 37760640)
        """
        d = self.width
        attention = 4 * d * d + 3 * d
        feed_forward = 8 * d * d + 5 * d
        norm = 2 * d
        encoder = self.encoder_layers * (attention + feed_forward + 2 * norm) + norm
        decoder = self.decoder_layers * (2 * attention + feed_forward + 3 * norm) + norm
        convolutions = 3 * self.mels * d + d + 3 * d * d + d
        tables = (self.vocabulary + self.source_positions + self.target_positions) * d
        return encoder + decoder + convolutions + tables

    def adapter_parameters(self, adapter: Adapter) -> int:
        """Numbers in a LoRA of this rank: ``2 * rank * width`` for each target layer of every attention block."""
        blocks = self.encoder_layers + 2 * self.decoder_layers
        square = len([t for t in adapter.targets if t in ("q_proj", "k_proj", "v_proj", "out_proj")])
        wide = len([t for t in adapter.targets if t in ("fc1", "fc2")])
        layers = self.encoder_layers + self.decoder_layers
        return adapter.rank * self.width * (2 * square * blocks + 5 * wide * layers)

    def activations(self, *, checkpointing: bool, target_tokens: int) -> int:
        """Bytes kept for the backward pass of one full window in 16-bit precision, attention not materialised."""
        encoder, decoder = self.source_positions * self.width * 2, target_tokens * self.width * 2
        per_layer = 1 if checkpointing else 17
        recomputed = 17 * encoder if checkpointing else 0
        logits = target_tokens * self.vocabulary * 4 * 2
        return (self.encoder_layers * encoder + self.decoder_layers * decoder * 2) * per_layer + recomputed + logits


SHAPES = {
    "tiny": Shape(384, 4, 4),
    "base": Shape(512, 6, 6),
    "small": Shape(768, 12, 12),
    "medium": Shape(1024, 24, 24),
    "large-v2": Shape(1280, 32, 32),
    "large-v3": Shape(1280, 32, 32, mels=128, vocabulary=51866),
    "large-v3-turbo": Shape(1280, 32, 4, mels=128, vocabulary=51866),
}


@dataclass(frozen=True)
class Plan:
    """One way to train and what it needs on each GPU and on the host, in GiB."""

    strategy: str
    gpu_gib: float
    host_gib: float
    fits: bool


@dataclass(frozen=True)
class Estimate:
    """Every strategy's plan for one model; the first that fits is recommended."""

    model: str
    parameters: int
    trained: int
    gpu_memory_gb: float
    plans: tuple[Plan, ...]

    @property
    def recommended(self) -> Plan | None:
        """The simplest plan that fits, ``None`` when none does."""
        return next((plan for plan in self.plans if plan.fits), None)

    def table(self) -> str:
        """Return the plans as lines of text."""
        lines = [
            f"{self.model}: {self.parameters / 1e6:,.0f} M parameters, {self.trained / 1e6:,.1f} M trained; "
            f"estimates, not measurements",
            f"{'strategy':<34}{'GPU GiB':>9}{'host GiB':>10}   fits {self.gpu_memory_gb:g} GB",
        ]
        lines += [
            f"{p.strategy:<34}{p.gpu_gib:>9.1f}{p.host_gib:>10.1f}   {'yes' if p.fits else 'no'}" for p in self.plans
        ]
        best = self.recommended
        lines.append(f"recommended: {best.strategy}" if best else "nothing fits; try an adapter or a smaller model")
        return "\n".join(lines)


def estimate_memory(
    model: str,
    *,
    recipe: Path | None = None,
    set: Sequence[str] = (),
    gpus: int = 1,
    gpu_memory: float = 24.0,
    batch_size: int = 1,
) -> Estimate:
    """Return what each strategy needs to train ``model``.

    Args:
        model: A size (``tiny`` ... ``large-v3-turbo``) or a checkpoint directory.
        recipe: Counts its adapter, batch size and checkpointing instead of the defaults.
        set: Overrides for the recipe.
        gpus: How many GPUs share the work.
        gpu_memory: GB of each GPU.
        batch_size: Windows per GPU and step, when there is no recipe.

    Raises:
        CheckpointError: If ``model`` is neither a known size nor a checkpoint directory.
    """
    shape = _shape(model)
    wanted = recipes.read(Path(recipe), set=set) if recipe else None
    adapter = wanted.adapter if wanted else None
    trained = shape.adapter_parameters(adapter) if adapter else shape.parameters
    frozen = shape.parameters if adapter else 0
    batch, checkpointing = _batch(wanted, batch_size)
    working = batch * shape.activations(checkpointing=checkpointing, target_tokens=min(128, shape.target_positions))
    plans = tuple(
        _plan(name, stage, offload, trained, frozen, working, gpus, gpu_memory)
        for name, stage, offload in _WAYS
        if not (stage == 0 and offload.optimizer != "none")
    )
    return Estimate(model, shape.parameters, trained, gpu_memory, plans)


_WAYS = (
    ("single or ddp", 0, Offload()),
    ("zero2", 2, Offload()),
    ("zero2, optimizer on cpu", 2, Offload("cpu")),
    ("zero3", 3, Offload()),
    ("zero3, optimizer on cpu", 3, Offload("cpu")),
    ("zero3, everything on cpu", 3, Offload("cpu", "cpu")),
    ("zero3, everything on nvme", 3, Offload("nvme", "nvme", "/local")),
)


def _plan(
    name: str, stage: int, offload: Offload, trained: int, frozen: int, working: int, gpus: int, gpu_memory: float
) -> Plan:
    """Return one row: weights (4 B), gradients (4 B) and moments (8 B), each shared or moved as the way says."""
    share = gpus if stage else 1
    weights = 4 * (trained + frozen) / (gpus if stage == 3 else 1)
    gradients = 4 * trained / share
    moments = 8 * trained / share
    gpu, host = 0.0, 0.0
    gpu += weights if offload.parameters == "none" else 0
    gpu += gradients + moments if offload.optimizer == "none" else 0
    host += weights * gpus if offload.parameters == "cpu" else 0
    host += (gradients + moments + 4 * trained / share) * gpus if offload.optimizer == "cpu" else 0
    buffers = 0.5 * GIB if stage == 3 else 0
    gpu_gib = (gpu + working + buffers) / GIB
    return Plan(name, gpu_gib, host / GIB, gpu_gib * GIB <= gpu_memory * 1e9 * 0.95)


def _batch(recipe: Recipe | None, batch_size: int) -> tuple[int, bool]:
    if recipe is None:
        return batch_size, True
    training = recipe.training
    return int(training.get("per_device_train_batch_size", 8)), bool(training.get("gradient_checkpointing", False))


def _shape(model: str) -> Shape:
    name = model.removeprefix("openai/whisper-")
    if name in SHAPES:
        return SHAPES[name]
    config = Path(model) / "config.json"
    if not config.is_file():
        raise CheckpointError(f"{model}: no checkpoint directory, and no size; sizes are {', '.join(SHAPES)}")
    read = json.loads(config.read_text("utf-8"))
    return Shape(
        read["d_model"],
        read["encoder_layers"],
        read["decoder_layers"],
        read["num_mel_bins"],
        read["vocab_size"],
        read["max_source_positions"],
        read["max_target_positions"],
    )
