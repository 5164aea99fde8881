"""How a model writes, read from its folder: its labels, and the retraces of the corpus that it was trained on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.hub import model_folder
from lsa_whisper.checkpoint.token_table import read_tokens
from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.checkpoint.verification import METADATA_FILE, read_metadata
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.labels import Coverage, Labels


@dataclass(frozen=True)
class WritingModel:
    """A model, its labels, and the settings of its training; without settings it is a stock model."""

    path: str
    labels: Labels
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @property
    def coverage(self) -> Coverage:
        """Which classes of disfluency it leaves out if nothing is asked for."""
        return Coverage.of(self.labels, is_trained=self.labels.style != "fluent" or bool(self.recipe))


def read_writing(model: str | Path) -> WritingModel:
    """Return how a model writes; a hub model that is not on this machine counts as a stock one.

    Raises:
        CheckpointError: The description in its folder cannot be read.
    """
    folder = model_folder(model)
    if folder is None:
        return WritingModel(str(model), Labels("fluent"))
    metadata = read_metadata(folder)
    if "labels" in metadata:
        try:
            return WritingModel(str(model), Labels.from_dict(metadata["labels"]), metadata.get("recipe", {}))
        except LsaWhisperError as error:
            raise CheckpointError(f"{folder / METADATA_FILE}: {error}") from error
    try:
        is_verbatim = read_tokens(folder).is_verbatim
    except CheckpointError:  # an adapter, whose base has the vocabulary, or a damaged one, which loading reports
        is_verbatim = False
    return WritingModel(str(model), Labels("verbatim" if is_verbatim else "fluent"))


TaggerWeights = Mapping[str, Any]
_FILE = re.compile(r"retraces-([a-z]{2,3})\.json")


def retrace_files(folder: Path) -> dict[str, Path]:
    """Return the file of each language, by its ISO 639-3 code; none in a hub name that is not a folder."""
    names = sorted(folder.iterdir()) if folder.is_dir() else ()
    return {match[1]: path for path in names if (match := _FILE.fullmatch(path.name)) and path.is_file()}


def read_retraces(folder: Path) -> dict[str, TaggerWeights]:
    """Return the weights of each language's tagger.

    Raises:
        CheckpointError: A file holds no JSON object.
    """
    return {language: read_json(path) for language, path in retrace_files(folder).items()}


def write_retraces(retraces: Mapping[str, TaggerWeights], folder: Path) -> None:
    """Write the weights of each language's tagger into the folder of a checkpoint."""
    for language, weights in retraces.items():
        (folder / f"retraces-{language}.json").write_text(json.dumps(weights, ensure_ascii=False) + "\n", "utf-8")
