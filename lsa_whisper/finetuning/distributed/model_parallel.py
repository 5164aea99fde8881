"""Model parallelism: the parts of a Whisper on each rank, of every layer or of the sequence of layers.

Tensor parallelism divides the matrices of each layer, by torch's DTensor. The ranks that share a layer compute on the
same windows, each with its part of the attention heads and of the feed-forward block (Shoeybi et al. 2019,
Megatron-LM): q, k, v and fc1 are divided by columns, out_proj and fc2 by rows. Every other weight (norms, convolutions,
embeddings with the tied output layer) is whole on each rank. With more ranks than ``tensor_parallel``, FSDP2 shards
what each has over a second dimension.

A stage of a pipeline has successive layers, whose weights are only on its rank. The layers of the encoder come first,
then those of the decoder. A stage of the decoder passes the encoder's states on together with its own.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.func import functional_call

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.system.library_internals import mask_features, with_other_children

COLUMNS, ROWS = ("q_proj", "k_proj", "v_proj", "fc1"), ("out_proj", "fc2")
_LAYERS = ("WhisperEncoderLayer", "WhisperDecoderLayer")


def ranks_of(recipe: RunSettings, processes: int) -> tuple[int, int]:
    """Return how many ranks share the windows of a step, and how many share a layer.

    Raises:
        RecipeError: If ``processes`` cannot be divided so.
    """
    sharers = recipe.tensor_parallel or processes
    if sharers < 2 or processes % sharers:
        raise RecipeError(
            f"tensor_parallel: {sharers} ranks share each layer, so the number of processes must be a multiple of that "
            f"(2 or more), not {processes}"
        )
    return processes // sharers, sharers


def parallelize(model: Any, recipe: RunSettings) -> Any:
    """Divide the layers of ``model`` among ranks in place; return the device mesh (``dp_shard``, ``tp``)."""
    windows, sharers = ranks_of(recipe, distributed.get_world_size())
    mesh = rank_mesh(recipe, windows, sharers)
    for module in list(model.modules()):
        if type(module).__name__ in _LAYERS:
            _divide_attention(module, mesh["tp"])
            parallelize_module(module, mesh["tp"], _plan(module))
    _replicate_rest(model, mesh["tp"])
    if windows > 1:
        _shard(model, mesh["dp_shard"])
    return mesh


def rank_mesh(recipe: RunSettings, windows: int, sharers: int) -> Any:
    """Return the device mesh of ``windows`` groups of ``sharers`` ranks, of which each trains on its own windows."""
    device = "cpu" if recipe.training.use_cpu or not torch.cuda.is_available() else "cuda"
    return init_device_mesh(device, (windows, sharers), mesh_dim_names=("dp_shard", "tp"))


def check_shape(config: Any, sharers: int) -> None:
    """Check that the layers of a model with transformers' ``config`` can be divided among ``sharers`` ranks.

    Raises:
        RecipeError: If the attention heads or the feed-forward blocks cannot.
    """
    sizes = {
        "attention heads": (config.encoder_attention_heads, config.decoder_attention_heads),
        "units of a feed-forward block": (config.encoder_ffn_dim, config.decoder_ffn_dim),
    }
    for part, numbers in sizes.items():
        if uneven := next((number for number in numbers if number % sharers), None):
            raise RecipeError(f"strategy: tensor_parallel cannot divide {uneven} {part} among {sharers} ranks")


def _divide_attention(layer: nn.Module, mesh: Any) -> None:
    """Divide the heads; without a LoRA, queries, keys and values share one exchange of their input's gradient."""
    has_adapter = any("lora_" in name for name, _ in layer.named_parameters())
    for module in layer.modules():
        if type(module).__name__ == "WhisperAttention":
            module.num_heads //= mesh.size()
            if not has_adapter:
                module.register_forward_pre_hook(functools.partial(_replicate_inputs, mesh), with_kwargs=True)


def _replicate_inputs(mesh: Any, _: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    def replica(value: Any) -> Any:
        return value if value is None else DTensor.from_local(value, mesh, [Replicate()], run_check=False)

    inputs = {name: replica(options[name]) for name in ("hidden_states", "key_value_states") if name in options}
    return tuple(map(replica, args[:1])) + args[1:], options | inputs


def _plan(layer: nn.Module) -> dict[str, Any]:
    """Return how each matrix of a layer is divided; of a LoRA, the factor next to the divided dimension is."""
    styles: dict[str, Any] = {}
    for name, module in layer.named_modules():
        parts = name.split(".")
        if not isinstance(module, nn.Linear):
            continue
        if set(parts) & set(COLUMNS) and "lora_A" not in parts:
            styles[name] = ColwiseParallel()
        elif set(parts) & set(ROWS) and "lora_B" not in parts:
            styles[name] = RowwiseParallel()
    return styles


def _replicate_rest(model: nn.Module, mesh: Any) -> None:
    """Make every other weight a DTensor, too, so that one optimizer step and one gradient norm cover all of them.

    The modules compute with plain tensors: not every operation of Whisper's is defined for DTensors.
    """
    replicas: dict[nn.Parameter, nn.Parameter] = {}
    for module in model.modules():
        plain = {name: weight for name, weight in _own(module) if not isinstance(weight, DTensor)}
        for name, weight in plain.items():
            if weight not in replicas:
                replica = distribute_tensor(weight.detach(), mesh, [Replicate()])
                replicas[weight] = nn.Parameter(replica, requires_grad=weight.requires_grad)
            module.register_parameter(name, replicas[weight])  # tied weights stay tied
        if plain:
            same = copy.copy(module)  # the same weights, with the forward pass of its class
            module.forward = functools.partial(_forward_with_plain_weights, same)


def _own(module: Any) -> Iterator[tuple[str, nn.Parameter]]:
    # With repeats: a tied weight belongs to two modules.
    yield from module.named_parameters(recurse=False, remove_duplicate=False)


def _forward_with_plain_weights(module: nn.Module, *args: Any, **options: Any) -> Any:
    weights = {name: weight.to_local() for name, weight in _own(module) if isinstance(weight, DTensor)}
    return functional_call(module, weights, args, options)


def _shard(model: nn.Module, mesh: Any) -> None:
    """Shard the weights of each layer, and those outside of layers, over the second dimension."""
    from torch.distributed.fsdp import fully_shard

    for module in list(model.modules()):
        if type(module).__name__ in _LAYERS:
            fully_shard(module, mesh=mesh)
    fully_shard(model, mesh=mesh)


def check_stages(recipe: RunSettings, processes: int) -> None:
    """Check that the micro-batches of ``recipe`` can pass through as many stages as there are processes.

    Raises:
        RecipeError: If 1F1B would have more stages than micro-batches.
    """
    parts = recipe.micro_batches(processes)
    if recipe.pipeline.schedule == "1f1b" and parts < processes:
        raise RecipeError(
            f"pipeline.micro_batches: 1f1b needs one for each of the {processes} stages at least, not {parts}; set "
            "more, leave it out, or set pipeline.schedule: gpipe"
        )


class Stage(nn.Module):  # type: ignore[misc]
    """A part of a Whisper, made of that model's own layers."""

    def __init__(self, model: Any, sizes: Sequence[int], number: int):
        """Take stage ``number`` of ``model``, whose stages have ``sizes`` layers each."""
        super().__init__()
        whisper = model.get_base_model() if hasattr(model, "get_base_model") else model
        encoder, decoder = whisper.get_encoder(), whisper.get_decoder()
        begin, end = sum(sizes[:number]), sum(sizes[: number + 1])
        border = len(encoder.layers)
        self.is_first, self.is_last = number == 0, number == len(sizes) - 1
        self.starts_decoder = begin <= border < end
        self._mask = mask_features(whisper)
        self.autocast: Callable[[], AbstractContextManager[Any]] = nullcontext
        self.encoder = self.decoder = self.output = None
        if begin < border:
            self.encoder = self._encoder_part(encoder, encoder.layers[begin:end], is_last=end >= border)
        if end > border:
            self.decoder = self._decoder_part(decoder, decoder.layers[max(0, begin - border) : end - border])
        if self.is_last:
            self.output = whisper.proj_out

    def _encoder_part(self, encoder: Any, layers: nn.ModuleList, *, is_last: bool) -> Any:
        front = () if self.is_first else ("conv1", "conv2", "embed_positions")
        absent = dict.fromkeys((*front, *(() if is_last else ("layer_norm",))), nn.Identity())
        return with_other_children(encoder, layers=layers, **absent)

    def _decoder_part(self, decoder: Any, layers: nn.ModuleList) -> Any:
        absent: dict[str, nn.Module] = {} if self.is_last else {"layer_norm": nn.Identity()}
        absent |= {} if self.starts_decoder else {"embed_tokens": nn.Identity(), "embed_positions": _NoPositions()}
        part = with_other_children(decoder, layers=layers, **absent)
        if not self.starts_decoder:
            part.dropout = 0.0  # that of the embeddings
        return part

    def forward(self, *received: torch.Tensor, decoder_input_ids: torch.Tensor) -> Any:
        """Return what the next stage takes, or the logits.

        It has received features, or states of the encoder, or states of the decoder and of the encoder; the ids are
        (batch, tokens).
        """
        with self.autocast():
            states = received[-1] if self.encoder is None else self._encoded(received[-1])
            if self.decoder is None:
                return states.contiguous()
            inputs = {"input_ids": decoder_input_ids} if self.starts_decoder else {"inputs_embeds": received[0]}
            output_states = self.decoder(**inputs, encoder_hidden_states=states, use_cache=False).last_hidden_state
            if self.output is None:
                return output_states.contiguous(), states.view_as(states).contiguous()
            return self.output(output_states)

    def _encoded(self, inputs: torch.Tensor) -> torch.Tensor:
        assert self.encoder is not None
        if self.is_first:
            states: torch.Tensor = self.encoder(self._mask(inputs)).last_hidden_state
            return states
        for layer in self.encoder.layers:
            inputs = layer(inputs, None)
        return self.encoder.layer_norm(inputs)


class _NoPositions(nn.Module):  # type: ignore[misc]
    """Positions of states that have theirs already."""

    def forward(self, states: torch.Tensor, **_: Any) -> torch.Tensor:
        return states.new_zeros(())


def stages_of(model: Any, sizes: Sequence[int]) -> list[Stage]:
    """Return every stage of a model whose stages have ``sizes`` layers each.

    Raises:
        RecipeError: If the model cannot be divided so.
    """
    config = model.config
    if config.encoder_layerdrop or config.decoder_layerdrop:
        raise RecipeError("strategy: pipeline cannot drop whole layers, as this model's config.json says (layerdrop)")
    return [Stage(model, sizes, number) for number in range(len(sizes))]


def keep_weights_of(stage: nn.Module, model: nn.Module) -> None:
    """Free the weights of ``model`` that ``stage`` does not use; they keep their names, but have no elements."""
    own = set(stage.parameters())
    for weight in model.parameters():
        if weight not in own:
            weight.data = weight.data.new_empty(0)
