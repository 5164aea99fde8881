"""One stage of a pipeline: successive layers of a Whisper, whose weights are only on this rank.

The layers of the encoder come first, then those of the decoder. A stage of the decoder passes the encoder's states on
together with its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from lsa_whisper.errors import RecipeError
from lsa_whisper.system.library_internals import mask_features, with_other_children

if TYPE_CHECKING:
    from lsa_whisper.finetuning.recipe import Recipe


def check_stages(recipe: Recipe, processes: int) -> None:
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
        others = dict.fromkeys((*front, *(() if is_last else ("layer_norm",))), nn.Identity())
        return with_other_children(encoder, layers=layers, **others)

    def _decoder_part(self, decoder: Any, layers: nn.ModuleList) -> Any:
        others: dict[str, nn.Module] = {} if self.is_last else {"layer_norm": nn.Identity()}
        others |= {} if self.starts_decoder else {"embed_tokens": nn.Identity(), "embed_positions": _NoPositions()}
        part = with_other_children(decoder, layers=layers, **others)
        if not self.starts_decoder:
            part.dropout = 0.0  # that of the embeddings
        return part

    def forward(self, *received: torch.Tensor, decoder_input_ids: torch.Tensor) -> Any:
        """Return what the next stage takes, or the logits.

        Args:
            received: Features, or states of the encoder, or states of the decoder and of the encoder.
            decoder_input_ids: (batch, tokens).
        """
        with self.autocast():
            states = received[-1] if self.encoder is None else self._encoded(received[-1])
            if self.decoder is None:
                return states.contiguous()
            inputs = {"input_ids": decoder_input_ids} if self.starts_decoder else {"inputs_embeds": received[0]}
            found = self.decoder(**inputs, encoder_hidden_states=states, use_cache=False).last_hidden_state
            if self.output is None:
                return found.contiguous(), states.view_as(states).contiguous()
            return self.output(found)

    def _encoded(self, given: torch.Tensor) -> torch.Tensor:
        assert self.encoder is not None
        if self.is_first:
            states: torch.Tensor = self.encoder(self._mask(given)).last_hidden_state
            return states
        for layer in self.encoder.layers:
            given = layer(given, None)
        return self.encoder.layer_norm(given)


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
    kept = set(stage.parameters())
    for weight in model.parameters():
        if weight not in kept:
            weight.data = weight.data.new_empty(0)
