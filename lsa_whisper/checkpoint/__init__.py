"""Weights with all that belongs to them: load, save, merge an adapter, export, and look again at what was written.

A checkpoint is a Hugging Face Whisper directory (``config.json``, ``model.safetensors``, ``generation_config.json``,
tokenizer, ``preprocessor_config.json``) with one file of ours beside them, ``lsa_whisper.json``::

    {"labels": {"style": "chat", ...}, "recipe": {...}, "provenance": {...}}

Only safetensors are read (pickled weights can run code), and code that travels with a model is never run.
Context, mel bands, vocabulary and special tokens are whatever the directory says; nothing here knows OpenAI's numbers.
"""

from lsa_whisper.checkpoint.conversion_cache import cached_conversion
from lsa_whisper.checkpoint.converted import Converted, load_converted, require_ctranslate2
from lsa_whisper.checkpoint.exporting import export
from lsa_whisper.checkpoint.folder import digest, is_converted, is_local
from lsa_whisper.checkpoint.loading import Checkpoint, load
from lsa_whisper.checkpoint.saving import save
from lsa_whisper.checkpoint.vocabulary import decoder_prompt, fit_generation_config, timestamps

__all__ = [
    "Checkpoint",
    "Converted",
    "cached_conversion",
    "decoder_prompt",
    "digest",
    "export",
    "fit_generation_config",
    "is_converted",
    "is_local",
    "load",
    "load_converted",
    "require_ctranslate2",
    "save",
    "timestamps",
]
