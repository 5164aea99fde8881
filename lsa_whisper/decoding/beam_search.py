"""Beam search under the decoding rules: the most probable of several texts that are followed at once.

Its text is taken where it is nearly right, and that of greedy search elsewhere: of speech that a model hardly
understands, it finds sentences that are more probable and further from the speech, and loops sooner. Texts are compared
by their log-probability, that of their end included, per token without the end, as in OpenAI's decoder and CTranslate2.
The search of a window ends when as many texts are complete as there are beams, or at its limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import torch
from torch.nn import functional

from lsa_whisper.decoding.greedy import FoundTexts, Search, greedy_search
from lsa_whisper.decoding.text_limits import is_nearly_right


@dataclass(frozen=True, slots=True)
class _Text:
    """The beginning of a window's text.

    The tokens are without the prompt; the score is the sum of their log-probabilities.
    """

    window: int
    tokens: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    score: float = 0.0

    def followed_by(self, token: int, logprob: float) -> _Text:
        return _Text(self.window, (*self.tokens, token), (*self.logprobs, logprob), self.score + logprob)

    def mean(self, end: int) -> float:
        """Return the score by the number of tokens, of which the end of text is none."""
        return self.score / max(1, len(self.tokens) - (self.tokens[-1] == end))


def guarded_search(
    model: Any, hidden: torch.Tensor, search: Search, durations_s: torch.Tensor, *, beams: int
) -> FoundTexts:
    """Return what beam search finds where that is nearly right, and the greedy text of other windows.

    Arguments and results are those of :func:`beam_search`; with one beam, all texts are greedy.
    """
    if beams == 1:
        return greedy_search(model, hidden, [search], durations_s)[0]
    tokens, logprobs, no_speech = beam_search(model, hidden, search, durations_s, beams=beams)
    lengths = (1 + (tokens != search.rules.end).sum(dim=1)).tolist()
    limits = search.limits(durations_s, model.config.max_target_positions)
    found = zip(tokens.tolist(), logprobs.tolist(), lengths, limits, strict=True)
    rows = [at for at, row in enumerate(found) if not _is_nearly_right(*row, search)]
    if not rows:
        return tokens, logprobs, no_speech
    rest = replace(search, prompts=search.prompts[rows])
    ((greedy, greedy_logprobs, _),) = greedy_search(model, hidden[rows], [rest], durations_s[rows])
    longer = max(0, greedy.shape[1] - tokens.shape[1])
    tokens = functional.pad(tokens, (0, longer), value=search.rules.end)
    logprobs = functional.pad(logprobs, (0, longer))
    tokens[rows], logprobs[rows] = search.rules.end, 0.0
    tokens[rows, : greedy.shape[1]], logprobs[rows, : greedy.shape[1]] = greedy, greedy_logprobs
    return tokens, logprobs, no_speech


def _is_nearly_right(tokens: Sequence[int], logprobs: Sequence[float], length: int, limit: int, search: Search) -> bool:
    """Return whether a text of ``length`` tokens is to be trusted, whose timestamps have the probability of all."""
    times = search.rules.timestamps_s
    pairs = [pair for pair in zip(tokens[: min(length, limit)], logprobs, strict=False) if pair[0] not in times]
    mean = sum(logprob for _, logprob in pairs) / max(1, len(pairs))
    return is_nearly_right([token for token, _ in pairs], mean, search.rules.end)


def beam_search(
    model: Any, hidden: torch.Tensor, search: Search, durations_s: torch.Tensor, *, beams: int
) -> FoundTexts:
    """Return what is found, for the best of several texts.

    ``hidden`` and ``durations_s`` are as for :func:`~lsa_whisper.decoding.greedy.greedy_search`; ``beams`` texts of a
    window are followed.
    """
    prompts, rules = search.prompts, search.rules
    limits = search.limits(durations_s, model.config.max_target_positions)
    durations_s = search.ends_s(durations_s)
    complete: list[list[_Text]] = [[] for _ in limits]
    live = [_Text(window) for window in range(len(limits))]
    output = model(encoder_outputs=(hidden,), decoder_input_ids=prompts, use_cache=True)
    first, logprobs, no_speech = rules.begin(output.logits, prompts, durations_s, search.silence)
    next_tokens, scores = first[:, None], logprobs[:, None]
    if not rules.timestamps_s:
        next_tokens, scores = rules.candidates(output.logits[:, -1], prompts[:, :0], durations_s, beams)
    while True:
        before, parents, live = live, *_extended(live, next_tokens, scores, rules.end, limits, complete, beams)
        if not live:
            break
        rows = torch.tensor(parents, device=hidden.device)
        if [row.window for row in live] == [row.window for row in before]:
            output.past_key_values.self_attention_cache.batch_select_indices(rows)
        else:  # the encoder's keys and values are large: they are copied only when a row is of another window
            output.past_key_values.batch_select_indices(rows)
            hidden = hidden[rows]
        tokens = torch.tensor([row.tokens for row in live], device=hidden.device)
        output = model(
            encoder_outputs=(hidden,),
            decoder_input_ids=tokens[:, -1:],
            past_key_values=output.past_key_values,
            use_cache=True,
        )
        lengths_s = durations_s[[row.window for row in live]]
        next_tokens, scores = rules.candidates(output.logits[:, -1], tokens, lengths_s, beams + 1)
    best = [max(texts, key=lambda text: text.mean(rules.end)) for texts in complete]
    return *_padded(best, rules.end, hidden.device), no_speech


def _extended(
    live: Sequence[_Text],
    next_tokens: torch.Tensor,
    scores: torch.Tensor,
    end: int,
    limits: Sequence[int],
    complete: list[list[_Text]],
    beams: int,
) -> tuple[list[int], list[_Text]]:
    """Return the rows that the next texts come from, and these texts; add those that are complete to ``complete``."""
    texts: list[tuple[int, _Text]] = []
    candidates = (
        (row, text.followed_by(token, logprob))
        for row, (text, *choices) in enumerate(zip(live, next_tokens.tolist(), scores.tolist(), strict=True))
        for token, logprob in zip(*choices, strict=True)
        if logprob != -math.inf  # not a number is kept: weights may be damaged, and every window needs a text
    )
    for window, group in groupby(candidates, key=lambda pair: pair[1].window):
        ranked = sorted(group, key=lambda pair: -pair[1].score)
        ends = [pair for pair in ranked[:beams] if pair[1].tokens[-1] == end]
        complete[window] += [text for _, text in ends]
        going = [pair for pair in ranked if pair[1].tokens[-1] != end][:beams]
        if going and len(going[0][1].tokens) == limits[window]:
            complete[window] += [text for _, text in going]
        elif len(complete[window]) < beams:
            texts += going
    return [row for row, _ in texts], [text for _, text in texts]


def _padded(texts: Sequence[_Text], end: int, device: torch.device) -> Iterator[torch.Tensor]:
    """Yield the tokens and their log-probabilities ``(batch, n)``, filled with the end of text."""
    longest = max(len(text.tokens) for text in texts)
    gaps = [longest - len(text.tokens) for text in texts]
    yield torch.tensor([[*text.tokens, *[end] * gap] for text, gap in zip(texts, gaps, strict=True)], device=device)
    yield torch.tensor([[*text.logprobs, *[0.0] * gap] for text, gap in zip(texts, gaps, strict=True)], device=device)
