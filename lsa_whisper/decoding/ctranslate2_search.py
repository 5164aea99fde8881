"""What CTranslate2 finds in encoded windows: the same rules, computed by a C++ library in float32, float16 or int8.

CTranslate2 applies OpenAI's timestamp rules itself and offers no hook to choose tokens. Its rules differ from ours in
three points, which this module corrects:

- Its first token is always a timestamp. Ours may be the end of text, for a window without speech. The logits of the
  first step are computed in a separate call (a token after the prompt switches off CTranslate2's rules).
- It takes one set of suppressed tokens per batch, but the timestamps after the end of the audio differ between windows.
  Those after the longest window are suppressed; a shorter window in which a later one was chosen is decoded alone. So
  is one in which later ones had a part in a choice between timestamps together and text. Texts that are only compared
  may have them.
- It takes one length limit per batch. Each window's tokens are cut at the window's own limit.

A model that writes speaker codes, or is given words that may be spoken, needs our rules at every step: its rows are
verified, and continued where they differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from lsa_whisper.checkpoint import ConvertedCheckpoint
from lsa_whisper.decoding.ctranslate2_steps import begin_logprob, late_share, logits_of_step, part_of, token_logprobs
from lsa_whisper.decoding.roles import speaker_codes
from lsa_whisper.decoding.rules import DecodingRules, allowed_tokens
from lsa_whisper.decoding.text_limits import is_loop, is_nearly_right
from lsa_whisper.decoding.verified_rows import Proposal, VerifiedRow, complete_rows
from lsa_whisper.decoding.window_decoder import WindowDecoder

_LATE_SHARE = 0.05  # of the probability of all timestamps, for those after the audio; less hardly ever decides
FoundRow = tuple[list[int], list[float], float, bool]
"""Tokens, their log-probabilities, the probability of no speech, and whether timestamps after the audio had a part.

There are no log-probabilities where several texts were followed."""


class CTranslate2Search(WindowDecoder):
    """Finds the tokens of encoded windows with a converted checkpoint."""

    _checkpoint: ConvertedCheckpoint

    def __init__(self, checkpoint: ConvertedCheckpoint, **options: Any):
        self._model = checkpoint.model
        super().__init__(checkpoint, checkpoint.settings, int(checkpoint.settings.max_length), **options)
        self._workers = self._model.num_workers
        vocabulary = (checkpoint.tokenizer, checkpoint.settings, checkpoint.size)
        self._allowed = allowed_tokens(*vocabulary, timestamps=self.style.timestamps)
        self._columns = np.array(sorted(self._allowed.timestamps_s), dtype=np.int64)
        self._column_times_s = np.array([self._allowed.timestamps_s[index] for index in self._columns.tolist()])
        self._rules: DecodingRules | None = None
        if speaker_codes(checkpoint.settings) or self.style.words:
            self._rules = DecodingRules(*vocabulary, timestamps=self.style.timestamps, words=self.style.words)
        self._may_be_empty = bool(self._allowed.timestamps_s) and (
            self._allowed.end not in self._allowed.suppressed_at_begin
        )

    def rows(self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()) -> list[FoundRow]:
        """Return what is found in each window in the style of this decoder alone.

        ``most`` are the most tokens that a text may have to be used. All are given up after the largest of these
        numbers.
        """
        if self._rules:
            rows = self._verified(self._rules, hidden, durations_s)
            return [self._until_copies(row, duration_s) for row, duration_s in zip(rows, durations_s, strict=True)]
        if self.style.beams == 1:
            return self._greedy_rows(hidden, durations_s, most)
        found = self._nearly_right(hidden, durations_s)
        rest = [at for at, row in enumerate(found) if not row]
        greedy = iter(self._greedy_rows(part_of(hidden, rest), [durations_s[at] for at in rest]) if rest else ())
        return [row or next(greedy) for row in found]

    def _nearly_right(self, hidden: Any, durations_s: Sequence[float]) -> list[FoundRow | None]:
        """Return what beam search finds in each window where it is nearly right, as a style without timestamps has it.

        All texts are given up after the largest usual length.
        """
        longest = max(map(self._usual_length, durations_s))
        results = self._model.generate(
            hidden,
            [self.prompt] * len(durations_s),
            beam_size=self.style.beams,
            max_length=2 * longest,  # CTranslate2 uses half of this for the text
            return_scores=True,
            return_no_speech_prob=self._allowed.no_speech is not None,
            suppress_blank=bool(self._allowed.suppressed_at_begin),
            suppress_tokens=[*self._allowed.suppressed],
        )
        rows: list[FoundRow | None] = []
        for result, duration_s in zip(results, durations_s, strict=True):
            tokens = [*result.sequences_ids[0], self._allowed.end]
            has_ended = len(tokens) <= min(longest, self._limit(duration_s))
            mean = result.scores[0] * (len(tokens) - 1) / len(tokens)
            is_right = has_ended and is_nearly_right(tokens, mean, self._allowed.end)
            rows.append((tokens, [], self._no_speech(result), False) if is_right else None)
        return rows

    def _greedy_rows(self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()) -> list[FoundRow]:
        rows = self._generate_until_copies(hidden, durations_s, most)
        for index, (tokens, _, _, depends) in enumerate(rows):
            if depends or not {*tokens}.isdisjoint(self._late(durations_s[index]).tolist()):
                alone = part_of(hidden, [index])
                (rows[index],) = self._generate_until_copies(alone, durations_s[index : index + 1])
        return rows

    def _generate_until_copies(
        self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()
    ) -> list[FoundRow]:
        """Return the same as :meth:`_generate`, but of loops only the beginning.

        The library cannot be stopped, so texts are given up where they get unusually long, and those without copies are
        decoded again, alone.
        """
        rows = self._generate(hidden, durations_s, most or [*map(self._usual_length, durations_s)])
        for index, (row, duration_s) in enumerate(zip(rows, durations_s, strict=True)):
            has_ended = row[0][-1] == self._allowed.end or len(row[0]) >= self._limit(duration_s)
            rows[index] = self._until_copies(row, duration_s)
            if not (most or has_ended) and rows[index] is row:
                (rows[index],) = self._generate(part_of(hidden, [index]), [duration_s])
        return rows

    def _until_copies(self, row: FoundRow, duration_s: float) -> FoundRow:
        length = self._usual_length(duration_s)
        return (row[0][:length], row[1][:length], *row[2:]) if is_loop(row[0], length) else row

    def _verified(self, rules: DecodingRules, hidden: Any, durations_s: Sequence[float]) -> list[FoundRow]:
        """Return the same as :meth:`_generate`, as the rules choose it."""
        first, no_speech = zip(*self._first_steps(self.prompt, hidden, len(durations_s)), strict=True)
        logits = torch.from_numpy(np.stack(first))
        silent = [self.silence.is_likely(prob) for prob in no_speech]
        choices = rules.choose_first(logits, torch.tensor(durations_s), silent)
        rows = [
            VerifiedRow(duration_s, self._limit(duration_s), [token], [logprob])
            for duration_s, token, logprob in zip(durations_s, *(values.tolist() for values in choices), strict=True)
        ]
        complete_rows(rows, rules, lambda *of: self._propose(rules, hidden, durations_s, *of))
        return [(row.tokens, row.logprobs, prob, False) for row, prob in zip(rows, no_speech, strict=True)]

    def _generate(self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()) -> list[FoundRow]:
        """Return each window's tokens, the end of text included where it was reached, and their log-probabilities.

        Then comes the probability of no speech, and whether timestamps after the end of the audio had a part.
        """
        forbidden = self._late(max(durations_s)).tolist()
        # One token more than may be used, by which a text that was given up is told from one that ends there.
        longest = min(max(map(self._limit, durations_s)), 1 + max(most, default=self._positions))
        results = self._model.generate(
            hidden,
            [self.prompt] * len(durations_s),
            beam_size=1,
            max_length=2 * longest,  # CTranslate2 uses half of this for the text
            return_logits_vocab=True,
            return_no_speech_prob=self._allowed.no_speech is not None,
            suppress_blank=bool(self._allowed.suppressed_at_begin),
            suppress_tokens=[*self._allowed.suppressed, *forbidden],
            max_initial_timestamp_index=max(0, len(self._columns) - 1),
        )
        no_speech = [self._no_speech(result) for result in results]
        may_end = [self._may_be_empty or (self._has_times and self.silence.is_likely(prob)) for prob in no_speech]
        first = self._first_steps(self.prompt, hidden, len(durations_s)) if any(may_end) else []
        steps = [first[at][0] if may else None for at, may in enumerate(may_end)]
        return [self._row(*parts) for parts in zip(results, steps, no_speech, durations_s, strict=True)]

    def _propose(
        self,
        rules: DecodingRules,
        hidden: Any,
        durations_s: Sequence[float],
        indices: Sequence[int],
        texts: Sequence[Sequence[int]],
    ) -> list[Proposal]:
        """Return what CTranslate2 writes in some rows, after the tokens that are given in each."""
        late = self._late(max(durations_s[index] for index in indices)).tolist()
        results = self._model.generate(
            part_of(hidden, indices),
            [[*self.prompt, *tokens] for tokens in texts],
            beam_size=1,
            max_length=2 * max(self._limit(durations_s[index]) for index in indices),
            return_logits_vocab=True,
            suppress_blank=bool(self._allowed.suppressed_at_begin) and not any(texts),
            suppress_tokens=[*rules.suppressed, *late],
            max_initial_timestamp_index=max(0, len(self._columns) - 1),
        )
        return [
            ([*result.sequences_ids[0], rules.end], [partial(logits_of_step, step) for step in result.logits[0]])
            for result in results
        ]

    def _first_steps(self, prompt: list[int], hidden: Any, batch: int) -> list[tuple[np.ndarray, float]]:
        """Return the logits of each window's next token after a prompt, and the chance of no speech."""
        results = self._model.generate(
            hidden,
            [[*prompt, self._allowed.end]] * batch,
            beam_size=1,
            max_length=2 * len(prompt) + 2,
            return_logits_vocab=True,
            return_no_speech_prob=self._allowed.no_speech is not None,
            suppress_blank=False,
            suppress_tokens=[],
        )
        return [(logits_of_step(result.logits[0][0]), self._no_speech(result)) for result in results]

    def _no_speech(self, result: Any) -> float:
        return float(result.no_speech_prob) if self._allowed.no_speech is not None else 0.0

    def _row(self, result: Any, first: Any, no_speech: float, duration_s: float) -> FoundRow:
        end, late = self._allowed.end, self._late(duration_s)
        tokens = [*result.sequences_ids[0], end][: min(len(result.logits[0]), self._limit(duration_s))]
        logprobs, depends = token_logprobs(result, tokens, late), late_share(result, self._columns, late) > _LATE_SHARE
        if first is not None:
            began = begin_logprob(first, tokens[0], end=end, timestamps=self._columns, late=late)
            if began.is_empty:
                return [end], [began.end], no_speech, depends
            logprobs[0] = began.token
        return tokens, logprobs, no_speech, depends

    def _late(self, duration_s: float) -> np.ndarray:
        """Return the timestamps that windows of this length may not have."""
        latest_s = self._checkpoint.context_s if self.style.is_compared else duration_s
        return np.asarray(self._columns[self._column_times_s > latest_s + 1e-3])
