"""Memory estimates for every training configuration of a model, with a recommendation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from lsa_whisper.finetune import recipe as recipes
from lsa_whisper.finetune.memory import configuration as choice
from lsa_whisper.finetune.memory.activations import MicroBatch
from lsa_whisper.finetune.memory.parameter_counts import ParameterCounts
from lsa_whisper.finetune.memory.plan import Hardware, Plan, TrainingJob
from lsa_whisper.finetune.memory.shape import recipe_shape, shape_of
from lsa_whisper.finetune.recipe import Recipe
from lsa_whisper.machine import GIB, available_memory_gib

_COLUMNS = ("weights", "gradients", "optimizer", "activations", "buffers")
_NO_GPU = (
    "Without a GPU, offloading to the CPU frees nothing and keeps additional copies: it needs MORE memory than plain "
    "AdamW (single). To save memory, train a LoRA or offload the optimizer to a disk (nvme)."
)


@dataclass(frozen=True)
class Estimate:
    """The plans of every training configuration of a model, in order of preference."""

    model: str
    parameters: int
    trained: int
    plans: tuple[Plan, ...]

    @property
    def hardware(self) -> Hardware:
        """The hardware that the plans were checked against."""
        return self.plans[0].job.hardware

    @property
    def recommended(self) -> Plan | None:
        """The first plan that fits with one process per GPU, ``None`` if none does."""
        return next((plan for plan in self.plans if plan.fits and plan.job.supports(plan.configuration)), None)

    def table(self) -> str:
        """Return the plans as a table in plain text, with the recommendation."""
        return "\n".join([*self._head(), *map(self._row, self.plans), *self._notes(), *self._advice()])

    @property
    def _width(self) -> int:
        return max(len(plan.name) for plan in self.plans)

    def _head(self) -> Iterator[str]:
        micro_batch, hardware = self.plans[0].micro_batch, self.hardware
        on = f"{hardware.gpus} GPU(s) of {hardware.gpu_gib:g} GiB" if hardware.gpus else "no GPU"
        host = f", a host with {hardware.host_gib:.1f} GiB" if hardware.host_gib is not None else ""
        numbers = f"{self.parameters / 1e6:,.0f} M parameters, {self.trained / 1e6:,.1f} M trained"
        yield f"{self.model}: {numbers}; {on}{host}"
        yield (
            f"micro-batch of {micro_batch.batch}, labels of {micro_batch.label_tokens} tokens, "
            f"{'with' if micro_batch.checkpointing else 'without'} gradient checkpointing; estimates in GiB"
        )
        parts = "".join(f"{column:>12}" for column in _COLUMNS) + f"{'GPU peak':>10}" if hardware.gpus else ""
        yield f"{'configuration':<{self._width}}{parts}{'host':>8}{'disk':>8}  fits"

    def _row(self, plan: Plan) -> str:
        parts = (
            "".join(f"{getattr(plan.memory, column) / GIB:>12.1f}" for column in _COLUMNS) + f"{plan.gpu_gib:>10.1f}"
        )
        fits = "yes" if plan.fits else f"no ({', '.join(plan.exceeded)})"
        shown = parts if self.hardware.gpus else ""
        return f"{plan.name:<{self._width}}{shown}{plan.host_gib:>8.1f}{plan.disk_gib:>8.1f}  {fits}"

    def _notes(self) -> Iterator[str]:
        if not self.hardware.gpus:
            yield _NO_GPU
            return
        yield (
            "Each part is shown at its own peak; these do not coincide, so the GPU peak may be less than their sum. "
            "Host and disk include all processes and checkpoints."
        )

    def _advice(self) -> Iterator[str]:
        best = self.recommended
        if best is None:
            yield "recommended: nothing fits; try a LoRA, gradient checkpointing, a batch of 1 or a smaller model"
            return
        best = best.largest_batch()
        yield f"recommended: {best.name}, micro-batch of {best.micro_batch.batch}; in the recipe:"
        yield "".join(f"    {line}\n" for line in yaml.safe_dump(best.settings(), sort_keys=False).splitlines())[:-1]


def estimate_memory(
    model: str,
    *,
    recipe: Path | None = None,
    set: Sequence[str] = (),
    gpus: int = 1,
    gpu_memory: float = 24.0,
    host_memory: float | None = None,
    batch_size: int | None = None,
    label_tokens: int = 128,
) -> Estimate:
    """Return the memory that each training configuration of ``model`` needs.

    Args:
        model: A size (``tiny`` ... ``large-v3-turbo``) or a checkpoint directory.
        recipe: Recipe whose adapter, trained weights, batch, checkpointing and workers replace the defaults.
        set: Overrides for the recipe.
        gpus: Number of GPUs; 0 trains on the CPU.
        gpu_memory: GiB of each GPU (a GPU sold as 24 GB has 24 GiB).
        host_memory: GiB of host memory; by default, this machine's without a GPU, and no limit with GPUs.
        batch_size: Windows per micro-batch; by default the recipe's, or 1.
        label_tokens: Tokens in the longest label; 30 s of speech are about 100 to 150 tokens.

    Raises:
        CheckpointError: If ``model`` is neither a known size nor a checkpoint directory.
        RecipeError: If the recipe has problems.
    """
    shape = shape_of(model)
    settings = recipes.read_recipe(Path(recipe), set=set) if recipe else None
    host = available_memory_gib() if gpus == 0 and host_memory is None else host_memory
    hardware = Hardware(gpus, gpu_memory, host)
    job = (
        TrainingJob(shape, hardware, settings.model, settings.data.workers)
        if settings
        else TrainingJob(shape, hardware)
    )
    micro_batch = micro_batch_of(settings, batch_size, label_tokens)
    plans = tuple(job.plan(configuration, micro_batch) for configuration in configurations_for(hardware, settings))
    trained = ParameterCounts.of(shape, settings.adapter, settings.model) if settings else ParameterCounts.of(shape)
    return Estimate(model, shape.parameters, trained.trained, plans)


def configurations_for(hardware: Hardware, recipe: Recipe | None = None) -> tuple[choice.TrainingConfiguration, ...]:
    """Return the training configurations possible on ``hardware``, with the recipe's adapter and swap folder."""
    every = (
        choice.training_configurations(recipe.adapter, recipe.offload.nvme_path or choice.SWAP)
        if recipe
        else choice.training_configurations(None)
    )
    # torchao's CPU optimizer needs a GPU to offload from.
    return tuple(configuration for configuration in every if hardware.gpus or configuration.optimizer != "adamw-cpu")


def estimate_run(recipe: Recipe, hardware: Hardware, *, processes: int = 1, label_tokens: int = 128) -> Plan:
    """Return the plan of ``recipe`` as it stands.

    Raises:
        CheckpointError: If its model is neither on this machine nor of a known size.
    """
    job = TrainingJob(
        recipe_shape(recipe), hardware, recipe.model, recipe.data.workers, processes, recipe.checkpoints_on_disk
    )
    configuration = choice.configuration_of(recipe)
    if configuration.strategy == "single" and max(hardware.gpus, processes) > 1:
        configuration = dataclasses.replace(
            configuration, strategy="ddp"
        )  # as transformers does with several processes
    return job.plan(configuration, micro_batch_of(recipe, None, label_tokens))


def micro_batch_of(recipe: Recipe | None, batch_size: int | None, label_tokens: int) -> MicroBatch:
    """Return the micro-batch of a recipe; without one, one window with gradient checkpointing."""
    if recipe is None:
        return MicroBatch(batch_size or 1, label_tokens)
    training = recipe.training
    return MicroBatch(
        batch=batch_size or training.per_device_train_batch_size,
        label_tokens=label_tokens,
        checkpointing=training.gradient_checkpointing,
        accumulates=training.gradient_accumulation_steps > 1,
        uses_base=recipe.loss.kl_to_base > 0,
    )
