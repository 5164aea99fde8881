"""The cross-attention of a model of CTranslate2, which the library aligns with but does not return.

Whisper's decoder, as far up as the chosen heads are, in torch and from the weights in ``model.bin``. On a CPU, a weight
is read when it is used, so that a large model needs no second copy in memory; only that of the vocabulary is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch.nn import functional

from lsa_whisper.checkpoint import ConvertedCheckpoint
from lsa_whisper.checkpoint.converted_weights import ConvertedWeights
from lsa_whisper.decoding.cross_attention import Head, Weights, heads_by_layer, listed_heads, weights_of_rows
from lsa_whisper.system.device import fast_dtype

_POSITIONS = "decoder/position_encodings/encodings"
_PROJECTION = "decoder/projection/weight"


class ConvertedAttention:
    """Computes the weights of the alignment heads.

    CTranslate2 itself aligns by dynamic time warping, which has no gaps: on clips of ten real meetings (base), 58, 74
    and 86 % of word starts are within 50, 100 and 200 ms by it, and 78, 91 and 96 % by the Viterbi path through these
    weights. They take as long as that alignment in float32 where the CPU computes in bfloat16: a transcription in int8
    takes 7 % longer, and one in float32 4 %. Alone, the heads of the lower layers are less precise.
    """

    def __init__(self, checkpoint: ConvertedCheckpoint):
        """Take a model, and compute where it does.

        Raises:
            CheckpointError: Its weights cannot be read.
        """
        model = checkpoint.model
        on_gpu = model.device == "cuda" and torch.cuda.is_available()  # torch may have been installed for CPUs only
        device = f"cuda:{model.device_index[0]}" if on_gpu else "cpu"
        self._device, self._dtype = torch.device(device), fast_dtype(device)
        self._weights = ConvertedWeights(Path(checkpoint.path))
        self._kept: dict[str, torch.Tensor] = {}
        self._count = self._weights.number("decoder/num_heads")
        self._heads = listed_heads(checkpoint.settings, self._weights.layers(), self._count)

    def of_rows(self, hidden: torch.Tensor, prompt: Sequence[int], rows: Sequence[Sequence[int]]) -> Iterator[Weights]:
        """Yield the weights for each row of tokens; see :func:`~cross_attention.weights_of_rows`."""
        states, top = hidden.to(self._device, self._dtype), max(layer for layer, _ in self._heads)
        return weights_of_rows(
            lambda inputs, encoded: self._attend(inputs, encoded, top)[0], states, prompt, rows, self._heads
        )

    def scored_rows(
        self, hidden: torch.Tensor, prompt: Sequence[int], rows: Sequence[Sequence[int]], forbidden: Sequence[int]
    ) -> Iterator[tuple[Weights, list[float]]]:
        """Yield the same with the log-probability of each token among all but the ``forbidden`` ones."""
        scores: list[list[float]] = []

        def attend(inputs: torch.Tensor, encoded: torch.Tensor) -> dict[Head, torch.Tensor]:
            weights, states = self._attend(inputs, encoded, self._weights.layers())
            scores.extend(self._logprobs(states[:, len(prompt) - 1 : -1], inputs[:, len(prompt) :], forbidden).tolist())
            return weights

        states = hidden.to(self._device, self._dtype)
        for row, weights in zip(rows, weights_of_rows(attend, states, prompt, rows, self._heads), strict=True):
            yield weights, scores.pop(0)[: len(row)]

    def _logprobs(self, states: torch.Tensor, tokens: torch.Tensor, forbidden: Sequence[int]) -> torch.Tensor:
        """Return the log-probabilities ``(batch, tokens)`` of tokens, from the decoder's last states before them."""
        states, weight = self._norm("decoder", states), self._weight(_PROJECTION, keep=True)
        ids = torch.tensor([*forbidden], device=states.device)
        rows = []
        for row, chosen in zip(states, tokens, strict=True):  # the logits of all rows would need much memory
            logits = functional.linear(row, weight).float().index_fill_(-1, ids, -torch.inf)
            # Rounded to 16 bits, a logit is off by up to 0.06, which would be much for a likely token.
            own = (row.float() * weight[chosen].float()).sum(-1)
            logits.scatter_(-1, chosen[:, None], own[:, None])
            rows.append(own - logits.logsumexp(-1))
        return torch.stack(rows)

    def _attend(
        self, inputs: torch.Tensor, encoded: torch.Tensor, top: int
    ) -> tuple[dict[Head, torch.Tensor], torch.Tensor]:
        """Return the weights of the heads, and the states below the layer ``top``."""
        chosen, width = heads_by_layer(self._heads), encoded.shape[-1]
        ids, places = inputs.cpu().unique(return_inverse=True)
        rows: torch.Tensor = self._weights.tensor("decoder/embeddings/weight", ids.tolist())
        states = rows[places].to(encoded) + self._weight(_POSITIONS)[: inputs.shape[1]]
        found: dict[Head, torch.Tensor] = {}
        for layer in range(min(top + 1, self._weights.layers())):
            at, needed = f"decoder/layer_{layer}", width if layer == top else 2 * width
            own = self._linear(f"{at}/self_attention/linear_0", self._norm(f"{at}/self_attention", states))
            query, key, own_value = map(self._split, own.chunk(3, -1))
            context = functional.scaled_dot_product_attention(query, key, own_value, is_causal=True)
            states = states + self._linear(f"{at}/self_attention/linear_1", _joined(context))
            query = self._split(self._linear(f"{at}/attention/linear_0", self._norm(f"{at}/attention", states)))
            # The values only where a layer follows.
            key, *value = map(self._split, self._linear(f"{at}/attention/linear_1", encoded, needed).split(width, -1))
            for head in chosen.get(layer, ()):
                scores = query[:, head] * query.shape[-1] ** -0.5 @ key[:, head].mT
                found[layer, head] = scores.float().softmax(-1)
            if value:
                heard = functional.scaled_dot_product_attention(query, key, *value)
                states = states + self._linear(f"{at}/attention/linear_2", _joined(heard))
                inner = functional.gelu(self._linear(f"{at}/ffn/linear_0", self._norm(f"{at}/ffn", states)))
                states = states + self._linear(f"{at}/ffn/linear_1", inner)
        return found, states

    def _split(self, states: torch.Tensor) -> torch.Tensor:
        """Return states ``(batch, tokens, width)`` by heads, ``(batch, heads, tokens, part)``."""
        return states.unflatten(-1, (self._count, -1)).transpose(1, 2)

    def _linear(self, name: str, states: torch.Tensor, outputs: int | None = None) -> torch.Tensor:
        weight, bias = (self._weight(f"{name}/{part}")[:outputs] for part in ("weight", "bias"))
        return functional.linear(states, weight, bias)

    def _norm(self, name: str, states: torch.Tensor) -> torch.Tensor:
        scale, shift = (self._weight(f"{name}/layer_norm/{part}") for part in ("gamma", "beta"))
        return functional.layer_norm(states, scale.shape, scale, shift)

    def _weight(self, name: str, *, keep: bool = False) -> torch.Tensor:
        if (kept := self._kept.get(name)) is not None:
            return kept
        weight: torch.Tensor = self._weights.tensor(name).to(self._device, self._dtype)
        if keep or self._device.type != "cpu":
            self._kept[name] = weight
        return weight


def _joined(states: torch.Tensor) -> torch.Tensor:
    return states.transpose(1, 2).flatten(2)
