"""What ``finetune`` was given: a recipe, prepared data or a corpus."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from lsa_whisper.errors import CorpusError


class SourceKind(StrEnum):
    """The kinds of input that training can start from."""

    RECIPE = "recipe"
    PREPARED = "prepared"
    CORPUS = "corpus"


def kind_of_source(source: Path | str) -> SourceKind:
    """Return what ``source`` is; whatever is not a folder is a recipe's path or name.

    >>> kind_of_source("whisper-large-v3-lora").value
    'recipe'

    Raises:
        CorpusError: If it is a folder without prepared data and without transcripts.
    """
    folder = Path(source)
    if not folder.is_dir():
        return SourceKind.RECIPE
    if (folder / "train.jsonl").is_file() or next(folder.glob("train-*.parquet"), None) is not None:
        return SourceKind.PREPARED
    if next(folder.rglob("*.cha"), None) is not None:
        return SourceKind.CORPUS
    raise CorpusError(
        f"{folder}: holds neither prepared data (train.jsonl, or shards) nor CHAT transcripts (.cha); "
        "name a corpus, a folder that 'lsa-whisper prepare' wrote, or a recipe"
    )
