"""Everything this package touches of other libraries' private or undocumented parts, each with its reason.

A private part may change with any release, so no other module touches one (a test reads the package's syntax trees).
DeepSpeed's are in :mod:`lsa_whisper.system.deepspeed_internals`. All of it was checked with transformers 5.17 and 5.23,
accelerate 1.15 and torch 2.13. Nothing is imported before it is needed.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# transformers: models


def empty_whisper(config: Any, dtype: Any) -> Any:
    """Return a Whisper on the ``meta`` device: shapes of all weights, no memory.

    ``_from_config`` is private, but the constructor takes neither a number type nor an attention implementation.
    """
    import torch
    from transformers import WhisperForConditionalGeneration

    with torch.device("meta"):
        return WhisperForConditionalGeneration._from_config(config, dtype=dtype)


def sinusoidal_positions(positions: int, width: int) -> Any:
    """Return the encoder's table of positions ``(positions, width)``; the function is an undocumented module global."""
    from transformers.models.whisper.modeling_whisper import sinusoids

    return sinusoids(positions, width)


def mask_features(whisper: Any) -> Callable[[Any], Any]:
    """Return SpecAugment as the model applies it in training mode, before its encoder; the method is private."""
    return whisper.model._mask_input_features  # type: ignore[no-any-return]


def with_other_children(module: Any, **children: Any) -> Any:
    """Return a module with the same weights and forward pass, in which some children are others.

    A shallow copy shares its dictionary of children with the original; that dictionary has no public name.
    """
    same = copy.copy(module)
    same._modules = module._modules | children
    return same


# transformers: training


def checkpointing_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return training arguments with gradient checkpointing under the names that the installed transformers knows.

    transformers 5.23 renamed ``gradient_checkpointing`` and ``gradient_checkpointing_kwargs`` to
    ``activation_checkpointing...``. It keeps the old names as aliases, which lose to the new ones; earlier versions
    know the old names only.
    """
    import dataclasses

    from transformers import TrainingArguments

    fields = {field.name for field in dataclasses.fields(TrainingArguments)}
    old, new = "gradient_checkpointing", "activation_checkpointing"
    name, alias = (new, old) if new in fields else (old, new)
    return {key.replace(alias, name) if key.startswith(alias) else key: value for key, value in arguments.items()}


def use_one_gpu(arguments: Any) -> None:
    """Make one process train on one GPU.

    With several visible GPUs, transformers would wrap the model in ``DataParallel``, which copies it to each in every
    step and adds up their losses as if they were one. The number is a private attribute without a setter.
    """
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1


class TrainerHooks:
    """Public hooks into private methods of transformers' ``Trainer``; to be inherited before it, and defined.

    ``Trainer`` offers callbacks, but they can neither skip an epoch nor wrap a checkpoint, replace the sampler, change
    a batch on its device, or write weights that were gathered before.
    """

    gathered_weights: Callable[[], dict[str, Any] | None]
    """Returns the weights to save, ``None`` for those of the model as it is; called in every process."""
    save_checkpoint: Callable[[Callable[[], None]], None]
    """Saves a checkpoint by calling its argument."""
    run_epoch: Callable[[int, Callable[[], None]], None]
    """Trains the epoch of the number that is given by calling its second argument."""
    prepared_batch: Callable[[dict[str, Any]], dict[str, Any]]
    """Returns a batch, which is on its device already, as the model takes it."""
    train_sampler: Callable[[Any, Callable[[], Any]], Any]
    """Returns the sampler of the training set; the second argument makes transformers' own."""
    eval_sampler: Callable[[Any], Any]
    """Returns the sampler of the development set."""

    def batch_on_device(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return a batch on the trainer's device, through :meth:`prepared_batch`."""
        return self._prepare_inputs(batch)

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Write the model: its gathered weights where there are any."""
        weights = self.gathered_weights()
        if weights is None:
            super().save_model(output_dir, _internal_call)  # type: ignore[misc]
        else:
            self._save(output_dir or self.args.output_dir, state_dict=weights)  # type: ignore[attr-defined]

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        self.save_checkpoint(functools.partial(super()._save_checkpoint, model, trial))  # type: ignore[misc]

    def _run_epoch(self, *args: Any, **options: Any) -> None:
        self.run_epoch(options["epoch"], functools.partial(super()._run_epoch, *args, **options))  # type: ignore[misc]

    def _prepare_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return self.prepared_batch(dict(super()._prepare_inputs(inputs)))  # type: ignore[misc]

    def _get_eval_sampler(self, eval_dataset: Any) -> Any:
        return self.eval_sampler(eval_dataset)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return self.train_sampler(train_dataset, functools.partial(super()._get_train_sampler, train_dataset))  # type: ignore[misc]


def length_grouped_indices(lengths: Sequence[float], group: int, generator: Any) -> list[int]:
    """Return all indices, shuffled so that each ``group`` has similar lengths; the function is undocumented."""
    from transformers.trainer_pt_utils import get_length_grouped_indices

    return list(get_length_grouped_indices(lengths, group, generator=generator))


def rotate_checkpoints(folder: str, *, keep: int | None, best: str | None) -> None:
    """Remove all but the newest ``keep`` checkpoints and the best one; the function is undocumented."""
    from transformers.trainer_utils import rotate_checkpoints as rotate

    rotate(folder, save_total_limit=keep, best_model_checkpoint=best)


# accelerate


def reset_training_state() -> None:
    """Clear what accelerate and transformers keep of a run in module globals, so that the process can start another.

    accelerate documents no way to do so.
    """
    from accelerate.state import AcceleratorState, GradientState

    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()
    load_undivided()


def load_undivided() -> None:
    """Let transformers load models on this rank alone, also after a run under ZeRO-3."""
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    unset_hf_deepspeed_config()


@contextmanager
def fsdp_on_cpu(trainer: Any) -> Iterator[None]:
    """Let accelerate, which is set up in this block, shard on a CPU too: it would silently train whole copies (DDP).

    accelerate enables its FSDP plugin for GPUs only; the plugin itself works on a CPU.
    """
    if trainer.args.fsdp_plugin_args is None or trainer.args.device.type != "cpu":
        yield
        return
    # accelerate refuses a parallelism configuration as long as the plugin is not there.
    layout, trainer.args.parallelism_config = trainer.args.parallelism_config, None
    yield
    from accelerate.state import PartialState
    from accelerate.utils import DistributedType, FullyShardedDataParallelPlugin
    from torch.distributed.fsdp import CPUOffloadPolicy

    accelerator = trainer.accelerator
    plugin = FullyShardedDataParallelPlugin(**trainer.args.fsdp_plugin_args)
    if isinstance(plugin.cpu_offload, CPUOffloadPolicy):
        plugin.cpu_offload = CPUOffloadPolicy(pin_memory=False)
    if accelerator.mixed_precision != "no":
        plugin.set_mixed_precision(accelerator.mixed_precision)
    accelerator.state.fsdp_plugin = plugin
    accelerator.state.distributed_type = DistributedType.FSDP
    PartialState._shared_state["distributed_type"] = DistributedType.FSDP
    trainer.is_fsdp_enabled = True
    if layout is not None:
        trainer.args.parallelism_config = accelerator.state.parallelism_config = layout
        accelerator.state.device_mesh = layout.get_device_mesh("cpu")


def share_batches(accelerator: Any, mesh: Any) -> None:
    """Give the ranks of the mesh's dimension ``tp`` the same batches, and leave the model unwrapped.

    accelerate's own tensor parallelism takes only models that transformers divided; Whisper has no plan for that. What
    it does for them, for the data loader, depends on the mesh alone. A model prepared for evaluation gets autocast,
    but no ``DistributedDataParallel``.
    """
    accelerator.state.device_mesh = mesh
    accelerator.prepare_model = functools.partial(accelerator.prepare_model, evaluation_mode=True)


def inner_optimizer(optimizer: Any) -> Any:
    """Return the optimizer that accelerate has wrapped, for its hooks; the attribute is undocumented."""
    return getattr(optimizer, "optimizer", optimizer)


def gather_once(accelerator: Any, copies: int, tensors: Any) -> Any:
    """Return what every rank has, like ``gather_for_metrics``, where ``copies`` neighbouring ranks have the same.

    ``gather_for_metrics`` would cut repeated windows off before the copies are removed; the number of windows in the
    last batch is an undocumented attribute.
    """
    from accelerate.utils import recursively_apply

    def once(tensor: Any) -> Any:
        ranks = accelerator.num_processes
        return tensor.unflatten(0, (ranks // copies, copies, -1))[:, 0].flatten(0, 1)

    gathered = recursively_apply(once, accelerator.gather(tensors))
    state = accelerator.gradient_state
    if state.end_of_dataloader and state.remainder > 0:
        return recursively_apply(lambda tensor: tensor[: state.remainder], gathered)
    return gathered


# silero-vad


@functools.cache
def _silero(weights: str) -> tuple[Any, Any]:
    """Return the model in a file, and its LSTM."""
    import torch

    model = torch.jit.load(weights, map_location="cpu").eval()._model
    lstm = torch.nn.LSTM(128, 128, batch_first=True)
    lstm.load_state_dict({f"{name}_l0": value for name, value in model.decoder.rnn.state_dict().items()})
    return model, lstm


class SileroStream:
    """Silero's model over a stream of sound at 16 kHz, many chunks at a time.

    The model's own call takes one chunk of 32 ms after another, which is 10 times as slow; its probabilities differ
    from these by at most 2e-5. Only its LSTM has a state; what comes before and after it is computed of all chunks at
    once, so its parts are called by their names, as release 6.2 has them.
    """

    def __init__(self, weights: str):
        """Load the model from a TorchScript file, once in a process."""
        import torch

        self._model, self._lstm = _silero(weights)
        self._state: Any = None
        self._before = torch.zeros(self._model.context_size_samples)

    def probabilities(self, samples: Any) -> list[float]:
        """Return the probability of speech in each chunk of ``samples``, a tensor ``(512 * n,)`` of float32."""
        import torch

        if not len(samples):
            return []
        sound = torch.cat((self._before, samples))
        self._before = sound[-len(self._before) :]
        chunks = sound.unfold(0, len(self._before) + 512, 512)
        encoded = self._model.encoder(self._model.run_extractors(chunks))
        hidden, self._state = self._lstm(encoded[None, :, :, 0], self._state)
        return self._model.decoder.decoder(hidden[0, :, :, None]).mean(dim=(1, 2)).tolist()  # type: ignore[no-any-return]
