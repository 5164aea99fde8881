"""The retraces of the corpus that a model was trained on: the weights of a tagger for each language, as JSON files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.untrusted import read_json

TaggerWeights = Mapping[str, Any]
_FILE = re.compile(r"retraces-([a-z]{2,3})\.json")


def retrace_files(folder: Path) -> dict[str, Path]:
    """Return the file of each language, by its ISO 639-3 code; none in a hub name that is not a folder."""
    names = sorted(folder.iterdir()) if folder.is_dir() else ()
    return {found[1]: path for path in names if (found := _FILE.fullmatch(path.name)) and path.is_file()}


def read_retraces(folder: Path) -> dict[str, TaggerWeights]:
    """Return the weights of each language's tagger.

    Raises:
        CheckpointError: a file holds no JSON object.
    """
    return {language: read_json(path) for language, path in retrace_files(folder).items()}


def write_retraces(retraces: Mapping[str, TaggerWeights], folder: Path) -> None:
    """Write the weights of each language's tagger into the folder of a checkpoint."""
    for language, weights in retraces.items():
        (folder / f"retraces-{language}.json").write_text(json.dumps(weights, ensure_ascii=False) + "\n", "utf-8")
