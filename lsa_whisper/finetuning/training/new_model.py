"""A new, small Whisper model: byte-pair vocabulary, mel features and random weights.

The vocabulary keeps Whisper's order (text, special tokens, timestamps), so that any software for Whisper checkpoints
can load it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    GenerationConfig,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
    WhisperTokenizer,
)

from lsa_whisper.checkpoint.whisper_constants import SPECIAL_TOKENS, TIMESTAMP_STEP_S
from lsa_whisper.finetuning.recipe import ScratchModel


def new_tokenizer(texts: Iterable[str], size: int, context_s: float) -> WhisperTokenizer:
    """Return a Whisper tokenizer with ``size`` text tokens learned from ``texts``, special tokens and timestamps."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    learner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learner.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=size, initial_alphabet=sorted(alphabet), show_progress=False)
    )
    vocabulary = learner.get_vocab()
    vocabulary |= {token: len(vocabulary) + place for place, token in enumerate(SPECIAL_TOKENS)}
    merges = [tuple(pair) for pair in json.loads(learner.to_str())["model"]["merges"]]
    tokenizer = WhisperTokenizer(vocab=vocabulary, merges=merges)
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS])
    tokenizer.add_tokens(
        [f"<|{step * TIMESTAMP_STEP_S:.2f}|>" for step in range(round(context_s / TIMESTAMP_STEP_S) + 1)]
    )
    return tokenizer


def new_model(scratch: ScratchModel, tokenizer: WhisperTokenizer) -> WhisperForConditionalGeneration:
    """Return a Whisper model of these dimensions with random weights (seed torch first to reproduce them)."""
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL_TOKENS}
    end, start = ids["<|endoftext|>"], ids["<|startoftranscript|>"]
    config = WhisperConfig(
        vocab_size=len(tokenizer),
        num_mel_bins=scratch.mel_bins,
        d_model=scratch.d_model,
        encoder_layers=scratch.encoder_layers,
        decoder_layers=scratch.decoder_layers,
        encoder_attention_heads=scratch.attention_heads,
        decoder_attention_heads=scratch.attention_heads,
        encoder_ffn_dim=4 * scratch.d_model,
        decoder_ffn_dim=4 * scratch.d_model,
        max_source_positions=round(scratch.context_s / TIMESTAMP_STEP_S),
        max_target_positions=scratch.max_target_positions,
        pad_token_id=end,
        bos_token_id=end,
        eos_token_id=end,
        decoder_start_token_id=start,
        suppress_tokens=None,
        begin_suppress_tokens=None,
        dropout=scratch.dropout,
    )
    model = WhisperForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        decoder_start_token_id=start,
        is_multilingual=True,
        lang_to_id={"<|en|>": ids["<|en|>"]},
        task_to_id={"transcribe": ids["<|transcribe|>"], "translate": ids["<|translate|>"]},
        no_timestamps_token_id=ids["<|notimestamps|>"],
        prev_sot_token_id=ids["<|startofprev|>"],
        max_initial_timestamp_index=round(1.0 / TIMESTAMP_STEP_S),
        max_length=scratch.max_target_positions,
        suppress_tokens=[ids[token] for token in ("<|translate|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>")],
        begin_suppress_tokens=[],
        alignment_heads=[[scratch.decoder_layers - 1, head] for head in range(scratch.attention_heads)],
        return_timestamps=True,
    )
    return model


def new_feature_extractor(scratch: ScratchModel) -> WhisperFeatureExtractor:
    """Return a feature extractor with the recipe's context length and number of mel bins."""
    return WhisperFeatureExtractor(feature_size=scratch.mel_bins, chunk_length=round(scratch.context_s))
