"""Whole weights and optimizer states of a model whose weights are DTensors: gathered to save, divided to load.

Files then are those of one process, whatever the ranks: a checkpoint loads with plain transformers, and a run resumes
with any number of ranks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import distributed
from torch.distributed.tensor import DTensor, distribute_tensor


def is_divided(model: torch.nn.Module) -> bool:
    """Return whether the weights of ``model`` are DTensors."""
    return any(isinstance(weight, DTensor) for weight in model.parameters())


def whole_weights(model: torch.nn.Module, *, only_trained: bool) -> dict[str, torch.Tensor]:
    """Return the whole weights on the CPU of rank 0, one gathered after the other; every rank must call this."""
    first, found = distributed.get_rank() == 0, {}
    for name, weight in model.named_parameters(remove_duplicate=False):
        if weight.requires_grad or not only_trained:
            gathered = _gathered(weight.detach())
            if first:
                found[name] = gathered.to("cpu", copy=True)
    return found


def _gathered(value: Any) -> Any:
    return value.full_tensor() if isinstance(value, DTensor) else value


def load_whole_weights(model: torch.nn.Module) -> None:
    """Let ``load_state_dict`` of ``model`` accept whole weights, of which each rank keeps its part."""

    def divide(module: torch.nn.Module, state: dict[str, Any], *_: Any) -> None:
        targets = dict(module.named_parameters(remove_duplicate=False))
        for name, value in state.items():
            if isinstance(targets.get(name), DTensor) and not isinstance(value, DTensor):
                state[name] = _like(value, targets[name])

    model.register_load_state_dict_pre_hook(divide)


def load_whole_state(optimizer: torch.optim.Optimizer) -> None:
    """Let ``load_state_dict`` of ``optimizer`` accept whole moments, of which each rank keeps its part."""

    def divide(optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> dict[str, Any]:
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        divided = {place: _divided(each, parameters[place]) for place, each in state["state"].items()}
        return state | {"state": divided}

    optimizer.register_load_state_dict_pre_hook(divide)


def _divided(state: Mapping[str, Any], parameter: Any) -> dict[str, Any]:
    return {
        name: _like(value, parameter) if torch.is_tensor(value) and value.shape == parameter.shape else value
        for name, value in state.items()
    }


def _like(value: torch.Tensor, target: DTensor) -> DTensor:
    mesh = target.device_mesh
    return distribute_tensor(value.to(mesh.device_type), mesh, target.placements, src_data_rank=None)


@contextlib.contextmanager
def whole_state_saved(optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """Let ``optimizer.state_dict()`` of rank 0 return whole moments in this block; every rank must enter it."""
    moments: dict[Any, dict[str, Any]] = {}
    for place, state in optimizer.state_dict()["state"].items():
        gathered = {name: _gathered(value) for name, value in state.items()}
        if distributed.get_rank() == 0:
            moments[place] = {
                name: value.cpu() if torch.is_tensor(value) else value for name, value in gathered.items()
            }
    handle = optimizer.register_state_dict_post_hook(lambda _, found: found | {"state": moments})
    try:
        yield
    finally:
        handle.remove()
