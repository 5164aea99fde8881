"""A model folder that a stranger made: nothing in it may run, reach elsewhere, or ask for more room than a Whisper.

The libraries that load it look at settings in its JSON files; these are read before they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsa_whisper import plain_json
from lsa_whisper.errors import CheckpointError

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
"""Keys by which the libraries import a module, or read a file, that the folder names."""
_KERNEL = ("attn_implementation", "_attn_implementation", "_attn_implementation_internal", "experts_implementation")
"""Keys whose value may be a repository of compiled code, written with a slash."""
_WHISPER = "transformers.models.whisper."
_MOST = {
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
"""Far beyond every Whisper there is; a number of nine digits would fill the memory before any weight is read."""


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        CheckpointError: the file holds no JSON object.
    """
    try:
        content = plain_json.read(path)
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); write the checkpoint again") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path}: holds no settings; write the checkpoint again")
    return content


def verify_settings(folder: Path) -> None:
    """Return when nothing in a folder's settings names code, another place, or an impossible size.

    Raises:
        CheckpointError: something does.
    """
    if (folder / "custom_generate").exists():
        raise CheckpointError(f"{folder / 'custom_generate'}: code of a model is never run here; remove it")
    for name in SETTINGS:
        path = folder / name
        if not path.is_file():
            continue
        settings = read_json(path)
        reason = next(_reasons(settings), None)
        if reason is None and name == INDEX_FILE:
            reason = _beyond(settings.get("weight_map"))
        if reason is not None:
            raise CheckpointError(f"{path}: {reason}; use a plain Whisper model, or take the entry out")


def _reasons(value: Any) -> Iterator[str]:
    """Yield what is wrong with settings, those inside others too."""
    if isinstance(value, list):
        for each in value:
            yield from _reasons(each)
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        if key in _CODE and each:
            yield f"{key} asks for code or files of its own, which are never run or read here"
        elif key in _KERNEL and "/" in str(each):
            yield f"{key} asks for compiled code from elsewhere, which is never fetched here"
        elif key == "auto_mapping" and each and not _of_whisper(each):
            yield "auto_mapping asks for a module of its own, which is never imported here"
        elif key in _MOST and isinstance(each, int | float) and not each <= _MOST[key]:
            yield f"{key} is {str(each)[:20]}, and no Whisper has more than {_MOST[key]}"
        else:
            yield from _reasons(each)


def _of_whisper(mapping: Any) -> bool:
    """Tell whether PEFT's note about the class of the base is the one it writes for Whisper."""
    return isinstance(mapping, dict) and str(mapping.get("parent_library")).startswith(_WHISPER)


def _beyond(files: Any) -> str | None:
    """Return what is wrong with an index of weight files."""
    if not isinstance(files, dict):
        return "names no files of weights"
    for file in files.values():
        if not isinstance(file, str) or Path(file).name != file or not file.endswith(".safetensors"):
            return f"{str(file)[:60]!r} is no file of safetensors in this folder (pickled weights are not read)"
    return None
