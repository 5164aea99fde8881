"""What the ranks of a run send to each other in one optimizer step, by strategy.

A ring of n ranks sends (n - 1) / n of what it gathers or scatters, and twice that of what it reduces for all
(Thakur et al. 2005). Norms of gradients and other single numbers are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from lsa_whisper.finetuning.workload.parameters import MicroBatch
from lsa_whisper.finetuning.workload.shape import Shape
from lsa_whisper.finetuning.workload.stages import stage_parts


@dataclass(frozen=True)
class Traffic:
    """Bytes of all tensors that the ranks exchange in a step, each tensor counted once at its full size.

    Attributes:
        passed: From one rank to one other.
    """

    all_reduced: int = 0
    gathered: int = 0
    scattered: int = 0
    passed: int = 0

    def sent_by_rank(self, ranks: int) -> float:
        """Return the bytes that each rank sends, on average.

        >>> Traffic(all_reduced=100).sent_by_rank(2), Traffic(gathered=100, scattered=100).sent_by_rank(4)
        (100.0, 150.0)
        """
        ring = (2 * self.all_reduced + self.gathered + self.scattered) * (ranks - 1)
        return (ring + self.passed) / ranks


def step_traffic(
    strategy: str,
    shape: Shape,
    micro_batch: MicroBatch,
    *,
    element: int = 4,
    gradient: int = 4,
    micro_batches: int = 1,
    stages: int = 1,
) -> Traffic:
    """Return what full fine-tuning exchanges in one optimizer step.

    Args:
        strategy: ``ddp``, ``fsdp2``, ``zero2``, ``zero3``, ``tensor_parallel`` (all ranks share each layer) or
            ``pipeline``.
        shape: The model's shape.
        micro_batch: What each rank processes at once; only tensor parallelism sends more for more windows.
        element: Bytes of an element of weights and activations as they are sent: 4 in fp32, 2 in bf16.
        gradient: Bytes of an element of gradients as they are sent.
        micro_batches: Micro-batches of a step (gradient accumulation).
        stages: Stages of a pipeline.
    """
    weights, trained = shape.parameters * element, shape.parameters - shape.count("encoder.embed_positions")
    gradients = trained * gradient
    if strategy == "tensor_parallel":
        return Traffic(all_reduced=micro_batches * layer_traffic(shape, micro_batch, element))
    if strategy == "pipeline":
        one_table = stage_parts(shape, stages)[-1].starts_decoder
        return Traffic(
            passed=micro_batches * passed_between_stages(shape, micro_batch, stages, element)
            + (0 if one_table else 2 * gradient * shape.count("decoder.embed_tokens"))
        )
    if strategy == "ddp":
        return Traffic(all_reduced=gradients)
    if strategy == "zero2":
        return Traffic(gathered=trained * 4, scattered=micro_batches * gradients)
    if strategy in ("fsdp2", "zero3"):  # the weights once for the forward and once for the backward pass
        return Traffic(gathered=2 * micro_batches * weights, scattered=micro_batches * gradients)
    return Traffic()


def layer_traffic(shape: Shape, micro_batch: MicroBatch, element: int) -> int:
    """Return the bytes of activations and their gradients that tensor parallelism adds up over its ranks.

    A block of a layer (attention or feed-forward) adds up its output in the forward pass and its input's gradient in
    the backward pass; cross-attention also that of the encoder's output. Checkpointing repeats the forward pass.
    """
    frames = micro_batch.batch * shape.source_positions * shape.width * element
    tokens = micro_batch.batch * min(micro_batch.label_tokens, shape.target_positions) * shape.width * element
    passes = 3 if micro_batch.checkpointing else 2
    encoder = shape.encoder_layers * 2 * passes * frames
    return encoder + shape.decoder_layers * (3 * passes * tokens + frames)


def passed_between_stages(shape: Shape, micro_batch: MicroBatch, stages: int, element: int) -> int:
    """Return the bytes of states and their gradients that a batch takes from stage to stage and back.

    Within the decoder, the encoder's states go along with the decoder's.
    """
    frames = micro_batch.batch * shape.source_positions * shape.width * element
    tokens = micro_batch.batch * min(micro_batch.label_tokens, shape.target_positions) * shape.width * element
    found, in_decoder = 0, False
    for part in stage_parts(shape, stages)[:-1]:
        in_decoder |= part.starts_decoder
        found += 2 * (frames + (tokens if in_decoder else 0))
    return found
