"""What a corpus's own transcripts teach about retraces: a small tagger that is saved with the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lsa_whisper.labels import Labels, decode
from lsa_whisper.languages import chat_code
from lsa_whisper.manifest import TIMESTAMP, Segment
from lsa_whisper.retraces.training import corpus_weights

MAX_WINDOWS = 5000
"""Windows of each language to learn from: about a minute's work, and enough for hundreds of retraces."""


def learn_retraces(windows: Iterable[Segment], labels: Labels, language: str | None = None) -> dict[str, Any]:
    """Return the weights of a tagger for each language (ISO 639-3) that has enough retraces.

    Args:
        windows: The training data.
        labels: Their style; only ``chat`` has retraces.
        language: Whisper's code of all windows, in place of their own.
    """
    if labels.style != "chat":
        return {}
    texts: dict[str, list[str]] = {}
    for window in windows:
        kept = texts.setdefault(chat_code(language or window.lang), [])
        if window.text and len(kept) < MAX_WINDOWS:
            kept.append(TIMESTAMP.sub(" ", window.text))
    found = {
        code: corpus_weights(
            (tier.text for text in kept for tier in decode(text, labels, language=code).utterances), code
        )
        for code, kept in texts.items()
    }
    return {code: weights for code, weights in found.items() if weights}
