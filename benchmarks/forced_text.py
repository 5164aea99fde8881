"""Random Whisper weights of real sizes that end each window after a given number of tokens.

Speed depends on the number of decoded tokens, and random weights never end a text. Stopping them by a library's rules
would measure those rules. So the end is in the weights: the decoder's position embeddings suppress the end of text up
to a position, and favor it from there on. Timestamps are suppressed in the same way. The first token must be a
timestamp and is 0.00: a later one could exceed a short window, which trained models do not do and programs handle
differently. So the same weights produce the same amount of text in every program.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoTokenizer,
    GenerationConfig,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
)

from lsa_whisper import checkpoint
from lsa_whisper.labels import Labels

# width, layers of the encoder, layers of the decoder, heads, mel bands
SHAPES = {
    "tiny": (384, 4, 4, 6, 80),
    "base": (512, 6, 6, 8, 80),
    "small": (768, 12, 12, 12, 80),
    "turbo": (1280, 32, 4, 20, 128),
    "large-v3": (1280, 32, 32, 20, 128),
}
_OPENAI = (
    (r"^model\.", ""),
    (r"layers\.", "blocks."),
    (r"self_attn_layer_norm", "attn_ln"),
    (r"encoder_attn_layer_norm", "cross_attn_ln"),
    (r"final_layer_norm", "mlp_ln"),
    (r"self_attn", "attn"),
    (r"encoder_attn", "cross_attn"),
    (r"q_proj", "query"),
    (r"k_proj", "key"),
    (r"v_proj", "value"),
    (r"out_proj", "out"),
    (r"fc1", "mlp.0"),
    (r"fc2", "mlp.2"),
    (r"encoder\.layer_norm", "encoder.ln_post"),
    (r"decoder\.layer_norm", "decoder.ln"),
    (r"embed_tokens", "token_embedding"),
    (r"embed_positions\.weight", "positional_embedding"),
)


def build(size: str, processor: Path, tokens: int, out: Path, *, trim_margin_s: float | None = None) -> Path:
    """Write a checkpoint of a given size that decodes ``tokens`` tokens per window, and return its folder.

    Args:
        size: One of :data:`SHAPES`.
        processor: A folder with the tokenizer and generation settings of OpenAI's model of that size.
        tokens: How many.
        out: The folder to write.
        trim_margin_s: Note that the model was trained with ``data.trim`` and this margin.
    """
    width, encoder_layers, decoder_layers, heads, mels = SHAPES[size]
    tokenizer = AutoTokenizer.from_pretrained(processor)
    settings = GenerationConfig.from_pretrained(processor)
    settings.alignment_heads = [[decoder_layers - 1, head] for head in range(heads)]
    config = WhisperConfig(
        vocab_size=len(tokenizer),
        num_mel_bins=mels,
        d_model=width,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        pad_token_id=settings.eos_token_id,
        bos_token_id=settings.eos_token_id,
        eos_token_id=settings.eos_token_id,
        decoder_start_token_id=settings.decoder_start_token_id,
    )
    torch.manual_seed(0)
    model = WhisperForConditionalGeneration(config)
    model.generation_config = settings
    _force(model, sorted(checkpoint.timestamp_tokens(tokenizer)), int(settings.eos_token_id), tokens)
    extractor = WhisperFeatureExtractor(feature_size=mels)
    parts = {"feature_extractor": extractor, "tokenizer": tokenizer, "labels": Labels("fluent")}
    return checkpoint.save(out, model=model, trim_margin_s=trim_margin_s, **parts)


@torch.no_grad()
def _force(model: Any, stamps: list[int], end: int, tokens: int) -> None:
    words, positions = model.model.decoder.embed_tokens.weight, model.model.decoder.embed_positions.weight
    directions, _ = torch.linalg.qr(torch.randn(words.shape[1], 2))
    stop, stamp = directions.T
    words -= words @ directions @ directions.T
    words[end] = 4 * stop
    words[stamps] -= 3 * stamp
    words[stamps[0]] += 1.5 * stamp
    # Tokens depend mostly on their position, so that no text repeats itself: a loop would be decoded again.
    positions.mul_(60)
    last = tokens + 3  # start, language, task
    positions[:last] += 30 * (stamp - stop)
    positions[last:] += 30 * (stamp + stop)


def openai_model(source: Any) -> Any:
    """Return OpenAI's own model with a transformers Whisper's weights."""
    from whisper.model import ModelDimensions, Whisper

    settings = source.config
    size, heads = settings.d_model, settings.encoder_attention_heads
    encoder = (settings.num_mel_bins, settings.max_source_positions, size, heads, settings.encoder_layers)
    decoder = (settings.vocab_size, settings.max_target_positions, size, heads, settings.decoder_layers)
    loaded = Whisper(ModelDimensions(*encoder, *decoder))
    loaded.load_state_dict(openai_weights(source))
    return loaded.eval()


def openai_weights(model: Any) -> dict[str, torch.Tensor]:
    """Return a transformers Whisper's weights under the names of OpenAI's package."""
    weights = {}
    for name, tensor in model.state_dict().items():
        if name == "proj_out.weight":
            continue
        for pattern, to in _OPENAI:
            name = re.sub(pattern, to, name)
        weights[name] = tensor
    return weights
