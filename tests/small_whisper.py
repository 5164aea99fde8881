"""A Whisper of a few thousand random weights, for what ranks do with any model."""

from __future__ import annotations

import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

from lsa_whisper.finetuning.workload.shape import Shape

SHAPE = Shape(32, 2, 3, mels=8, vocabulary=101, source_positions=20, target_positions=16, feed_forward=48)


def small_whisper():
    """Return a Whisper of ``SHAPE``, always the same."""
    torch.manual_seed(0)
    config = WhisperConfig(
        d_model=SHAPE.width,
        encoder_layers=SHAPE.encoder_layers,
        decoder_layers=SHAPE.decoder_layers,
        encoder_ffn_dim=SHAPE.inner,
        decoder_ffn_dim=SHAPE.inner,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        num_mel_bins=SHAPE.mels,
        vocab_size=SHAPE.vocabulary,
        max_source_positions=SHAPE.source_positions,
        max_target_positions=SHAPE.target_positions,
        use_cache=False,
        **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 0),
    )
    model = WhisperForConditionalGeneration(config)
    model.get_encoder().embed_positions.requires_grad_(False)
    return model
