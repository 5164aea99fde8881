"""Models that are divided or sharded among ranks: their layers, and whole weights and states, gathered or divided.

A divided model's weights are DTensors, of which each rank has a part, or under a pipeline plain tensors, of which each
rank has some and others without elements in place of the rest. Files are those of one process, whatever the ranks: a
checkpoint loads with plain transformers, and a run resumes with any number of ranks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed
from torch.distributed.tensor import DTensor, distribute_tensor

from lsa_whisper.finetuning.distributed import zero
from lsa_whisper.finetuning.distributed.pipeline import Pipeline
from lsa_whisper.system.deepspeed_internals import destroy_deepspeed, destroy_engine
from lsa_whisper.system.library_internals import reset_training_state


@dataclass(frozen=True)
class Division:
    """A model that is divided among ranks which train on the same windows.

    Attributes:
        mesh: The device mesh; the ranks with the same windows are its dimension ``tp``.
        pipeline: The schedule of stages; ``None`` if each layer is divided.
    """

    mesh: Any
    pipeline: Pipeline | None = None


def gather_weights(trainer: Any) -> dict[str, Any] | None:
    """Return the gathered weights of a sharded model, ``None`` if it is not sharded; every rank must call this.

    For a model with an adapter only trained weights are gathered, since only these are saved.
    """
    has_adapter = hasattr(trainer.model, "peft_config")
    if trainer.is_deepspeed_enabled:
        weights = zero.gather_zero_weights(trainer.model_wrapped, only_trained=has_adapter)
    elif trainer.is_fsdp_enabled:
        weights = dict(trainer.accelerator.get_state_dict(trainer.model))
    elif is_divided(trainer.model):
        weights = whole_weights(trainer.model, only_trained=has_adapter)
    else:
        return None
    return weights if has_adapter else without_tied(trainer.model, weights)


def layers_are_sharded(model: Any) -> bool:
    """Return whether layers are sharded over ranks, so that all ranks must run the same number of forward passes."""
    from transformers.integrations import is_deepspeed_zero3_enabled

    alone = not distributed.is_initialized() or distributed.get_world_size() == 1
    return not alone and (is_deepspeed_zero3_enabled() or hasattr(model, "unshard"))


@contextlib.contextmanager
def root_unsharded(model: Any) -> Iterator[None]:
    """Unshard what FSDP2 shards outside the layers: generation calls the encoder without the root module."""
    if not hasattr(model, "unshard"):
        yield
        return
    model.unshard()
    try:
        yield
    finally:
        model.reshard()


_last_group: list[Any] = []
"""The process group of the last run, which a model under DDP owns, too.

gloo's threads hold the tensors of the last collective and need the GIL to release them. Whoever lets go of a group last
waits for these threads: a model does so with the GIL, so that both wait forever, and this list without. On one core,
two ranks hung within five of 400 small runs, and in none of 400 with this list."""


def finish_distributed(accelerator: Any) -> None:
    """Wait for all ranks, then destroy the process group."""
    accelerator.wait_for_everyone()
    if distributed.is_initialized():
        _last_group[:] = [distributed.group.WORLD]
    destroy_engine(accelerator)
    destroy_deepspeed()
    accelerator.end_training()


def reset_distributed() -> None:
    """Clear the libraries' global state of this run, so that this process can start another."""
    # Several ranks after a failure cannot synchronize.
    if distributed.is_initialized() and distributed.get_world_size() == 1:
        destroy_deepspeed()
        if distributed.is_initialized():
            distributed.destroy_process_group()
    reset_training_state()


EMBEDDINGS, OUTPUT = "model.decoder.embed_tokens.weight", "proj_out.weight"
"""Names of the token embeddings and of the output matrix, which Whisper ties to them."""


def is_divided(model: torch.nn.Module) -> bool:
    """Return whether this rank does not have all weights of ``model`` as plain tensors."""
    return any(isinstance(weight, DTensor) or is_on_other_ranks(weight) for weight in model.parameters())


def is_on_other_ranks(weight: torch.Tensor) -> bool:
    """Return whether other ranks have this weight."""
    return bool(weight.numel() == 0)


def without_tied(model: torch.nn.Module, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return weights without Whisper's output matrix where it is the token embeddings: a file holds them once."""
    tied = bool(getattr(getattr(model, "config", None), "tie_word_embeddings", False))
    return {name: weight for name, weight in weights.items() if not (tied and name == OUTPUT)}


def whole_weights(model: torch.nn.Module, *, only_trained: bool) -> dict[str, torch.Tensor]:
    """Return the whole weights on the CPU of rank 0, one gathered after the other; every rank must call this."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    weights = {name: weight for name, weight in parameters.items() if weight.requires_grad or not only_trained}
    if any(map(is_on_other_ranks, parameters.values())):
        return _collected({name: weight.detach() for name, weight in weights.items() if not is_on_other_ranks(weight)})
    first, copies = distributed.get_rank() == 0, {}
    for name, weight in weights.items():
        value = _gathered(weight.detach())
        if first:
            copies[name] = value.to("cpu", copy=True)
    return copies


def _collected(own: Mapping[Any, torch.Tensor]) -> dict[Any, torch.Tensor]:
    """Return on rank 0 copies of all ranks' tensors on the CPU, sent one after the other; every rank must call this."""
    rank, layouts = distributed.get_rank(), [dict[Any, Any]()] * distributed.get_world_size()
    distributed.all_gather_object(layouts, {key: (tensor.shape, tensor.dtype) for key, tensor in own.items()})
    owners = {key: number for number, has in reversed([*enumerate(layouts)]) for key in has}
    device, state = "cuda" if distributed.get_backend() == "nccl" else "cpu", {}
    for key, owner in owners.items():
        if owner == rank == 0:
            state[key] = own[key].to("cpu", copy=True)
        elif owner == rank:
            distributed.send(own[key].to(device).contiguous(), 0)
        elif rank == 0:
            shape, dtype = layouts[owner][key]
            sent = torch.empty(shape, dtype=dtype, device=device)
            distributed.recv(sent, owner)
            state[key] = sent.cpu()
    return state


def _gathered(value: Any) -> Any:
    return value.full_tensor() if isinstance(value, DTensor) else value


def load_whole_weights(model: torch.nn.Module) -> None:
    """Let ``load_state_dict`` of ``model`` accept whole weights, of which each rank keeps its part."""

    def divide(module: torch.nn.Module, state: dict[str, Any], *_: Any) -> None:
        if EMBEDDINGS in state and OUTPUT not in state:  # a stage may have only one of the two
            state[OUTPUT] = state[EMBEDDINGS]
        targets = dict(module.named_parameters(remove_duplicate=False))
        for name, value in state.items():
            target = targets.get(name)
            if target is not None and is_on_other_ranks(target):
                state[name] = target.detach()
            elif isinstance(target, DTensor) and not isinstance(value, DTensor):
                state[name] = _like(value, target)

    model.register_load_state_dict_pre_hook(divide)


def load_whole_state(optimizer: torch.optim.Optimizer) -> None:
    """Let ``load_state_dict`` of ``optimizer`` accept whole moments, of which each rank keeps its part."""

    def divide(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> dict[str, Any]:
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        parts = {
            place: _divided(moments, parameters[place])
            for place, moments in state["state"].items()
            if not is_on_other_ranks(parameters[place])
        }
        return state | {"state": parts}

    optimizer.register_load_state_dict_pre_hook(divide)


def _divided(state: Mapping[str, Any], parameter: Any) -> dict[str, Any]:
    return {
        name: _like(value, parameter)
        if isinstance(parameter, DTensor) and torch.is_tensor(value) and value.shape == parameter.shape
        else value
        for name, value in state.items()
    }


def _like(value: torch.Tensor, target: DTensor) -> DTensor:
    mesh = target.device_mesh
    return distribute_tensor(value.to(mesh.device_type), mesh, target.placements, src_data_rank=None)


@contextlib.contextmanager
def whole_state_saved(optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """Let ``optimizer.state_dict()`` of rank 0 return whole moments in this block; every rank must enter it."""
    moments = _moments(optimizer)
    handle = optimizer.register_state_dict_post_hook(lambda _, state: state | {"state": moments})
    try:
        yield
    finally:
        handle.remove()


def _moments(optimizer: torch.optim.Optimizer) -> dict[Any, dict[str, Any]]:
    """Return the whole moments on rank 0, by the place of their weight; every rank must call this."""
    own, moments = optimizer.state_dict()["state"], dict[Any, dict[str, Any]]()
    weights = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if not any(isinstance(weight, DTensor) for weight in weights):  # stages; one may have every trained weight
        flat = {(place, name): value for place, state in own.items() for name, value in state.items()}
        for (place, name), value in _collected(flat).items():
            moments.setdefault(place, {})[name] = value
        return moments
    for place, state in own.items():
        values = {name: _gathered(value) for name, value in state.items()}
        if distributed.get_rank() == 0:
            moments[place] = {name: value.cpu() if torch.is_tensor(value) else value for name, value in values.items()}
    return moments
