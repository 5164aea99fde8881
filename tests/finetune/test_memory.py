from __future__ import annotations

import pytest
import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetune import estimate_memory
from lsa_whisper.finetune.memory import SHAPES
from lsa_whisper.finetune.model import with_adapter
from lsa_whisper.finetune.recipe import Adapter


def meta_model(shape):
    with torch.device("meta"):
        model = WhisperForConditionalGeneration(
            WhisperConfig(
                d_model=shape.width,
                encoder_layers=shape.encoder_layers,
                decoder_layers=shape.decoder_layers,
                encoder_ffn_dim=4 * shape.width,
                decoder_ffn_dim=4 * shape.width,
                encoder_attention_heads=shape.width // 64,
                decoder_attention_heads=shape.width // 64,
                num_mel_bins=shape.mels,
                vocab_size=shape.vocabulary,
            )
        )
    model.tie_weights()
    return model


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_are_counted_as_the_model_has_them(name):
    assert SHAPES[name].parameters == sum(p.numel() for p in meta_model(SHAPES[name]).parameters())


def test_adapter_parameters_are_counted_as_peft_makes_them():
    adapter = Adapter(rank=16)
    model = with_adapter(meta_model(SHAPES["tiny"]), adapter)
    wanted = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert SHAPES["tiny"].adapter_parameters(adapter) == wanted


def test_a_24_gb_gpu_needs_offload_for_large():
    plans = {plan.strategy: plan for plan in estimate_memory("large-v3").plans}
    assert not plans["single or ddp"].fits
    assert plans["zero2, optimizer on cpu"].fits
    assert plans["zero3, everything on cpu"].gpu_gib < 4


def test_unknown_model_is_one_sentence():
    with pytest.raises(CheckpointError, match="sizes are tiny"):
        estimate_memory("huge")
