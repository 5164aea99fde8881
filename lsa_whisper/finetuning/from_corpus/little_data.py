"""A corpus prepared for a model: of little data, in the way that a stock Whisper forgets least."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from lsa_whisper import checkpoint
from lsa_whisper.corpus import discover
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


def prepare_for(base: str, corpus: Path, data: Path, report: Callable[[str], None]) -> None:
    """Prepare ``corpus`` into ``data`` for fine-tuning ``base``.

    Of less than an hour, a stock Whisper learns without timestamps, which cost it words. All recordings train unless
    the dev set is large enough to decide anything.

    Raises:
        CorpusError: The corpus has no usable utterance.
    """
    context_s = checkpoint.load(base, weights=False).context_s
    is_little = sum(session.recording.duration_s for session in discover(corpus)[0]) < 3600 * LITTLE_H
    without_timestamps = 1.0 if is_little and is_stock_base(base) else 0.2
    prepare_it = partial(prepare, [corpus], data, context_s=context_s, without_timestamps=without_timestamps)
    report(f"preparing {corpus} in windows of up to {context_s:g} s")
    prepared = prepare_it()
    if is_little and not decides(dev := split_path(data, "dev")):
        words, events = dev_size(dev)
        prepared = prepare_it(train_only=True)
        report(
            f"all recordings train, and the last step is kept: the dev set would have {words} words and {events} "
            f"disfluencies, and fewer than {MIN_DEV_WORDS} and {MIN_DEV_DISFLUENCIES} cannot tell which step is best"
        )
    report(prepared.table())
