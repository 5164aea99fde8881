"""How large a dev set is, and whether a checkpoint can be chosen by it."""

from __future__ import annotations

from pathlib import Path

from lsa_whisper import manifest
from lsa_whisper.labels import Labels, decode
from lsa_whisper.manifest import TIMESTAMP

MIN_DEV_WORDS, MIN_DEV_DISFLUENCIES = 300, 30
"""The least size of a dev set that decides anything. On fewer words, two errors more or less chose the checkpoint."""


def dev_size(dev: Path) -> tuple[int, int]:
    """Return the words and the disfluencies of a dev set, counted until both are enough to decide by."""
    words = events = 0
    for row in manifest.stream(dev) if dev.is_file() or "*" in dev.name else ():
        for utterance in decode(TIMESTAMP.sub(" ", row.text), Labels.from_name(row.labels)).utterances:
            words, events = words + len(utterance.verbatim()), events + len(utterance.events())
            if words >= MIN_DEV_WORDS and events >= MIN_DEV_DISFLUENCIES:
                return words, events
    return words, events


def decides(dev: Path) -> bool:
    """Return whether a dev set is large enough to choose a checkpoint by."""
    words, events = dev_size(dev)
    return words >= MIN_DEV_WORDS and events >= MIN_DEV_DISFLUENCIES
