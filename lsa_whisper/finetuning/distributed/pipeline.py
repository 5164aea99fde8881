"""Pipeline parallelism: each rank computes one stage of the model, by ``torch.distributed.pipelining``.

A batch is cut into micro-batches of the same size, which pass through the stages one after the other, forward and
backward. Every rank reads the same batch. Windows are repeated without labels to fill the last micro-batches: they
change neither the loss nor a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import distributed

from lsa_whisper.dataset import IGNORE_INDEX
from lsa_whisper.finetuning.distributed.model_parallel import Stage, keep_weights_of, stages_of
from lsa_whisper.finetuning.settings.run import RunSettings

Batch = Mapping[str, torch.Tensor]
LossOf = Callable[[torch.Tensor, Batch], torch.Tensor]
"""Returns the loss of a micro-batch from its logits and the micro-batch."""


class Pipeline:
    """This rank's stage of a model, and the schedule by which all ranks train it."""

    def __init__(self, model: Any, recipe: RunSettings, sizes: Sequence[int]):
        """Divide ``model`` in place into stages of ``sizes`` layers, and keep the weights of this rank's stage.

        Raises:
            RecipeError: If it cannot be divided so.
        """
        self.rank, self.ranks = distributed.get_rank(), len(sizes)
        stages = stages_of(model, sizes)
        self.stage, self._config = stages[self.rank], model.config
        self._gpipe, self._parts = recipe.pipeline.schedule == "gpipe", recipe.micro_batches(self.ranks)
        self._trained = [_gradients(stages[: number + 1]) for number in range(self.ranks - 1)]
        self._starts = next(number for number, stage in enumerate(stages) if stage.starts_decoder)
        self._tied = _tied(stages[self._starts], stages[-1])
        keep_weights_of(self.stage, model)
        device = "cpu" if recipe.training.use_cpu or not torch.cuda.is_available() else "cuda"
        self._device = torch.device(device)
        self._schedule: tuple[Any, Any] = (None, None)
        self._loss: LossOf = _no_loss
        self._batch: Batch = {}

    def train(self, batch: Batch, loss_of: LossOf) -> torch.Tensor:
        """Add the gradients of a batch to those of this stage's weights; return the batch's loss on every rank."""
        self.stage.train()
        losses = self._run(batch, loss_of, backward=True)
        total = torch.stack(losses).sum().detach().float() if losses else torch.zeros((), device=self._device)
        distributed.broadcast(total, self.ranks - 1)
        return total

    def evaluate(self, batch: Batch, sums_of: Callable[..., tuple[torch.Tensor, ...]]) -> tuple[torch.Tensor, ...]:
        """Return each window's summed loss and number of label tokens, (batch, 1) each, on every rank.

        ``sums_of`` returns these from logits and labels.
        """
        self.stage.eval()
        parts: list[torch.Tensor] = []

        def keep(logits: torch.Tensor, part: Batch) -> torch.Tensor:
            sums, counts = sums_of(logits, part["labels"])
            parts.append(torch.cat((sums.double(), counts.double()), 1))
            return logits.new_zeros(())

        with torch.no_grad():
            self._run(batch, keep, backward=False)
        windows = len(batch["labels"])
        totals = torch.zeros(windows, 2, dtype=torch.float64, device=self._device)
        totals = torch.cat(parts)[:windows].contiguous() if parts else totals
        distributed.broadcast(totals, self.ranks - 1)
        return totals[:, :1].float(), totals[:, 1:].long()

    def share_tied_gradients(self) -> None:
        """Add up the gradients of the token embeddings, which are the output layer, too, of the two ranks with both."""
        ends = (self._starts, self.ranks - 1)
        if ends[0] == ends[1] or self.rank not in ends:
            return
        peer = ends[0] if self.rank == ends[1] else ends[1]
        for weight in self._tied:
            own = weight.grad if weight.grad is not None else torch.zeros_like(weight)
            twin = torch.empty_like(own)
            transfers = [distributed.P2POp(distributed.isend, own.contiguous(), peer)]
            transfers.append(distributed.P2POp(distributed.irecv, twin, peer))
            for work in distributed.batch_isend_irecv(transfers):
                work.wait()
            weight.grad = own + twin

    def clip_gradients(self, parameters: Iterable[torch.Tensor], most: float, norm_type: float = 2.0) -> torch.Tensor:
        """Return the norm of the gradients of all stages, which are scaled to ``most`` at most."""
        mine = [weight for weight in parameters if weight.grad is not None]
        twice = set(self._tied) if self.rank == self._starts != self.ranks - 1 else set()
        gradients = [weight.grad for weight in mine if weight not in twice]
        square = torch.nn.utils.get_total_norm(gradients).to(self._device, torch.float32) ** 2
        distributed.all_reduce(square)
        norm = square.sqrt()
        torch.nn.utils.clip_grads_with_norm_(mine, most, norm)
        return norm

    def _run(self, batch: Batch, loss_of: LossOf, *, backward: bool) -> list[torch.Tensor]:
        """Pass a batch through all stages; return the losses of its micro-batches on the last rank."""
        size = -(-len(batch["labels"]) // self._parts)
        self._batch, self._loss = _filled(batch, size * self._parts), loss_of
        schedule, losses = self._schedule_for(size, backward=backward), list[torch.Tensor]()
        features = (self._batch["input_features"],) if self.stage.is_first else ()
        target = torch.arange(size * self._parts, device=self._device) if self.stage.is_last else None
        try:
            (schedule.step if backward else schedule.eval)(
                *features,
                target=target,
                losses=losses,
                return_outputs=False,
                decoder_input_ids=self._batch["decoder_input_ids"],
            )
        except RuntimeError as error:  # torch wraps what a stage raises
            raise error.__cause__ or error from None
        self._batch, self._loss = {}, _no_loss
        return losses

    def _loss_of_part(self, logits: torch.Tensor, windows: torch.Tensor) -> torch.Tensor:
        return self._loss(logits, {name: value[windows] for name, value in self._batch.items()})

    def _schedule_for(self, size: int, *, backward: bool) -> Any:
        """Return the schedule for micro-batches of these shapes; its buffers are made once."""
        from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe

        features, inputs = self._batch["input_features"], self._batch["decoder_input_ids"]
        frames = features.shape[-1] // 2  # the second convolution takes every other frame
        key = (size, *features.shape[1:], inputs.shape[1], backward)
        if self._schedule[0] == key:
            return self._schedule[1]
        before, after = (self._passed(number, size, frames, inputs.shape[1]) for number in (self.rank - 1, self.rank))
        first = torch.empty(size, *features.shape[1:], dtype=features.dtype, device="meta")
        logits = torch.empty(size, inputs.shape[1], self._config.vocab_size, device="meta")
        stage = PipelineStage(
            self.stage,
            self.rank,
            self.ranks,
            self._device,
            input_args=first if self.stage.is_first else before,
            output_args=logits if self.stage.is_last else after,
        )
        kind = ScheduleGPipe if self._gpipe else Schedule1F1B
        schedule = kind(stage, self._parts, loss_fn=self._loss_of_part, scale_grads=False)
        self._schedule = key, schedule
        return schedule

    def _passed(self, number: int, size: int, frames: int, tokens: int) -> tuple[torch.Tensor, ...]:
        """Return what stage ``number`` passes on, without memory: shapes, and whether gradients come back.

        States are in fp32 under autocast, too, where each layer adds to them.
        """
        if not 0 <= number < self.ranks - 1:
            return ()
        width, (of_encoder, of_decoder) = self._config.d_model, self._trained[number]
        states = torch.empty(size, frames, width, device="meta", requires_grad=of_encoder)
        if number < self._starts:
            return (states,)
        return torch.empty(size, tokens, width, device="meta", requires_grad=of_decoder), states


def _no_loss(logits: torch.Tensor, _: Batch) -> torch.Tensor:
    return logits.new_zeros(())


def _filled(batch: Batch, windows: int) -> Batch:
    """Return a batch with as many windows, the added ones without labels."""
    missing = windows - len(batch["labels"])
    if not missing:
        return batch
    whole = {name: torch.cat((value, value[-1:].expand(missing, *value.shape[1:]))) for name, value in batch.items()}
    whole["labels"][-missing:] = IGNORE_INDEX
    return whole


def _gradients(stages: Sequence[Stage]) -> tuple[bool, bool]:
    """Return whether gradients come back to the encoder's and to the decoder's states after these stages."""
    encoders = [stage.encoder for stage in stages if stage.encoder is not None]
    return _trains(encoders), _trains(stages)


def _trains(modules: Iterable[torch.nn.Module]) -> bool:
    return any(weight.requires_grad for module in modules for weight in module.parameters())


def _tied(start: Stage, end: Stage) -> list[torch.nn.Parameter]:
    """Return the trained weights that are both token embeddings and output layer."""
    assert start.decoder is not None and end.output is not None
    output = set(end.output.parameters())
    return [weight for weight in start.decoder.embed_tokens.parameters() if weight.requires_grad and weight in output]
