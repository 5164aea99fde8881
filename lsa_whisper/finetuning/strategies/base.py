"""What is asked of a strategy, with the answers of a process that has the whole model, and of ranks that divide it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.distributed.ranks import join_ranks
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.settings.values import changed_values
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration
from lsa_whisper.finetuning.workload.parameters import MicroBatch, ParameterCounts

if TYPE_CHECKING:
    from lsa_whisper.checkpoint import StoredWeights
    from lsa_whisper.finetuning.distributed.division import Division
    from lsa_whisper.system.machine import Finding

Unread: TypeAlias = "StoredWeights | None"
RecipeRule = tuple[Collection[str], Callable[[RunSettings], Iterable[str]]]
"""The settings that a rule looks at, and the rule, which yields problems of a recipe."""


class GpuLoad(NamedTuple):
    """What is on one GPU: trained and frozen weights, how they are trained, and the windows of one pass."""

    counts: ParameterCounts
    configuration: TrainingConfiguration
    micro_batch: MicroBatch
    ranks: int


class Strategy:
    """How the training of a model is laid out over processes, and what follows from it.

    A strategy is a subclass in a file of its own and a row of ``STRATEGIES``. Its attributes say what distinguishes it
    from one process that has the whole model; its methods do what it does differently.
    """

    name: ClassVar[str]
    """As in a recipe."""
    own_settings: ClassVar[tuple[str, ...]] = ()
    """Settings of a recipe that only this strategy and others that name them have."""
    offloads: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What it can offload (``optimizer``, ``parameters``), and to where (``cpu``, ``nvme``)."""
    precisions: ClassVar[tuple[str, ...]] = ("fp32", "bf16", "fp16")
    """Precisions that it trains in."""

    is_single = False
    """Whether it has one process only."""
    needs_several = False
    """Whether it needs several processes."""
    has_whole_state = False
    """Whether each process has all weights, gradients and moments, to change their number, type or optimizer."""
    computes_base = False
    """Whether the base model can be computed beside the trained one."""
    divides_layers = False
    """Whether no process has all heads or all layers."""
    shards_weights = False
    """Whether each process keeps a part of the weights only."""
    shards_optimizer = False
    """Whether each process keeps a part of gradients and moments only."""
    uses_deepspeed = False
    """Whether DeepSpeed trains."""
    loads_by_weight = False
    """Whether one process reads the weights for all, one after the other."""
    offloads_together = False
    """Whether the optimizer is where the parameters are, so that a recipe does not name its place."""
    master_bytes = 0
    """Bytes of the optimizer's own copy of a weight."""

    @property
    def rules(self) -> Sequence[RecipeRule]:
        """Rules of recipes with this strategy."""
        return ()

    def precision_problem(self, precision: str, others: str) -> str:
        """Return what to do about a precision that only ``others`` train in."""
        return f"precision: {precision} needs strategy {others}; use bf16 with {self.name}"

    def changed_from(self, before: Strategy, recipe: RunSettings) -> Iterator[str]:
        """Yield the overrides by which a recipe with the strategy ``before`` has this one, without foreign settings."""
        if self is before:
            return
        yield f"strategy={self.name}"
        if "fsdp" not in self.own_settings:
            plain = type(recipe.fsdp)()
            yield from (f"fsdp.{key}={str(getattr(plain, key)).lower()}" for key in changed_values(recipe.fsdp))
        if recipe.deepspeed and "deepspeed" not in self.own_settings:
            yield "deepspeed={}"
        if recipe.auto_micro_batch and "auto_micro_batch" not in self.own_settings:
            yield "auto_micro_batch=false"

    def check_ranks(self, recipe: RunSettings, ranks: int) -> None:
        """Check that ``ranks`` processes can train ``recipe``.

        Raises:
            RecipeError: If they cannot.
        """
        if ranks == 1 and self.needs_several:
            raise RecipeError(
                f"strategy: {self.name} needs several processes, and this is the only one; use --processes, torchrun "
                "or srun (accelerate launch starts a single process on a CPU), or strategy: single"
            )

    def check_model(self, recipe: RunSettings, config: Any, ranks: int) -> None:
        """Check that a model can be divided among ``ranks`` processes.

        ``config`` is transformers' configuration of the model.

        Raises:
            RecipeError: If they cannot.
        """

    def window_ranks(self, recipe: RunSettings, ranks: int) -> int:
        """Return how many of ``ranks`` processes have windows of their own in a step."""
        return ranks

    def state_kind(self, recipe: RunSettings) -> str:
        """Return the kind of state in its checkpoints: a run resumes under every strategy with the same."""
        return self.name

    def check_requirements(self, recipe: RunSettings) -> None:
        """Check that what it needs is installed.

        Raises:
            LsaWhisperError: If something is not.
        """

    def machine_findings(self, recipe: RunSettings, swap_gib: float | None) -> Iterator[Finding]:
        """Yield the state of what it needs of this machine; ``swap_gib`` is the size of its swap files, if known."""
        return iter(())

    def start(self, recipe: RunSettings) -> None:
        """Initialize the process group, if it is needed before the model is loaded.

        Raises:
            LsaWhisperError: If it cannot be initialized.
        """

    def computes_in(self, recipe: RunSettings) -> str | None:
        """Return the type of its own autocast, ``None`` if transformers' trainer has one."""
        return None

    def trainer_arguments(self, recipe: RunSettings) -> dict[str, Any]:
        """Return what it adds to ``Seq2SeqTrainingArguments``.

        Raises:
            LsaWhisperError: If it cannot run with these processes or on this machine.
        """
        return {}

    def optimizer_class(self, recipe: RunSettings, arguments: Any) -> tuple[Any, dict[str, Any]] | None:
        """Return an optimizer of its own with its arguments, ``None`` for that of transformers."""
        return None

    def divide(self, model: Any, recipe: RunSettings, unread: Unread = None) -> Division | None:
        """Divide ``model`` among ranks if that is done before training; return how layers are divided, if they are.

        The model is changed in place; ``unread`` has the weights that are still to be read.
        """
        return None

    def on_ranks(self, configuration: TrainingConfiguration, ranks: int) -> TrainingConfiguration:
        """Return a configuration of this strategy as it runs in ``ranks`` processes."""
        return configuration

    def buffers(self, load: GpuLoad) -> tuple[int, int, int]:
        """Return the bytes of buffers on a GPU: permanent, in the forward pass only, in the optimizer step only.

        Autocast keeps a trained weight's 16-bit copy for the forward pass, a frozen one's as long as its layer.
        Adafactor allocates a squared gradient and an update, one weight at a time; where the step is taken in the
        backward pass, these and the weight and its gradient in fp32 exist beside activations.
        """
        counts, optimizer = load.counts, load.configuration.optimizer
        layer = counts.shape.largest_layer
        frozen = 2 * layer if load.micro_batch.checkpointing else counts.frozen - counts.quantized
        numbers = counts.trained + frozen if load.configuration.autocasts else 0
        if load.configuration.steps_in_backward:
            return (2 + 4 + 4 + 8) * counts.shape.largest_weight, 0, 0
        return 0, 2 * numbers, 8 * counts.shape.largest_weight if optimizer == "adafactor" else 0


class DividedLayers(Strategy):
    """A strategy under which no rank has all heads and layers: ranks with the same windows have parts of the model."""

    precisions = ("fp32", "bf16")
    needs_several = divides_layers = True

    @property
    def rules(self) -> Sequence[RecipeRule]:
        """Rules of adapters."""
        return ((("precision", "adapter"), self.adapter_problems),)

    def precision_problem(self, precision: str, others: str) -> str:
        """Return what to use in place of fp16, whose gradients every rank would scale by its own part."""
        if precision == "fp16":
            return f"precision: fp16 cannot scale the gradients of {self.name}; use bf16"
        return super().precision_problem(precision, others)

    def adapter_problems(self, recipe: RunSettings) -> Iterator[str]:
        """Yield what cannot be adapted."""
        if recipe.adapter is not None and recipe.adapter.token_embeddings:
            yield f"adapter.token_embeddings: {self.name} cannot train single embeddings; leave it out"

    def divide(self, model: Any, recipe: RunSettings, unread: Unread = None) -> Division:
        """Divide the model and let it load whole weights, of which each rank keeps its part."""
        from lsa_whisper.finetuning.distributed.division import load_whole_weights

        division = self.divide_layers(model, recipe)
        load_whole_weights(model)
        return division

    def divide_layers(self, model: Any, recipe: RunSettings) -> Division:
        """Divide the model in place."""
        raise NotImplementedError

    def start(self, recipe: RunSettings) -> None:
        """Initialize the process group, by whose ranks the model is divided."""
        join_ranks(self.name)
