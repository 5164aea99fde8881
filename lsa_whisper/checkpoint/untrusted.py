"""Checks of untrusted model folders: no code, no files elsewhere, no sizes beyond any Whisper model.

The JSON files are checked before the libraries that load a model read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsa_whisper.errors import CheckpointError
from lsa_whisper.system import plain_json

ADAPTER_FILE = "adapter_config.json"
INDEX_FILE = "model.safetensors.index.json"
SETTINGS = (
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    ADAPTER_FILE,
    INDEX_FILE,
)
_CODE = (
    "auto_map",
    "custom_generate",
    "custom_pipelines",
    "megatron_config",
    "transformers_weights",
    "trust_remote_code",
)
"""Keys that make the libraries import a module or read a file named in the folder."""
_KERNEL = ("attn_implementation", "_attn_implementation", "_attn_implementation_internal", "experts_implementation")
"""Keys whose value may name a repository of compiled code (with a slash)."""
_WHISPER = "transformers.models.whisper."
_MAX_VALUES = {
    "d_model": 1 << 14,
    "encoder_layers": 256,
    "decoder_layers": 256,
    "encoder_ffn_dim": 1 << 16,
    "decoder_ffn_dim": 1 << 16,
    "vocab_size": 1 << 20,
    "num_mel_bins": 1 << 10,
    "max_source_positions": 1 << 16,
    "max_target_positions": 1 << 16,
    "feature_size": 1 << 10,
    "chunk_length": 600,
    "n_fft": 1 << 16,
    "sampling_rate": 192_000,
    "r": 1 << 14,
}
"""Far beyond every published Whisper; a value of nine digits would fill memory before any weight is read."""


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        CheckpointError: The file does not hold a JSON object.
    """
    try:
        content = plain_json.read(path)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); write the checkpoint again") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: not a JSON object; write the checkpoint again")
    return content


def verify_settings(folder: Path) -> None:
    """Check that a folder's settings name no code, no files elsewhere and no impossible size.

    Raises:
        CheckpointError: They do.
    """
    if (folder / "custom_generate").exists():
        raise CheckpointError(f"{folder / 'custom_generate'}: code in a model's folder is never run; remove it")
    for name in SETTINGS:
        path = folder / name
        if not path.is_file():
            continue
        settings = read_json(path)
        reason = next(_problems(settings), None)
        if reason is None and name == INDEX_FILE:
            reason = _index_problem(settings.get("weight_map"))
        if reason is not None:
            raise CheckpointError(f"{path}: {reason}; use a plain Whisper model, or remove the entry")


def _problems(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _problems(item)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key in _CODE and item:
            yield f"{key} refers to code or files of its own, which are never run or read"
        elif key in _KERNEL and "/" in str(item):
            yield f"{key} refers to compiled code elsewhere, which is never downloaded"
        elif key == "auto_mapping" and item and not _of_whisper(item):
            yield "auto_mapping refers to a module of its own, which is never imported"
        elif key in _MAX_VALUES and isinstance(item, int | float) and not item <= _MAX_VALUES[key]:
            yield f"{key} is {str(item)[:20]}, more than the limit of {_MAX_VALUES[key]}"
        else:
            yield from _problems(item)


def _of_whisper(mapping: Any) -> bool:
    """Return whether PEFT's ``auto_mapping`` is the one that it writes for Whisper."""
    return isinstance(mapping, dict) and str(mapping.get("parent_library")).startswith(_WHISPER)


def _index_problem(files: Any) -> str | None:
    """Return the problem of an index of weight files, ``None`` if there is none."""
    if not isinstance(files, dict):
        return "lists no weight files"
    for file in files.values():
        if not isinstance(file, str) or Path(file).name != file or not file.endswith(".safetensors"):
            return f"{str(file)[:60]!r} is not a safetensors file in this folder (pickled weights are not read)"
    return None
