"""Which token may come next: the checkpoint's suppressed tokens, and the timestamp rules.

Repetitions are never penalized. People who stutter say "I I I I want", and a decoder that forbids repeated words
(``no_repeat_ngram_size``, repetition penalties) loses their words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lsa_whisper.checkpoint import has_timestamps, special_offset, timestamp_tokens
from lsa_whisper.checkpoint.whisper_constants import PROMPT_MARKS
from lsa_whisper.decoding.expected_words import ExpectedWords
from lsa_whisper.decoding.no_speech import NoSpeechRule, no_speech_token
from lsa_whisper.decoding.roles import SpeakerCodeRules, speaker_codes

_NEVER = -math.inf


@dataclass(frozen=True)
class AllowedTokens:
    """The tokens that a model may output, the same for every engine.

    Attributes:
        size: Rows of the output matrix.
        end: The end-of-text token.
        timestamps_s: Token id -> seconds; empty for a model that was not trained with timestamps.
        suppressed: Tokens that are not text: suppressed by the checkpoint, special, or a matrix row without a token.
        suppressed_at_begin: Tokens additionally suppressed at the first position.
        no_speech: The token for no speech, if the vocabulary has one.
    """

    size: int
    end: int
    timestamps_s: dict[int, float]
    suppressed: tuple[int, ...]
    suppressed_at_begin: tuple[int, ...]
    no_speech: int | None = None


def allowed_tokens(tokenizer: Any, settings: Any, size: int, *, timestamps: bool = True) -> AllowedTokens:
    """Return the allowed tokens for a vocabulary, generation settings and ``size`` output rows.

    Without ``timestamps``, none is allowed, although the model may know them.
    """
    end = settings.eos_token_id
    end = int(end[0] if isinstance(end, list | tuple) else end)
    ids = [*(getattr(settings, "suppress_tokens", None) or [])]
    timestamps_s = {
        i: at_s for i, at_s in timestamp_tokens(tokenizer, settings).items() if i not in {*ids} and i < size
    }
    if not (timestamps and has_timestamps(tokenizer, settings)):
        timestamps_s = {}
    offset = special_offset(tokenizer, settings)
    special = [i + offset for token, i in tokenizer.get_added_vocab().items() if _is_special(token)]
    unknown = {*range(size)} - {*tokenizer.get_vocab().values()}
    suppressed = {*ids, *special, *unknown} - {end, *timestamps_s}
    at_begin = {*(getattr(settings, "begin_suppress_tokens", None) or [])}
    silent = no_speech_token(tokenizer.get_added_vocab())
    no_speech = None if silent is None or silent + offset >= size else silent + offset
    return AllowedTokens(size, end, timestamps_s, _within(suppressed, size), _within(at_begin, size), no_speech)


def _is_special(token: str) -> bool:
    """Return whether an added token is not text: CrisperWhisper 2's fillers and sounds, such as ``[UM]``, are text."""
    return (token.startswith("<|") and token.endswith("|>")) or token in PROMPT_MARKS


def _within(ids: set[int], size: int) -> tuple[int, ...]:
    return tuple(sorted(index for index in ids if 0 <= index < size))


class DecodingRules:
    """Chooses the most probable allowed token for each window of a batch.

    Timestamps come in pairs around each segment of text, never decrease and never exceed the audio: the rules of
    OpenAI's decoder (``ApplyTimestampRules``), written for any set of timestamps and for a whole batch at once.

    Few of the fifty thousand rows of a vocabulary are timestamps, so the timestamp rules work on those columns alone;
    the full vocabulary needs only one sum, one maximum and one normalization per step.

    Everywhere, logits are ``(batch, vocabulary)`` in any number format, tokens ``(batch, n)`` those decoded so far
    without the prompt, and ``durations_s`` ``(batch,)`` the length of each window's audio.
    """

    def __init__(
        self,
        tokenizer: Any,
        generation_config: Any,
        size: int,
        device: torch.device | str = "cpu",
        *,
        timestamps: bool = True,
        words: Sequence[str] = (),
    ):
        """Make the rules of a model.

        ``generation_config`` names the suppressed tokens; see :func:`~lsa_whisper.checkpoint.fit_generation_config`.
        Logits with ``size`` columns come from ``device``. ``words`` are names and rare words that may be spoken.
        """
        self.device = torch.device(device)
        self._allowed = allowed_tokens(tokenizer, generation_config, size, timestamps=timestamps)
        self.end, self.timestamps_s = self._allowed.end, self._allowed.timestamps_s
        self._start = int(generation_config.decoder_start_token_id)
        self._seconds = torch.full((self._allowed.size,), -1.0, device=self.device)
        ids = sorted(self.timestamps_s)
        self._columns = torch.tensor(ids, dtype=torch.long, device=self.device)
        self._column_times_s = torch.tensor([self.timestamps_s[index] for index in ids], device=self.device)
        self._seconds[self._columns] = self._column_times_s
        codes = speaker_codes(generation_config)
        self._codes = (
            SpeakerCodeRules(tokenizer, codes, size=size, end=self.end, stops=ids, device=self.device)
            if codes
            else None
        )
        self._words = ExpectedWords(tokenizer, words, size=size, device=self.device) if words else None
        code_tokens = self._codes.tokens if self._codes else frozenset()
        self.suppressed = tuple(index for index in self._allowed.suppressed if index not in code_tokens)
        """Tokens that are never chosen: those of the checkpoint, without what speaker codes consist of."""
        self._text = self._mask((*self.suppressed, *ids))
        self._text_at_begin = self._text + self._mask(self._allowed.suppressed_at_begin)

    def _mask(self, ids: Sequence[int]) -> torch.Tensor:
        """Return the vector to add to the logits: minus infinity for ``ids``, else zero."""
        mask = torch.zeros(self._allowed.size, device=self.device)
        mask[torch.tensor([*ids], dtype=torch.long, device=self.device)] = _NEVER
        return mask

    def begin(
        self, logits: torch.Tensor, prompts: torch.Tensor, durations_s: torch.Tensor, silence: NoSpeechRule
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the first token of each row, its log-probability, and the probability of no speech.

        Where there is probably no speech, the end of text may come first, even if the checkpoint suppresses it there.
        The prompts are ``(batch, prompt length)``, and the logits are those of each of their tokens.
        """
        no_speech = torch.zeros(len(logits), device=logits.device)
        if self._allowed.no_speech is not None:
            # The model was trained to write the token behind the start token, which is the same place in every row.
            at = int((prompts[0] == self._start).nonzero()[-1])
            no_speech = logits[:, at].float().softmax(dim=-1)[:, self._allowed.no_speech]
        silent = [silence.is_likely(probability) for probability in no_speech.tolist()]
        return *self.choose_first(logits[:, -1], durations_s, silent), no_speech

    def choose_first(
        self, last: torch.Tensor, durations_s: torch.Tensor, silent: Sequence[bool]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the first token of each row and its log-probability.

        ``last`` are the logits after the prompt; ``silent`` says for each row whether the end of text may come first
        even if the checkpoint suppresses it there.
        """
        none = torch.empty((len(last), 0), dtype=torch.long, device=last.device)
        tokens, logprobs = self.choose(last, none, durations_s)
        if self.timestamps_s and any(silent):
            ends, scores = self._choose_first(last[:, self.end].float(), self._timestamp_logits(last, durations_s))
            rows = torch.tensor(silent, device=last.device)
            tokens, logprobs = torch.where(rows, ends, tokens), torch.where(rows, scores, logprobs)
        return tokens, logprobs

    def _timestamp_logits(self, logits: torch.Tensor, durations_s: torch.Tensor) -> torch.Tensor:
        """Return a copy of the timestamps' columns, without those after the end of the audio."""
        late = self._column_times_s > durations_s[:, None] + 1e-3
        return logits[:, self._columns].float().masked_fill(late, _NEVER)

    def choose(
        self, logits: torch.Tensor, tokens: torch.Tensor, durations_s: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the next token of each row and its log-probability among the allowed tokens, ``(batch,)`` each."""
        if self._codes:
            logits = logits + self._codes.mask(tokens, self._since_begin(tokens))
        text = logits + (self._text if tokens.shape[1] else self._text_at_begin)
        if not self.timestamps_s:
            best, best_ids, score = self._best(text, tokens)
            return best_ids, score - _logsumexp(text, best)
        timestamp_logits = self._timestamp_logits(logits, durations_s)
        if not tokens.shape[1]:
            return self._choose_first(text[:, self.end], timestamp_logits)
        closing = self._keep_order(timestamp_logits, tokens)
        best_text, chosen_text, score = self._best(text, tokens)
        all_text = _logsumexp(text, best_text)
        # After a closing timestamp the only text token allowed is the end of text.
        end = logits[:, self.end].float()
        best_text, all_text, score = (torch.where(closing, end, values) for values in (best_text, all_text, score))
        chosen_text = chosen_text.masked_fill(closing, self.end)
        best_timestamp, column = timestamp_logits.max(dim=-1)
        timestamps_logit = timestamp_logits.logsumexp(dim=-1)
        # Text is forbidden where all timestamps together are more probable than any single token of text.
        is_timestamp = timestamps_logit > best_text
        best_ids = torch.where(is_timestamp, self._columns[column], chosen_text)
        log_total = torch.where(is_timestamp, timestamps_logit, torch.logaddexp(timestamps_logit, all_text))
        return best_ids, torch.where(is_timestamp, best_timestamp, score) - log_total

    def _best(self, text: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return for each row the highest logit of text, the token to choose, and that token's logit.

        The token differs from the most probable one where it belongs to an expected word; its logit has no bonus.
        """
        best, ids = text.max(dim=-1)
        if self._words is None:
            return best, ids, best
        ids = self._words.favor(text, tokens).argmax(dim=-1)
        return best, ids, text.gather(1, ids[:, None])[:, 0]

    def candidates(
        self, logits: torch.Tensor, tokens: torch.Tensor, durations_s: torch.Tensor, count: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the most probable next tokens of each row and their log-probabilities, ``(batch, count)`` each.

        Of the timestamps only the most probable is a candidate, with the probability of all together: they differ in
        the time alone, and would otherwise take the place of other texts. A forbidden token has the log-probability
        minus infinity. A model with timestamps has decoded at least one token. There are ``count`` of them, of a small
        vocabulary all.
        """
        if self._codes:
            logits = logits + self._codes.mask(tokens, self._since_begin(tokens))
        text = (logits + (self._text if tokens.shape[1] else self._text_at_begin)).float()
        if self._words is not None:
            text = self._words.favor(text, tokens)
        count = min(count, text.shape[1])
        if not self.timestamps_s:
            scores, ids = text.log_softmax(dim=-1).topk(count)
            return ids, scores
        timestamp_logits = self._timestamp_logits(logits, durations_s)
        closing = self._keep_order(timestamp_logits, tokens)
        text[closing] = _NEVER  # only the end of text may follow, or another timestamp
        text[closing, self.end] = logits[closing, self.end].float()
        timestamps_logit = timestamp_logits.logsumexp(dim=-1, keepdim=True)
        scores, ids = text.topk(count)
        scores = torch.cat((timestamps_logit, scores), dim=1)
        ids = torch.cat((self._columns[timestamp_logits.argmax(dim=-1)][:, None], ids), dim=1)
        best, order = scores.topk(count)
        total = torch.logaddexp(timestamps_logit, text.logsumexp(dim=-1, keepdim=True))
        return ids.gather(1, order), best - total

    def _since_begin(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return for each row the number of tokens since its segment of text began; 2 stands for more."""
        count = tokens.shape[1]
        more = torch.full((len(tokens),), 2 if self.timestamps_s else min(2, count), device=tokens.device)
        if not self.timestamps_s or not count:
            return more
        stamps = self._seconds[tokens[:, -3:]] >= 0
        is_first = ~stamps[:, -1] & stamps[:, :-1].all(dim=1)
        counts = torch.where(is_first, 1, more) if count > 1 else more
        return torch.where(stamps[:, -2:].all(dim=1), 0, counts)

    def _choose_first(self, end: torch.Tensor, timestamp_logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the first token: a timestamp, because a bullet needs one, or the end of text for no speech."""
        best, column = torch.cat((end[:, None], timestamp_logits), dim=1).log_softmax(dim=-1).max(dim=-1)
        return torch.where(column == 0, self.end, self._columns[(column - 1).clamp(min=0)]), best

    def _keep_order(self, timestamp_logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Suppress the timestamps that are not allowed now; return the rows whose last token is a closing timestamp.

        After a pair, or the first timestamp, comes text. After a closing timestamp comes the next pair's opening
        timestamp, or the end.
        """
        times_s = self._seconds[tokens]
        last = times_s[:, -1] >= 0
        before = times_s[:, -2] >= 0 if tokens.shape[1] > 1 else torch.ones_like(last)
        closing, latest_s = last & ~before, times_s.amax(dim=1)[:, None]
        backwards = torch.where(closing[:, None], self._column_times_s < latest_s, self._column_times_s <= latest_s)
        timestamp_logits.masked_fill_((last & before)[:, None] | backwards, _NEVER)
        return closing


def _logsumexp(scores: torch.Tensor, best: torch.Tensor) -> torch.Tensor:
    """Return the logarithm of the summed exponentials of each row, given its maximum; overwrites ``scores``."""
    return scores.sub_(best[:, None]).exp_().sum(dim=-1).log_() + best
