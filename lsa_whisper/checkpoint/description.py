"""What a model folder holds and whether its files fit together, without loading it.

Each row is a :class:`~lsa_whisper.system.machine.Finding`: ``problem`` for a combination that cannot work (such a model
is refused before anything runs), ``warn`` where something is to be known or done, with the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.stored_weights import SETTING_OF_TENSOR, Shapes, expected_shapes, layers_in, stored_tensors
from lsa_whisper.checkpoint.token_table import TokenTable, read_tokens, token_rows
from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.checkpoint.whisper_constants import ENCODER_STRIDE
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system.machine import Finding

PREPROCESSOR_FILES = ("preprocessor_config.json", "processor_config.json")
_COPY = "copy it from the model that this one was made from"
_FEW_LAYERS = 4
_SAMPLE_RATE_HZ = 16_000
MODEL_SIZES = (
    "d_model", "encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads",
    "encoder_ffn_dim", "decoder_ffn_dim", "num_mel_bins", "vocab_size", "max_source_positions",
    "max_target_positions",
)  # fmt: skip
"""The settings that give the shape of a model."""


@dataclass(frozen=True)
class ModelFiles:
    """The settings in a model folder, the tokens of its vocabulary and the shapes of its tensors."""

    config: Mapping[str, Any]
    generation: Mapping[str, Any]
    preprocessor: Mapping[str, Any]
    tokens: TokenTable
    shapes: Shapes

    @property
    def context_s(self) -> float:
        """Seconds of audio that the encoder takes."""
        hop_s = self.preprocessor["hop_length"] / self.preprocessor["sampling_rate"]
        return float(self.config["max_source_positions"] * ENCODER_STRIDE * hop_s)


def read_model_files(folder: Path, base: Path | None = None) -> ModelFiles:
    """Return the settings, tokens and tensor shapes of a folder.

    ``base`` is the adapter's, and has what the adapter's folder does not have.

    Raises:
        CheckpointError: A file is missing or cannot be read.
    """

    def place_of(*names: str) -> Path:
        places = [place for place in (folder, base or folder) if any((place / name).is_file() for name in names)]
        return places[0] if places else folder

    config = read_json((base or folder) / "config.json")
    for name in MODEL_SIZES:
        size = config.get(name)
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise CheckpointError(f"{(base or folder) / 'config.json'}: {name} is {size!r}, not a number; {_COPY}")
    generation = place_of("generation_config.json") / "generation_config.json"
    if not generation.is_file():
        raise CheckpointError(f"{folder}: has no generation_config.json; {_COPY}")
    return ModelFiles(
        config,
        read_json(generation),
        _preprocessor(place_of(*PREPROCESSOR_FILES)),
        read_tokens(place_of("tokenizer.json", "vocab.json")),
        {name.removeprefix("model."): shape for _, name, shape in stored_tensors(base or folder)},
    )


def _preprocessor(folder: Path) -> dict[str, Any]:
    """Return the feature extractor's settings with the defaults of transformers."""
    path = next((folder / name for name in PREPROCESSOR_FILES if (folder / name).is_file()), None)
    if path is None:
        raise CheckpointError(f"{folder}: has no {PREPROCESSOR_FILES[0]}; {_COPY}")
    content = read_json(path)
    inner = content.get("feature_extractor")
    defaults = {"feature_size": 80, "chunk_length": 30, "hop_length": 160, "sampling_rate": _SAMPLE_RATE_HZ}
    settings = defaults | (inner if isinstance(inner, dict) else content)
    for name in ("feature_size", "chunk_length", "hop_length", "sampling_rate"):
        if not isinstance(settings[name], int | float) or isinstance(settings[name], bool) or settings[name] <= 0:
            raise CheckpointError(f"{path}: {name} is {settings[name]!r}, not a number; {_COPY}")
    return settings


def describe_files(folder: Path, base: Path | None = None) -> tuple[Finding, ...]:
    """Return what a model folder holds and what does not fit, one row each; see :func:`read_model_files`.

    A missing or damaged file is a single row.
    """
    try:
        files = read_model_files(folder, base)
    except CheckpointError as error:
        fact, _, remedy = str(error).rpartition("; ")
        return (Finding("files", "problem", fact, remedy),)
    rows = (check(files) for check in (_kind, _mels, _context, _layers, _weights))
    return (*rows, *token_rows(files.config, files.generation, files.tokens, files.context_s))


def _kind(files: ModelFiles) -> Finding:
    fact = "Whisper"
    if files.tokens.verbatim_tags:
        fact = "CrisperWhisper 2: a verbatim tag before each prompt, fillers as [UM]"
    elif files.tokens.space is not None:
        fact = "CrisperWhisper 1: spaces are tokens of their own, and pauses in word times"
    elif files.config["decoder_layers"] < files.config["encoder_layers"]:
        fact = "distilled Whisper"
    return Finding("model", "ok", fact)


def _mels(files: ModelFiles) -> Finding:
    model, extractor = files.config["num_mel_bins"], files.preprocessor["feature_size"]
    if model == extractor:
        return Finding("mels", "ok", f"{model} mel bins")
    fact = f"the model takes {model} mel bins, its preprocessor makes {extractor}"
    return Finding("mels", "problem", fact, f"copy {PREPROCESSOR_FILES[0]} of a model with {model} mel bins")


def _context(files: ModelFiles) -> Finding:
    rate_hz, window_s = files.preprocessor["sampling_rate"], files.preprocessor["chunk_length"]
    if rate_hz != _SAMPLE_RATE_HZ:
        fact = f"expects {rate_hz} Hz, recordings are loaded at {_SAMPLE_RATE_HZ} Hz"
        return Finding("context", "problem", fact, "use another model")
    if abs(files.context_s - window_s) >= 1:
        fact = f"the encoder takes {files.context_s:g} s, its preprocessor makes {window_s:g} s"
        remedy = f"set chunk_length to {files.context_s:g} in {PREPROCESSOR_FILES[0]}"
        return Finding("context", "problem", fact, remedy)
    return Finding("context", "ok", f"{files.context_s:g} s, {files.config['max_target_positions']} decoder tokens")


def _layers(files: ModelFiles) -> Finding:
    counts = {stack: files.config[f"{stack}_layers"] for stack in ("encoder", "decoder")}
    for stack, count in counts.items():
        if count != (stored := layers_in(files.shapes, stack)):
            fact = f"config.json has {count} {stack} layers, the weights have {stored}"
            remedy = f"set {stack}_layers to {stored} in config.json, or copy the model again"
            return Finding("layers", "problem", fact, remedy)
    fact = f"{counts['encoder']} encoder layers, {counts['decoder']} decoder layers"
    if counts["decoder"] > _FEW_LAYERS or counts["decoder"] >= counts["encoder"]:
        return Finding("layers", "ok", fact)
    remedy = "for --wor run choose-heads once; for LoRA add k_proj, fc1 and fc2 to adapter.target_modules"
    return Finding("layers", "warn", fact, remedy)


def _weights(files: ModelFiles) -> Finding:
    config, width = files.config, files.config["d_model"]
    if config.get("quantization_config"):
        return Finding("weights", "ok", f"width {width}, quantized")
    for name, shape in expected_shapes(config).items():
        stored = files.shapes.get(name)
        if stored is None:
            return Finding("weights", "problem", f"{name} is missing from the weights", "copy the model again")
        if stored != shape:
            setting = "d_model" if width not in stored else SETTING_OF_TENSOR[name]
            fact = f"{name} has the shape {stored}, by config.json it has {shape}"
            return Finding("weights", "problem", fact, f"correct {setting} in config.json, or copy the model again")
    for stack in ("encoder", "decoder"):
        if width % (heads := config[f"{stack}_attention_heads"]):
            fact = f"{heads} attention heads of the {stack} do not divide d_model, {width}"
            return Finding("weights", "problem", fact, f"correct {stack}_attention_heads in config.json")
    return Finding("weights", "ok", f"width {width}, {len(files.shapes)} tensors")
