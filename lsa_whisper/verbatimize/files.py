"""The verbatim transcript: how it is made of the clean one, and whether it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lsa_whisper import chat
from lsa_whisper.chat import Line, Transcript, Utterance
from lsa_whisper.errors import LsaWhisperError

VERBATIM_FOLDER = "verbatim"
"""Name of the folder next to a transcript that its result is written to by default."""


def is_verbatimized(target: Path, source: Transcript) -> bool:
    """Return whether the result of an earlier run is there; a person may have corrected it since.

    Raises:
        LsaWhisperError: a file is there that has other words.
    """
    if not target.exists():
        return False
    if _words(chat.read(target)) == _words(source):
        return True
    raise LsaWhisperError(f"{target}: exists and has other words; move it, or choose another folder")


def _words(transcript: Transcript) -> list[tuple[str, list[str]]]:
    return [(each.speaker, each.fluent()) for each in transcript.utterances]


def with_bodies(source: Transcript, bodies: Mapping[int, str], comment: str) -> Transcript:
    """Return ``source`` with other main tiers, by the number of the utterance, and a comment on their origin.

    Changed utterances lose ``%wor``, which lacks the new words; all other tiers are about words that stay.
    """
    blocks: list[Line | Utterance] = []
    number = -1
    for block in source.blocks:
        if isinstance(block, Line):
            blocks.append(block)
            continue
        number += 1
        if not number:
            ending = "\r\n" if block.main.endswith("\r\n") else "\n"
            blocks.append(Line(f"@Comment:\t{comment}{ending}", 0))
        body = bodies.get(number, block.body)
        if body != block.body:
            head = block.main[: len(block.main) - len(block.body)]
            tiers = tuple(tier for tier in block.tiers if tier.name != "%wor")
            block = replace(block, main=head + body, tiers=tiers)
        blocks.append(block)
    return replace(source, blocks=blocks)


def count_changes(source: Transcript, written: Transcript) -> tuple[int, int, int]:
    """Return the number of utterances, of those that changed, and of disfluencies that were added."""
    pairs = list(zip(source.utterances, written.utterances, strict=True))
    changed = sum(before.body != after.body for before, after in pairs)
    return len(pairs), changed, sum(len(after.events()) - len(before.events()) for before, after in pairs)
