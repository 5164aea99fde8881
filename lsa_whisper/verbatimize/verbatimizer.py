"""A loaded model that finds what was spoken, for known clean text and its sound."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lsa_whisper.audio import Recording
from lsa_whisper.chat import Utterance
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt
from lsa_whisper.decoding.rules import allowed_tokens
from lsa_whisper.decoding.style import decoding_style, is_stock
from lsa_whisper.decoding.window_decoder import log_mel
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import Labels, encode
from lsa_whisper.languages import chat_code, whisper_code
from lsa_whisper.verbatimize.clean_text import Insertion, insert, join_retraces, read_clean_text
from lsa_whisper.verbatimize.constraint import Constraint
from lsa_whisper.verbatimize.search import BeamSearch
from lsa_whisper.verbatimize.slots import window_slots
from lsa_whisper.verbatimize.vocabulary import Vocabulary
from lsa_whisper.verbatimize.windows import VerbatimWindow, overlapped_utterances, pack_utterances

BEAM = 5
"""Candidates that are compared."""
_FLUENT = Labels("fluent")


class Verbatimizer:
    """Inserts disfluencies into clean utterances with one loaded model."""

    def __init__(self, checkpoint: Checkpoint, *, language: str, prompt: bool):
        """Take a checkpoint.

        Args:
            checkpoint: Trained on ``chat`` or ``verbatim`` labels, or a stock Whisper, which is asked for disfluencies.
            language: ISO 639-3 or Whisper's code.
            prompt: Give the model the fluent text as a prompt, if it was trained with that.

        Raises:
            CheckpointError: The model writes no disfluencies, or does not know the language.
        """
        is_fluent = checkpoint.labels.style == "fluent"
        if is_fluent and not is_stock(checkpoint):
            raise CheckpointError(
                f"{checkpoint.path}: writes no disfluencies; fine-tune a model on data prepared with --labels chat"
            )
        self._style = decoding_style(checkpoint, "verbatim" if is_fluent else None, chat_code(language))
        self._checkpoint, self._language, self._prompted = checkpoint, chat_code(language), prompt
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

    def verbatimize(self, utterances: Sequence[Utterance], window: VerbatimWindow, recording: Recording) -> list[str]:
        """Return the main tiers of a window's utterances with the disfluencies that are heard, without speaker codes.

        For a window whose text does not fit the decoder, the list is empty.
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
        constraint = Constraint(slots, self._vocabulary, limit)
        if not constraint.fits:
            return []
        duration_s = window.span.duration_ms / 1000
        last = sum(at_s <= duration_s + 1e-3 for _, at_s in self._stamps_s)
        hidden = self._encode(recording, window)
        result = self._search.search(hidden, prompt, constraint, last)
        bodies, inserted = [], result.inserted
        if any(map(_is_filler, inserted)):
            # The beam may have lost a likelier text without one of them: after a prompt, many begin with a filler.
            fewer = Constraint([slot.only(inserted) for slot in slots], self._vocabulary, limit)
            again = self._search.search(hidden, prompt, fewer, last)
            inserted = tuple(pair for pair in inserted if pair in again.inserted or not _is_filler(pair))
        for place, before in enumerate(members):
            own = join_retraces([insertion for at, insertion in inserted if at == place])
            bodies.append(_checked(before, insert(before, own)).body)
        return bodies

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


def _checked(before: Utterance, after: Utterance) -> Utterance:
    """Return ``after``, or ``before`` if its words would not be those of ``before``: marks in a tier may interact."""
    same = after.fluent() == before.fluent() and len(after.tree.faults) <= len(before.tree.faults)
    return after if same else before
