"""How a model writes, read from its folder: known before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.hub_source import cached_snapshot
from lsa_whisper.checkpoint.token_table import read_tokens
from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.checkpoint.verification import METADATA_FILE, is_local
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
        CheckpointError: the description in its folder cannot be read.
    """
    folder = Path(model) if is_local(model) else cached_snapshot(str(model))
    if folder is None:
        return WritingModel(str(model), Labels("fluent"))
    known = read_json(folder / METADATA_FILE) if (folder / METADATA_FILE).is_file() else {}
    if "labels" in known:
        try:
            return WritingModel(str(model), Labels.from_dict(known["labels"]), known.get("recipe", {}))
        except LsaWhisperError as error:
            raise CheckpointError(f"{folder / METADATA_FILE}: {error}") from error
    try:
        is_verbatim = read_tokens(folder).is_verbatim
    except CheckpointError:  # an adapter, whose base has the vocabulary, or a damaged one, which loading reports
        is_verbatim = False
    return WritingModel(str(model), Labels("verbatim" if is_verbatim else "fluent"))
