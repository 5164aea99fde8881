"""The decoding libraries: the name of an engine -> a loaded model and its decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lsa_whisper import checkpoint
from lsa_whisper.audio import SAMPLE_RATE_HZ
from lsa_whisper.decoding.batches import default_batch_size
from lsa_whisper.decoding.decoder import Decoder
from lsa_whisper.decoding.no_speech import WHISPERS_RULE, NoSpeechRule
from lsa_whisper.decoding.style import decoding_style
from lsa_whisper.errors import CheckpointError, first_line
from lsa_whisper.system.device import has_native_bf16
from lsa_whisper.system.process import keep_heap
from lsa_whisper.system.terminal import print_progress

ENGINES = ("transformers", "ct2")
ENGINES_WITH_PROMPT = ("transformers",)
"""The engines whose decoders are a :class:`~lsa_whisper.decoding.decoder.PromptedDecoder`."""
_MPS_DTYPES = ("float32", "float16")


def resolve_device(device: str, dtype: str, engine: str = "transformers") -> tuple[str, str]:
    """Return the device and number format that ``auto`` stands for on this machine.

    For ``ct2`` the number format stays ``auto``: the converted folder determines it. Where Apple's GPU (``mps``) cannot
    compute, the CPU does, and a line on the terminal says so.

    Raises:
        CheckpointError: The device has no such number format.
    """
    import torch

    if device == "auto" and torch.cuda.is_available():
        device = "cuda"
    elif device in ("auto", "mps"):
        device = _apple_gpu_or_cpu(engine, required=device == "mps")
    if device == "mps" and dtype not in ("auto", *_MPS_DTYPES):
        raise CheckpointError(f"device mps does not compute in {dtype}; choose {' or '.join(_MPS_DTYPES)}")
    if dtype == "auto" and engine == "transformers":
        on_gpu = "bfloat16" if has_native_bf16() else "float16"
        dtype = on_gpu if device.startswith("cuda") else "float32"
    return device, dtype


def _apple_gpu_or_cpu(engine: str, *, required: bool) -> str:
    """Return ``mps`` if Apple's GPU can be used, else ``cpu``; print why if it is there, or ``required``."""
    import torch

    if engine == "ct2":
        reason = "CTranslate2 does not use it"
    elif not torch.backends.mps.is_available():
        reason = "this machine or this PyTorch has none"
    elif not (reason := _mps_failure()):
        return "mps"
    else:
        required = True
    if required:
        print_progress(f"device mps cannot be used ({reason}); the CPU computes")
    return "cpu"


def _mps_failure() -> str:
    """Return why a small computation on Apple's GPU fails; empty if it works."""
    import torch

    try:
        sound = torch.ones(1, 1, 8, device="mps")
        torch.nn.functional.conv1d(sound, sound[..., :3]).softmax(-1).tolist()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        return first_line(error)
    return ""


def load_engine(
    engine: str,
    model: str | Path,
    *,
    device: str,
    dtype: str,
    language: str | None,
    batch_size: int | None,
    word_times: bool,
    silence: NoSpeechRule = WHISPERS_RULE,
    draft: str | Path | None = None,
    beams: int | None = None,
    style: str | None = None,
    second_text: bool = True,
    spoken: str = "und",
    prompt: str = "",
    words: Sequence[str] = (),
    loaded: Any = None,
) -> tuple[Any, Decoder, str]:
    """Return a loaded model, its decoder, and the number format it computes in.

    Args:
        engine: One of :data:`ENGINES`.
        model: A checkpoint folder or a hub name; for ``ct2`` also a folder that ``export --to ct2`` wrote.
        device: See :func:`resolve_device`.
        dtype: See :func:`resolve_device`.
        language: Whisper's code; ``None`` if the language will be detected.
        batch_size: Windows of the full context decoded together; ``None`` for as many as suit the machine.
        word_times: Compute the time of each token.
        silence: When a window counts as silent.
        draft: A small checkpoint for speculative decoding (``transformers`` only).
        beams: How many texts are followed at once, if not as many as the style says; with ``ct2`` and a draft, one.
        style: See :func:`~lsa_whisper.decoding.style.decoding_style`. Without timestamps, token times are computed.
        second_text: Whether the style may compare two texts of a window.
        spoken: The language in ISO 639-3.
        prompt: What the decoder reads before each window, as if it had written it.
        words: Names and rare words that may be spoken.
        loaded: ``model`` as an earlier call has returned it.

    Raises:
        CheckpointError: A model cannot be loaded, expects another sample rate than recordings are loaded at, or
            differs from its draft in the vocabulary, or cannot read a prompt.
        MissingExtraError: ``ct2`` without CTranslate2.
    """
    beams = 1 if draft is not None else beams
    written = partial(_written, style=style, second=second_text, beams=beams, spoken=spoken, prompt=prompt, words=words)
    options: dict[str, Any] = {"language": language, "silence": silence}
    if engine == "ct2":
        conversion = loaded or _load_ct2(model, device, dtype)
        options |= written(conversion, word_times)
        if options["style"].timestamps:
            # The library follows each timestamp as a text of its own. Its three texts are no better than one: of 24
            # recordings (whisper-base, float32), 25.5 % of the words are wrong, 21.7 % by transformers.
            options["style"] = replace(options["style"], beams=1)
        size_bytes = (Path(conversion.path) / "model.bin").stat().st_size
        options["batch_size"] = batch_size or default_batch_size(size_bytes, device)
        from lsa_whisper.decoding.ctranslate2_engine import CTranslate2Decoder

        return conversion, CTranslate2Decoder(conversion, **options), str(conversion.model.compute_type)
    loaded = loaded or checkpoint.load(model, dtype=dtype, device=device)
    _verify_rate(loaded)
    options |= written(loaded, word_times)
    size_bytes = sum(weight.nbytes for weight in loaded.model.parameters())
    options["batch_size"] = batch_size or default_batch_size(size_bytes * options["style"].beams, device)
    if draft is not None:
        from lsa_whisper.decoding.assisted import AssistedDecoder

        draft_model = checkpoint.load(draft, dtype=dtype, device=device)
        return loaded, AssistedDecoder(loaded, draft=draft_model, **options), dtype
    from lsa_whisper.decoding.transformers_engine import TransformersDecoder

    return loaded, TransformersDecoder(loaded, **options), dtype


def _written(
    loaded: Any,
    word_times: bool,
    *,
    style: str | None,
    second: bool,
    beams: int | None,
    spoken: str,
    prompt: str,
    words: Sequence[str],
) -> dict[str, Any]:
    """Return the style that a model writes in, and whether token times are computed.

    Without timestamps only they tell when words are spoken, and the timestamps of stock models are whole seconds. In
    five clips of meetings, OpenAI's base starts 4 of 12 utterances within .2 s of the truth by its timestamps, and 9 of
    14 by its token times, which take 8 % more processor time.
    """
    if prompt and not checkpoint.reads_previous_text(loaded.tokenizer):
        raise CheckpointError(f"{loaded.path}: its vocabulary has no place for a prompt; leave out `prompt`")
    own = decoding_style(loaded, style, spoken)
    own = (own if second else replace(own, second=None)).given(prompt, words, beams)
    return {"style": own, "word_times": word_times or not own.timestamps or own.is_stock}


def _load_ct2(model: str | Path, device: str, dtype: str) -> checkpoint.ConvertedCheckpoint:
    if not device.startswith("cuda"):
        keep_heap()  # before a conversion, after which all that is computed takes a fifth more time otherwise
    if not checkpoint.is_converted(model):
        model = checkpoint.cached_conversion(model)
        # ConvertedCheckpoint in float32, from which every other format can be computed.
        dtype = "float16" if dtype == "auto" and device.startswith("cuda") else dtype
    conversion = checkpoint.load_converted(model, device=device, dtype=dtype)
    _verify_rate(conversion)
    return conversion


def _verify_rate(loaded: Any) -> None:
    rate_hz = loaded.feature_extractor.sampling_rate
    if rate_hz != SAMPLE_RATE_HZ:
        raise CheckpointError(
            f"{loaded.path}: expects {rate_hz} Hz, recordings are loaded at {SAMPLE_RATE_HZ} Hz; use another model"
        )
