"""The CTranslate2 engine: the same windows and rules, computed by a C++ library in float32, float16 or int8.

CTranslate2 applies OpenAI's timestamp rules itself and offers no hook to choose tokens. Its rules differ from ours in
three points, which this module corrects:

- Its first token is always a timestamp. Ours may be the end of text, for a window without speech. The logits of the
  first step are computed in a separate call (a token after the prompt switches off CTranslate2's rules).
- It takes one set of suppressed tokens per batch, but the timestamps after the end of the audio differ between windows.
  Those after the longest window are suppressed; a shorter window in which a later one was chosen is decoded alone. So
  is one in which later ones had a part in a choice between timestamps together and text. Texts that are only compared
  may have them.
- It takes one length limit per batch. Each window's tokens are cut at the window's own limit.

Of several texts that it follows at once it tells no probabilities of tokens, which come from the pass that times them.

A model that writes speaker codes, or is given words that may be spoken, needs our rules at every step: its rows are
verified, and continued where they differ.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from lsa_whisper.checkpoint import ConvertedCheckpoint
from lsa_whisper.decoding.beam_search import is_nearly_right
from lsa_whisper.decoding.ctranslate2_attention import ConvertedAttention
from lsa_whisper.decoding.ctranslate2_steps import (
    array_of,
    begin_logprob,
    in_one_batch,
    inserted,
    late_share,
    logits_of_step,
    part_of,
    storage_view,
    token_logprobs,
)
from lsa_whisper.decoding.decoder import DecodedWindow, is_loop
from lsa_whisper.decoding.no_speech import WHISPERS_RULE, NoSpeechRule
from lsa_whisper.decoding.roles import speaker_codes
from lsa_whisper.decoding.rules import DecodingRules, allowed_tokens
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.decoding.token_times import Span
from lsa_whisper.decoding.two_texts import likelier_texts, most_tokens
from lsa_whisper.decoding.verified_rows import Proposal, VerifiedRow, complete_rows
from lsa_whisper.decoding.window_decoder import WindowDecoder, log_mel

_LATE_SHARE = 0.05  # of the probability of all timestamps, for those after the audio; less hardly ever decides
_MARGIN_FRAMES = 200
"""Encoder frames behind the sound that its words may attend to, too; the rest of the context is left out.

On clips of ten real meetings, 85 % of utterances start within 200 ms as with the whole context, and 83 % with 50 or 100
frames. A window of 8 s is timed in less than half of the time."""
_Row = tuple[list[int], list[float], float, bool]
"""Tokens, their log-probabilities, the probability of no speech, and whether timestamps after the audio had a part.

There are no log-probabilities where several texts were followed."""


class CTranslate2Decoder(WindowDecoder):
    """Decodes windows with a converted checkpoint."""

    _checkpoint: ConvertedCheckpoint
    second: CTranslate2Decoder | None = None

    def __init__(
        self,
        checkpoint: ConvertedCheckpoint,
        *,
        language: str | None = "en",
        batch_size: int = 8,
        word_times: bool = False,
        silence: NoSpeechRule = WHISPERS_RULE,
        style: DecodingStyle | None = None,
        attention: ConvertedAttention | None = None,
    ):
        self._model = checkpoint.model
        self._spectra_lock = threading.Lock()  # one batch at a time: the Fourier transform needs much memory
        super().__init__(
            checkpoint,
            checkpoint.settings,
            int(checkpoint.settings.max_length),
            batch_size=batch_size,
            word_times=word_times,
            silence=silence,
            style=style,
        )
        self._workers = self._model.num_workers
        vocabulary = (checkpoint.tokenizer, checkpoint.settings, checkpoint.size)
        self._allowed = allowed_tokens(*vocabulary, timestamps=self.style.timestamps)
        self._begin(self._allowed.end, self._allowed.timestamps_s, language)
        self._columns = np.array(sorted(self._allowed.timestamps_s), dtype=np.int64)
        self._column_times_s = np.array([self._allowed.timestamps_s[index] for index in self._columns.tolist()])
        self._attention = attention or (ConvertedAttention(checkpoint) if word_times else None)
        self._rules: DecodingRules | None = None
        if speaker_codes(checkpoint.settings) or self.style.words:
            self._rules = DecodingRules(*vocabulary, timestamps=self.style.timestamps, words=self.style.words)
        if self.style.second:
            self.second = CTranslate2Decoder(
                checkpoint,
                language=language,
                word_times=word_times,
                silence=silence,
                style=self.style.second,
                attention=self._attention,
            )
        self._may_be_empty = self._has_times and self._allowed.end not in self._allowed.suppressed_at_begin

    def _next_logits(self, start: list[int], windows: Sequence[np.ndarray]) -> torch.Tensor:
        steps = self._first_steps(start, self._encoded(windows), len(windows))
        return torch.from_numpy(np.stack([logits for logits, _ in steps]))

    def _spectra(self, windows: Sequence[np.ndarray]) -> np.ndarray:
        """Return the log-mel spectra ``(batch, mels, frames)`` of windows with one length of encoder inputs."""
        with self._spectra_lock:
            return np.asarray(log_mel(self._checkpoint.feature_extractor, windows, self._input_s(windows)))

    def decode(self, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        """Return one result per window, in order."""
        return self._batches(windows).in_threads(self._decode_batch)

    def _decode_batch(self, windows: Sequence[np.ndarray]) -> list[DecodedWindow]:
        durations_s = [self._duration_s(window) for window in windows]
        hidden = self._encoded(windows)
        texts = self.texts(self.rows(hidden, durations_s), hidden, windows)
        if (engine := self.second) is None:
            return texts
        rows: dict[int, _Row] = {}

        def second(indices: Sequence[int], *, with_times: bool) -> list[DecodedWindow]:
            part, sounds = part_of(hidden, indices), [windows[at] for at in indices]
            if not with_times:
                most = [most_tokens(texts[at]) for at in indices]
                rows.update(zip(indices, engine.rows(part, [durations_s[at] for at in indices], most), strict=True))
            return engine.texts([rows[at] for at in indices], part, sounds, with_times=with_times)

        return likelier_texts(texts, second)

    def rows(self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()) -> list[_Row]:
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

    def _nearly_right(self, hidden: Any, durations_s: Sequence[float]) -> list[_Row | None]:
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
        rows: list[_Row | None] = []
        for result, duration_s in zip(results, durations_s, strict=True):
            tokens = [*result.sequences_ids[0], self._allowed.end]
            has_ended = len(tokens) <= min(longest, self._limit(duration_s))
            mean = result.scores[0] * (len(tokens) - 1) / len(tokens)
            is_right = has_ended and is_nearly_right(tokens, mean, self._allowed.end)
            rows.append((tokens, [], self._no_speech(result), False) if is_right else None)
        return rows

    def _greedy_rows(self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()) -> list[_Row]:
        rows = self._generate_until_copies(hidden, durations_s, most)
        for index, (tokens, _, _, depends) in enumerate(rows):
            if depends or not {*tokens}.isdisjoint(self._late(durations_s[index]).tolist()):
                alone = part_of(hidden, [index])
                (rows[index],) = self._generate_until_copies(alone, durations_s[index : index + 1])
        return rows

    def _generate_until_copies(self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()) -> list[_Row]:
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

    def _until_copies(self, row: _Row, duration_s: float) -> _Row:
        length = self._usual_length(duration_s)
        return (row[0][:length], row[1][:length], *row[2:]) if is_loop(row[0], length) else row

    def texts(
        self, rows: Sequence[_Row], hidden: Any, windows: Sequence[np.ndarray], *, with_times: bool = True
    ) -> list[DecodedWindow]:
        """Return the texts of rows, with token times if they are requested."""
        passes = self._passes(hidden, windows, rows) if with_times else [([], row[1]) for row in rows]
        parts = zip(rows, map(self._duration_s, windows), passes, strict=True)
        return [
            self._result(row[0], scores, duration_s, row[2], times_s) for row, duration_s, (times_s, scores) in parts
        ]

    def _encoded(self, windows: Sequence[np.ndarray]) -> Any:
        return self._last.encoded(windows, self._encode, inserted, self._input_s)

    def _encode(self, windows: Sequence[np.ndarray]) -> Any:
        spectra = self._spectra(windows)
        if self._model.device != "cpu":
            return self._model.encode(storage_view(spectra))
        # One after another takes no longer, and the attention of eight needs half a gigabyte in each layer of base.
        return in_one_batch([self._model.encode(storage_view(spectra[at : at + 1])) for at in range(len(windows))])

    def _verified(self, rules: DecodingRules, hidden: Any, durations_s: Sequence[float]) -> list[_Row]:
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

    def _generate(self, hidden: Any, durations_s: Sequence[float], most: Sequence[int] = ()) -> list[_Row]:
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

    def _row(self, result: Any, first: Any, no_speech: float, duration_s: float) -> _Row:
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

    def _passes(
        self, hidden: Any, windows: Sequence[np.ndarray], rows: Sequence[_Row]
    ) -> list[tuple[list[Span], list[float]]]:
        """Return the start and end of each token in seconds, and the log-probabilities, of each row.

        The times are nothing unless word times are requested.
        """
        if not self._attention:
            return [([], row[1]) for row in rows]
        texts = self._timed_parts([row[0] for row in rows], [*map(self._duration_s, windows)])
        heard = torch.from_numpy(array_of(hidden))
        if all(row[1] for row in rows):
            longest = round(max(map(self._duration_s, windows)) / self._checkpoint.time_precision_s)
            heard = heard[:, : longest + _MARGIN_FRAMES]
            times = self._token_times(self._attention.of_rows(heard, self.prompt, texts), texts, windows)
            return [(times_s, row[1]) for times_s, row in zip(times, rows, strict=True)]
        found = [*self._attention.scored_rows(heard, self.prompt, [row[0] for row in rows], self._allowed.suppressed)]
        weights = (weights[:, : len(text)] for (weights, _), text in zip(found, texts, strict=True))
        times = self._token_times(weights, texts, windows)
        return [(times_s, row[1] or scores) for times_s, row, (_, scores) in zip(times, rows, found, strict=True)]
