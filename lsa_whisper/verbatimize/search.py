"""The most probable text of a window under its constraint: a beam search.

All candidates are compared by the sum of their log-probabilities, so a wrong guess that needs improbable tokens behind
it loses against the clean text; the probabilities are the model's own, not renormalized among the allowed tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lsa_whisper.verbatimize.constraint import Constraint, Inserted, State, States
from lsa_whisper.verbatimize.vocabulary import Vocabulary


@dataclass(frozen=True)
class Hypothesis:
    """A beginning of the window's text.

    Its tokens are without the prompt, and its score is the sum of their log-probabilities. ``latest`` is the index of
    the last timestamp among all; -1 before the first.
    """

    tokens: tuple[int, ...]
    states: States
    score: float = 0.0
    latest: int = -1


@dataclass(frozen=True)
class Found:
    """The result: what was inserted, and the log-probability of the whole text."""

    inserted: Inserted
    score: float


class BeamSearch:
    """Searches the text of windows with one model."""

    def __init__(self, model: Any, vocabulary: Vocabulary, *, end: int, stamps: Sequence[int], beam: int):
        """Take a Whisper model, its end of text, its timestamps in order, and the number of candidates."""
        self._model, self._end, self._beam = model, end, beam
        self._stamps, self._order = self._ids(stamps), {token: at for at, token in enumerate(stamps)}
        self._starts, self._parts = self._ids(vocabulary.word_starts), self._ids(vocabulary.word_parts)

    def _ids(self, tokens: Iterable[int]) -> torch.Tensor:
        return torch.tensor(list(tokens), dtype=torch.long, device=self._model.device)

    def search(self, hidden: torch.Tensor, prompt: Sequence[int], constraint: Constraint, last_stamp: int) -> Found:
        """Return the most probable text.

        ``hidden`` is the encoder's output for the window, ``(1, frames, width)``. The clean text fits the constraint;
        ``last_stamp`` is the number of timestamps within the window's audio.
        """
        live, winner, cache = [Hypothesis((), {State(0): ()})], Hypothesis((), {}, -torch.inf), None
        best: dict[int, float] = {}
        step = torch.tensor([list(prompt)], device=hidden.device)
        with torch.inference_mode():
            while live:
                encoded = hidden.expand(len(live), -1, -1)
                output = self._model(
                    encoder_outputs=(encoded,), decoder_input_ids=step, past_key_values=cache, use_cache=True
                )
                cache = output.past_key_values
                logprobs = output.logits[:, -1].float().log_softmax(dim=-1)
                rows, live, winner = self._extended(live, winner, best, logprobs, constraint, last_stamp)
                cache.batch_select_indices(torch.tensor(rows, dtype=torch.long, device=hidden.device))
                step = torch.tensor([[hypothesis.tokens[-1]] for hypothesis in live], device=hidden.device)
        complete = [inserted for state, inserted in winner.states.items() if constraint.is_complete(state)]
        return Found(min(complete, key=len), winner.score)

    def _extended(
        self,
        live: Sequence[Hypothesis],
        winner: Hypothesis,
        best: dict[int, float],
        logprobs: torch.Tensor,
        constraint: Constraint,
        last: int,
    ) -> tuple[list[int], list[Hypothesis], Hypothesis]:
        """Return the rows that the next candidates come from, the candidates, and the best complete one.

        A candidate is ranked against the best one that had read as much of the clean text: otherwise insertions would
        win that only put off a word which the model did not expect.
        """
        candidates = []
        for row, before in enumerate(live):
            for token, logprob in self._candidates(before, logprobs[row], constraint, last):
                score = before.score + logprob
                if token == self._end:
                    winner = Hypothesis(before.tokens, before.states, score) if score > winner.score else winner
                    continue
                tokens = (*before.tokens, token)
                states = constraint.advance(before.states, tokens)
                progress = constraint.progress(states)
                best[progress] = max(best.get(progress, -torch.inf), score)
                latest = self._order.get(token, before.latest)
                candidates.append((row, progress, Hypothesis(tokens, states, score, latest)))
        candidates.sort(key=lambda item: best[item[1]] - item[2].score)
        survivors = [(row, own) for row, _, own in candidates[: self._beam] if own.score > winner.score]
        return [row for row, _ in survivors], [own for _, own in survivors], winner

    def _candidates(
        self, before: Hypothesis, logprobs: torch.Tensor, constraint: Constraint, last: int
    ) -> list[tuple[int, float]]:
        """Return the most probable allowed tokens with their log-probability.

        Of all timestamps only the most probable counts, with the probability of all together: they differ in the time
        alone, and would otherwise push out other texts.
        """
        options = constraint.allowed(before.states, before.tokens)
        ids = [self._ids(sorted(options.ids | ({self._end} if options.end else set())))]
        ids += [self._starts] if options.starts else []
        ids += [self._parts] if options.parts else []
        choices = torch.cat(ids).unique()
        pairs = []
        if len(choices):
            best = logprobs[choices].topk(min(self._beam, len(choices)))
            pairs = list(zip(choices[best.indices].tolist(), best.values.tolist(), strict=True))
        if options.stamp:
            within = self._stamps[min(before.latest + 1, last - 1) : last]
            pairs.append((int(within[logprobs[within].argmax()]), float(logprobs[within].logsumexp(dim=0))))
        return pairs
