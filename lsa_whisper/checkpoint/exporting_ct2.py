"""Conversion of a checkpoint to CTranslate2, verified against its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.converted import COPIED, CT2_DTYPES, Converted, load_converted
from lsa_whisper.checkpoint.loading import Checkpoint, quiet
from lsa_whisper.checkpoint.vocabulary import decoder_prompt, timestamps
from lsa_whisper.errors import CheckpointError

_TOKENS = 12
_TOLERANCE = {"float32": 1e-3, "float16": 0.02, "bfloat16": 0.1}
_TOLERANCE_INT8 = 0.5  # of the logits' standard deviation; another model's differ by more than one


def convert(checkpoint: Checkpoint, source: Path, out: Path, *, dtype: str) -> Path:
    """Write a CTranslate2 folder, load it again and compare; return it.

    Args:
        checkpoint: the model.
        source: the Hugging Face folder in which it lies, merged, in float32.
        out: the folder to write.
        dtype: how the weights are stored, one of :data:`CT2_DTYPES`.

    Raises:
        CheckpointError: CTranslate2 has no place for such a model, or computes something else.
    """
    if dtype not in CT2_DTYPES:
        raise CheckpointError(f"numbers of type {dtype!r} are not known to CTranslate2; choose {', '.join(CT2_DTYPES)}")
    _verify_fit(checkpoint)
    from ctranslate2.converters import TransformersConverter

    with quiet():
        TransformersConverter(str(source), copy_files=list(COPIED)).convert(str(out), quantization=dtype)
    difference = _difference(checkpoint, load_converted(out))
    if not difference <= _TOLERANCE.get(dtype, _TOLERANCE_INT8):  # written so that a NaN is a difference too
        raise CheckpointError(f"the converted model differs from its source by {difference:.2g}; nothing was written")
    return out


def _verify_fit(checkpoint: Checkpoint) -> None:
    """Return when CTranslate2's rules for time stamps hold for a vocabulary.

    They count on an order of ids: text, end of text, special tokens, ``<|notimestamps|>``, stamps from 0.00 on.
    """
    added = checkpoint.tokenizer.get_added_vocab()
    stamps = timestamps(checkpoint.tokenizer)
    before = added.get("<|notimestamps|>")
    end = int(checkpoint.model.generation_config.eos_token_id)
    reasons = {
        "it has no <|notimestamps|>": before is None,
        "its end of text does not come after all text": end != min(added.values(), default=-1),
        "its time stamps do not follow <|notimestamps|>": before is not None
        and sorted(stamps) != list(range(before + 1, before + 1 + len(stamps))),
        "its time stamps run backwards": sorted(stamps.values()) != [stamps[index] for index in sorted(stamps)],
        "its preprocessor and its encoder hear windows of different lengths": abs(
            checkpoint.context_s - checkpoint.feature_extractor.n_samples / checkpoint.feature_extractor.sampling_rate
        )
        > checkpoint.time_precision_s,
    }
    if wrong := [reason for reason, holds in reasons.items() if holds]:
        raise CheckpointError(f"{checkpoint.path}: cannot be converted for CTranslate2: {wrong[0]}; use --to hf")


def _difference(checkpoint: Checkpoint, converted: Converted) -> float:
    """Return the largest difference of logits, in standard deviations, over a text the checkpoint makes up.

    CTranslate2 shows logits to which no rule was applied for tokens that follow the prompt and are given.
    """
    import ctranslate2
    import numpy as np
    import torch

    model, extractor = checkpoint.model, checkpoint.feature_extractor
    weight = next(model.parameters())
    generator = torch.Generator().manual_seed(0)
    probe = torch.randn(1, extractor.feature_size, extractor.nb_max_frames, generator=generator) / 4
    prompt = decoder_prompt(checkpoint.tokenizer, model.generation_config, language=any_language(model))
    tokens, logits = list(prompt), torch.empty(0)
    with torch.inference_mode():
        hidden = model.get_encoder()(probe.to(weight.device, weight.dtype)).last_hidden_state
        for _ in range(_TOKENS):
            inputs = torch.tensor([tokens], device=weight.device)
            logits = model(encoder_outputs=(hidden,), decoder_input_ids=inputs).logits[0, len(prompt) - 1 :]
            # Text alone: what begins with another special token would be read as part of the prompt.
            tokens.append(int(logits[-1, : model.generation_config.eos_token_id].argmax()))
    (result,) = converted.model.generate(
        ctranslate2.StorageView.from_array(probe.numpy()),
        [tokens],
        beam_size=1,
        max_length=4 * len(tokens),
        return_logits_vocab=True,
        suppress_tokens=[],
        suppress_blank=False,
    )
    again = np.array([np.array(step.to(ctranslate2.DataType.float32)) for step in result.logits[0][:_TOKENS]])
    expected = logits.float().cpu().numpy()
    # The one token that is never shown is <|notimestamps|>.
    shown = np.abs(again) < 1e30
    return float((np.abs(again - expected) * shown).max() / expected.std())


def any_language(model: Any) -> str:
    """Return a language that a model knows."""
    known = getattr(model.generation_config, "lang_to_id", None) or {"<|en|>": 0}
    return str(next(iter(known)).strip("<|>"))
