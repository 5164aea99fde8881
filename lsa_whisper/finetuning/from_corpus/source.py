"""What ``finetune`` was given (a recipe, prepared data or a corpus), and the preparation of a corpus."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from lsa_whisper import checkpoint
from lsa_whisper.errors import CorpusError
from lsa_whisper.finetuning.from_corpus.method import LITTLE_H
from lsa_whisper.finetuning.from_corpus.setting import (
    MIN_DEV_DISFLUENCIES,
    MIN_DEV_WORDS,
    decides,
    dev_size,
    is_stock_base,
    split_path,
)
from lsa_whisper.preparation import prepare


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


def prepare_for(base: str, corpus: Path, data: Path, report: Callable[[str], None]) -> None:
    """Prepare ``corpus`` into ``data`` for fine-tuning ``base``.

    Of less than an hour, a stock Whisper learns without timestamps, which cost it words. All recordings train unless
    the dev set is large enough to decide anything.

    Raises:
        CorpusError: The corpus has no usable utterance.
    """
    context_s = checkpoint.load(base, weights=False).context_s
    report(f"preparing {corpus} in windows of up to {context_s:g} s")
    prepared = prepare([corpus], data, context_s=context_s)
    if prepared.splits["train"]["audio_h"] < LITTLE_H:
        words, events = dev_size(dev := split_path(data, "dev"))
        without, train_only = 1.0 if is_stock_base(base) else 0.2, not decides(dev)
        prepared = prepare([corpus], data, context_s=context_s, without_timestamps=without, train_only=train_only)
        if train_only:
            report(
                f"all recordings train, and the last step is kept: the dev set would have {words} words and {events} "
                f"disfluencies, and fewer than {MIN_DEV_WORDS} and {MIN_DEV_DISFLUENCIES} cannot tell which step is "
                "best"
            )
    report(prepared.table())
