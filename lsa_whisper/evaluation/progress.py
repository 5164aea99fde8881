"""How far scoring is: a bar on a terminal, lines in a log, and a line before each long recording."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from lsa_whisper.chat import Utterance
from lsa_whisper.system.terminal import print_progress

LONG = 4_000
"""A recording with so many utterances is announced: it takes seconds, and no file ends before."""
_PER_SECOND = 900
"""Utterances of one recording that one core scores in a second: 20,000 take 22."""
EVERY_S = 10.0
"""Seconds between two lines in a log."""


def track_recordings(references: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the keys and paths of ``references``, and show on standard error how many are done."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(references.items(), "scoring", len(references), console=console, transient=True)
        return
    last_s = time.monotonic()
    for number, item in enumerate(references.items(), 1):
        yield item
        if time.monotonic() - last_s >= EVERY_S:
            print_progress(f"scored {number:,} of {len(references):,} recordings")
            last_s = time.monotonic()


def announce_long(key: str, utterances: Sequence[Utterance]) -> None:
    """Print a line before a recording that is scored for some seconds."""
    if len(utterances) >= LONG:
        print_progress(f"{key}: scoring {len(utterances):,} utterances, about {len(utterances) / _PER_SECOND:.0f} s")
