"""Greedy search under the decoding rules, for one model or for a model whose layers are sharded across ranks."""

from __future__ import annotations

from typing import Any

import torch
from torch import distributed

from lsa_whisper.decoding.decoder import TOKENS_PER_S, token_limit
from lsa_whisper.decoding.no_speech import NEVER_SILENT, NoSpeechRule
from lsa_whisper.decoding.rules import DecodingRules

_CHECK_EVERY = 8  # steps between two checks for finished rows (each check makes a GPU wait)


def greedy_search(
    model: Any,
    hidden: torch.Tensor,
    prompts: torch.Tensor,
    durations_s: torch.Tensor,
    rules: DecodingRules,
    *,
    silence: NoSpeechRule = NEVER_SILENT,
    synced_ranks: bool = False,
    tokens_per_s: float = TOKENS_PER_S,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return tokens and log-probabilities ``(batch, n)``, and the probability of no speech ``(batch,)``.

    Rows that end early are filled with the end of text. Every row has its own limit (see
    :func:`~lsa_whisper.decoding.decoder.token_limit`), so that the result for a window does not depend on the other
    windows in its batch.

    Args:
        model: a Whisper model.
        hidden: the encoder's output ``(batch, frames, width)``.
        prompts: token ids that decoding starts with, ``(batch, prompt length)``.
        durations_s: length of the audio in each window, ``(batch,)``.
        rules: the tokens that may come next.
        silence: when a row may end at once.
        tokens_per_s: limit of the tokens per second of audio.
        synced_ranks: run as many steps as the slowest rank; required where every step gathers sharded layers.
    """
    positions, prompt_length = model.config.max_target_positions, prompts.shape[1]
    limits = torch.tensor(
        [token_limit(s, prompt_length, positions, tokens_per_s) for s in durations_s.tolist()], device=hidden.device
    )
    longest = _highest(limits.max(), synced_ranks)
    tokens = torch.full((len(hidden), longest), rules.end, device=hidden.device)
    logprobs = torch.zeros((len(hidden), longest), device=hidden.device)
    active = torch.arange(len(hidden), device=hidden.device)  # the rows that have not ended
    step, cache, no_speech = prompts, None, logprobs[:, 0]
    for position in range(longest):
        output = model(encoder_outputs=(hidden,), decoder_input_ids=step, past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        decoded = tokens[active, :position]
        if position:
            best, best_logprob = rules.choose(output.logits[:, -1], decoded, durations_s[active])
        else:
            best, best_logprob, no_speech = rules.begin(output.logits, prompts, durations_s, silence)
        over = limits[active] <= position
        if position:
            over |= decoded[:, -1] == rules.end
        best, best_logprob = best.masked_fill(over, rules.end), best_logprob.masked_fill(over, 0.0)
        tokens[active, position], logprobs[active, position] = best, best_logprob
        step = best[:, None]
        if position % _CHECK_EVERY == _CHECK_EVERY - 1:
            running = (best != rules.end).nonzero().flatten()
            if not _highest(torch.tensor(len(running), device=hidden.device), synced_ranks):
                break
            if 0 < len(running) <= len(active) // 2:
                active, hidden, step = active[running], hidden[running], step[running]
                cache.batch_select_indices(running)
    return tokens, logprobs, no_speech


def _highest(number: torch.Tensor, synced_ranks: bool) -> int:
    """Return a number, or the highest one of all ranks."""
    if synced_ranks:
        distributed.all_reduce(number, distributed.ReduceOp.MAX)
    return int(number)
