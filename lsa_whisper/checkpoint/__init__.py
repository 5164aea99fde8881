"""Checkpoints: load, save, merge an adapter, average several, export, and verify what was written.

A checkpoint is a Hugging Face Whisper directory (``config.json``, ``model.safetensors``, ``generation_config.json``,
tokenizer, ``preprocessor_config.json``) and one file of this package, ``lsa_whisper.json``::

    {"labels": {"style": "chat", ...}, "recipe": {...}, "provenance": {...}}

and, for a model that was trained with ``data.trim``, ``"trim": {"margin_s": 1.0}`` (see ``trimming``).

Only safetensors are read (pickled weights can run code), and code in a model's folder is never run.
Context, mel bins, vocabulary and special tokens are read from the directory; none is assumed to be OpenAI's.
"""

from lsa_whisper.checkpoint.converted import ConvertedCheckpoint, load_converted, require_ctranslate2
from lsa_whisper.checkpoint.exporting import cached_conversion, export
from lsa_whisper.checkpoint.folder import digest
from lsa_whisper.checkpoint.hub import folder_of_weights
from lsa_whisper.checkpoint.loading import Checkpoint, load
from lsa_whisper.checkpoint.merging import merge
from lsa_whisper.checkpoint.overview import model_overview, overview_line
from lsa_whisper.checkpoint.saving import save
from lsa_whisper.checkpoint.stored_weights import StoredWeights
from lsa_whisper.checkpoint.verification import is_converted
from lsa_whisper.checkpoint.vocabulary import (
    add_previous_text,
    decoder_prompt,
    fit_generation_config,
    has_timestamps,
    language_tokens,
    reads_previous_text,
    special_offset,
    timestamp_tokens,
)

__all__ = [
    "Checkpoint",
    "ConvertedCheckpoint",
    "StoredWeights",
    "add_previous_text",
    "cached_conversion",
    "decoder_prompt",
    "digest",
    "export",
    "fit_generation_config",
    "folder_of_weights",
    "has_timestamps",
    "is_converted",
    "language_tokens",
    "load",
    "load_converted",
    "merge",
    "model_overview",
    "overview_line",
    "reads_previous_text",
    "require_ctranslate2",
    "save",
    "special_offset",
    "timestamp_tokens",
]
