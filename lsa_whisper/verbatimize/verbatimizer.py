"""A loaded model that finds what was spoken, for known clean text and its sound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

import torch
from scipy.special import expit

from lsa_whisper.audio import Recording
from lsa_whisper.chat import Utterance
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt
from lsa_whisper.decoding.decoder import DecodedSegment
from lsa_whisper.decoding.rules import allowed_tokens
from lsa_whisper.decoding.window_decoder import log_mel
from lsa_whisper.labels import Labels, encode
from lsa_whisper.languages import chat_code, whisper_code
from lsa_whisper.verbatimize.clean_text import Insertion, insert, join_retraces, read_clean_text
from lsa_whisper.verbatimize.constraint import Constraint, Inserted
from lsa_whisper.verbatimize.search import BeamSearch, Found
from lsa_whisper.verbatimize.slots import Slot, window_slots
from lsa_whisper.verbatimize.vocabulary import Vocabulary, verbatim_style
from lsa_whisper.verbatimize.windows import VerbatimWindow, overlapped_utterances, pack_utterances, widened

BEAM = 5
"""Candidates that are compared."""
_FLUENT = Labels("fluent")
_PLACE = "zqz"
_SUREST = 0.999999
"""Of an insertion, so that its words differ from those of the transcript."""


class Verbatimizer:
    """Inserts disfluencies into clean utterances with one loaded model."""

    def __init__(self, checkpoint: Checkpoint, *, language: str, prompt: bool, least: float = 0.0):
        """Take a checkpoint.

        Args:
            checkpoint: Trained on ``chat`` or ``verbatim`` labels, or a stock Whisper, which is asked for disfluencies.
            language: ISO 639-3 or Whisper's code.
            prompt: Give the model the fluent text as a prompt, if it was trained with that.
            least: Insert only spoken words of at least this probability, and widen the bullets of their
                utterances so that these have their sound; 0 inserts all that is heard, and changes no bullet.

        Raises:
            CheckpointError: The model writes no disfluencies, or does not know the language.
        """
        self._style = verbatim_style(checkpoint, chat_code(language))
        self._checkpoint, self._language, self._prompted = checkpoint, chat_code(language), prompt
        self._least = least
        model, tokenizer, settings = checkpoint.model, checkpoint.tokenizer, checkpoint.model.generation_config
        size, stamped = model.config.vocab_size, self._style.timestamps
        tokens = allowed_tokens(tokenizer, settings, size, timestamps=stamped)
        self._stamps_s = sorted(tokens.timestamps_s.items(), key=lambda pair: pair[1])
        self._vocabulary = Vocabulary(tokenizer, self._style.labels)
        stamps = [token for token, _ in self._stamps_s]
        self._search = BeamSearch(model, self._vocabulary, end=tokens.end, stamps=stamps, beam=BEAM)
        self._begin = decoder_prompt(
            tokenizer, settings, language=whisper_code(language), with_timestamps=bool(self._stamps_s)
        )

    def windows(self, utterances: Sequence[Utterance], duration_s: float) -> list[VerbatimWindow]:
        """Return the windows of a transcript.

        Utterances without times, without known words, or overlapped by another are in none: where two people speak at
        once, a model takes the other voice for disfluencies.
        """
        usable = [
            not utterance.unusable() and bool(read_clean_text(utterance, self._style.labels).items) and not overlapped
            for utterance, overlapped in zip(utterances, overlapped_utterances(utterances), strict=True)
        ]
        context_ms = int(self._checkpoint.context_s * 1000)
        return pack_utterances(utterances, usable, context_ms=context_ms, duration_ms=int(duration_s * 1000))

    def verbatimize(
        self, utterances: Sequence[Utterance], window: VerbatimWindow, recording: Recording
    ) -> list[DecodedSegment]:
        """Return the main tiers of a window's utterances with the disfluencies that are heard, without speaker codes.

        With a least probability, also the log-probability of each word, 0 for those of the transcript. For a window
        whose text does not fit the decoder, the list is empty.
        """
        segments = []
        for at, scored in zip(window.members, self.find(utterances, window, recording), strict=False):
            before = utterances[at]
            insertions = [insertion for insertion, _ in scored]
            after = with_insertions(before, insertions)
            if self._least and after.body != before.body:
                text, places = read_clean_text(before, self._style.labels), [own.offset for own in insertions]
                is_first, is_last = min(places) <= text.items[0].offset, max(places) >= text.end
                if is_first or is_last:
                    after = after.at(widened(utterances, window, at, before=is_first, behind=is_last))
            logprobs = zip(after.verbatim(), _logprobs(before, scored), strict=False) if self._least else ()
            segments.append(DecodedSegment(after.body, 0.0, 0.0, logprobs=tuple(logprobs)))
        return segments

    def find(
        self, utterances: Sequence[Utterance], window: VerbatimWindow, recording: Recording
    ) -> list[list[tuple[Insertion, float]]]:
        """Return the insertions of each of a window's utterances with their probabilities.

        The probability of an insertion is that of the best text with it, beside that of the best text without it, and
        without its like in the same place, in which all others may stay. It is 1, and nothing is searched, unless
        a least probability was asked for.
        """
        labels = self._style.labels
        members = [utterances[at] for at in window.members]
        texts = [read_clean_text(member, labels) for member in members]
        prompt = self._prompt(members)
        limit = int(self._checkpoint.model.config.max_target_positions) - len(prompt)
        slots = window_slots(
            texts, [member.speaker for member in members], self._vocabulary,
            language=self._language, stamps=bool(self._stamps_s),
        )  # fmt: skip
        if not Constraint(slots, self._vocabulary, limit).fits:
            return []
        duration_s = window.span.duration_ms / 1000
        last = sum(at_s <= duration_s + 1e-3 for _, at_s in self._stamps_s)
        hidden = self._encode(recording, window)

        def search(allowed: Sequence[Slot]) -> Found:
            return self._search.search(hidden, prompt, Constraint(allowed, self._vocabulary, limit), last)

        def within(insertions: Inserted) -> Found:
            return search([slot.only(insertions) for slot in slots])

        inserted = search(slots).inserted
        if any(map(_is_filler, inserted)):
            # The beam may have lost a likelier text without one of them: after a prompt, many begin with a filler.
            again = within(inserted).inserted
            inserted = tuple(pair for pair in inserted if pair in again or not _is_filler(pair))
        probabilities = dict.fromkeys(inserted, 1.0)
        if self._least and inserted:
            best = within(inserted).score
            for pair in probabilities:
                others = tuple(other for other in inserted if other != pair)
                probabilities[pair] = float(expit(best - within(others).score)) if pair[1].is_spoken else 0.0
        return [
            [(own, sure) for at, own in inserted if at == place and (sure := probabilities[at, own]) >= self._least]
            for place in range(len(members))
        ]

    def _prompt(self, members: Sequence[Utterance]) -> list[int]:
        text = " ".join(filter(None, (encode(member, _FLUENT) for member in members))) if self._prompted else ""
        model = self._checkpoint.model
        positions = int(model.config.max_target_positions)
        return self._style.before(self._begin, self._checkpoint.tokenizer, model.generation_config, text, positions)

    def _encode(self, recording: Recording, window: VerbatimWindow) -> torch.Tensor:
        checkpoint = self._checkpoint
        samples = recording.load(window.span)
        spectra = log_mel(checkpoint.feature_extractor, [samples], checkpoint.context_s)
        with torch.inference_mode():
            model = checkpoint.model
            hidden: torch.Tensor = model.get_encoder()(spectra.to(model.device, model.dtype)).last_hidden_state
        return hidden


def _is_filler(inserted: tuple[int, Insertion]) -> bool:
    return inserted[1].text.startswith("&-")


def _logprobs(before: Utterance, scored: Sequence[tuple[Insertion, float]]) -> Iterator[float]:
    """Yield the log-probability of each word of ``before`` with insertions; 0 for its own words."""
    places = insert(before, [Insertion(own.offset, f"&-{_PLACE} ") for own, _ in scored]).verbatim()
    insertions = iter(sorted(scored, key=lambda pair: pair[0].offset))  # stable
    for word in places:
        if word != _PLACE:
            yield 0.0
            continue
        insertion, probability = next(insertions)
        words = len(insert(before, [insertion]).verbatim()) - len(before.verbatim())
        yield from [log(min(probability, _SUREST))] * words


def with_insertions(before: Utterance, insertions: Sequence[Insertion]) -> Utterance:
    """Return ``before`` with ``insertions``, or as it is if its words would change: marks in a tier may interact."""
    after = insert(before, join_retraces(insertions))
    same = after.fluent() == before.fluent() and len(after.tree.faults) <= len(before.tree.faults)
    return after if same else before
