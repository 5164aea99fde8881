"""The verbatim transcript: how it is made of the clean one, and what both have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lsa_whisper.chat import Line, Transcript, Utterance

VERBATIM_FOLDER = "verbatim"
"""Name of the folder next to a transcript that its result is written to by default."""


def fluent_words(transcript: Transcript) -> list[tuple[str, list[str]]]:
    """Return the speaker and the fluent words of each utterance, which the verbatim transcript keeps."""
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
