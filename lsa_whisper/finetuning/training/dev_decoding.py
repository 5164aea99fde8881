"""Decoding of dev set windows by a model in training, with the greedy search and the rules of ``transcribe``.

``transcribe`` also decodes windows a second time when the model repeats itself; dev evaluation does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper.checkpoint import Checkpoint, decoder_prompt
from lsa_whisper.decoding.decoder import TOKENS_PER_S, SegmentParser, token_limit
from lsa_whisper.decoding.greedy import Search, greedy_search
from lsa_whisper.decoding.rules import DecodingRules
from lsa_whisper.decoding.style import DecodingStyle
from lsa_whisper.finetuning.distributed.division import layers_are_sharded, root_unsharded


class DevDecoder:
    """Decodes batches with the current weights of a model in training."""

    def __init__(self, start: Checkpoint, generation_config: Any, *, tokens_per_s: float = TOKENS_PER_S):
        """Decode with the vocabulary of ``start`` and a generation config that is fitted to the labels.

        Args:
            start: The checkpoint that training starts from.
            generation_config: Allows every mark of the labels.
            tokens_per_s: Limit of the tokens per second of audio.
        """
        self._tokens_per_s, self._positions = tokens_per_s, int(start.model.config.max_target_positions)
        self._tokenizer, self._config = start.tokenizer, generation_config
        self._vocab_size = int(start.model.config.vocab_size)
        self._rules = DecodingRules(
            self._tokenizer, generation_config, self._vocab_size, timestamps=start.labels.timestamps
        )
        self._start_token = int(generation_config.decoder_start_token_id)
        language = next(iter(getattr(generation_config, "lang_to_id", None) or {"<|en|>": 0})).strip("<|>")
        prompt = decoder_prompt(self._tokenizer, generation_config, language=language)
        full = decoder_prompt(
            self._tokenizer,
            generation_config,
            language=language,
            with_timestamps=bool(self._rules.timestamps_s),
        )
        behind = DecodingStyle(start.labels).before(prompt, self._tokenizer, generation_config, "", self._positions)
        tags = behind.index(self._start_token)
        self._tags, self._prompt_length, self._suffix = behind[:tags], len(behind) - tags, full[len(prompt) :]

    def decode(self, model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the decoded tokens of a batch ``(batch, tokens)``, without the prompt.

        Args:
            model: A Whisper model, with or without an adapter, sharded by ZeRO-3 or FSDP2 or not at all.
            batch: ``input_features``, ``decoder_input_ids`` (for the language of each window) and ``durations_s``.
        """
        whisper = model.get_base_model() if hasattr(model, "get_base_model") else model
        features, inputs = batch["input_features"], batch["decoder_input_ids"]
        if self._rules.device != features.device:
            self._rules = DecodingRules(self._tokenizer, self._config, self._vocab_size, features.device)
        # A window's previous text, where its manifest gives one, stands before the start token.
        first = (inputs == self._start_token).int().argmax(1, keepdim=True)
        places = first + torch.arange(self._prompt_length, device=first.device)
        tags, suffix = (
            torch.tensor([part], dtype=inputs.dtype, device=inputs.device).expand(len(inputs), -1)
            for part in (self._tags, self._suffix)
        )
        prompts = torch.cat((tags, inputs.gather(1, places), suffix), dim=1)
        with root_unsharded(model):
            hidden = whisper.get_encoder()(features).last_hidden_state
            ((tokens, _, _),) = greedy_search(
                whisper,
                hidden,
                [Search(prompts, self._rules, tokens_per_s=self._tokens_per_s)],
                batch["durations_s"],
                synced_ranks=layers_are_sharded(model),
            )
        return tokens

    def limit(self, duration_s: float) -> int:
        """Return the most tokens that are decoded for a window of audio."""
        return token_limit(
            duration_s, len(self._tags) + self._prompt_length + len(self._suffix), self._positions, self._tokens_per_s
        )

    def text(self, tokens: npt.NDArray[np.integer[Any]], duration_s: float) -> str:
        """Return the text of one window's tokens; timestamps, special tokens and padding (negative) are left out."""
        kept = [int(token) for token in tokens if token >= 0]
        parser = SegmentParser(self._rules.end, self._rules.timestamps_s, self._text_of)
        decoded = parser.window(kept, [0.0] * len(kept), duration_s, limit=len(kept)) if kept else None
        return decoded.text if decoded else ""

    def _text_of(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))
