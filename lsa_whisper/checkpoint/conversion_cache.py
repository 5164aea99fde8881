"""Checkpoints converted to CTranslate2 on first use, kept in the user's cache."""

from __future__ import annotations

import sys
from pathlib import Path

from lsa_whisper.checkpoint.exporting import export
from lsa_whisper.checkpoint.folder import digest
from lsa_whisper.system import machine


def cache_folder() -> Path:
    """Return the folder of converted checkpoints: ``lsa-whisper/ct2`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    return machine.cache_home() / "lsa-whisper" / "ct2"


def cached_conversion(source: str | Path) -> Path:
    """Return the CTranslate2 form (float32) of a checkpoint folder or hub name; convert it on first use.

    The folder's name contains the checkpoint's digest, so a checkpoint with other weights is converted again.

    Raises:
        CheckpointError: the checkpoint cannot be loaded or converted.
    """
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in Path(source).resolve().name)
    converted = cache_folder() / f"{name}-{digest(source).rpartition(':')[2].replace('/', '-')}"
    if not converted.exists():
        print(f"{source}: converting to CTranslate2 (once); cached in {converted}", file=sys.stderr)
        export(source, converted, to="ct2")
    return converted
