"""Corpus cards: what a corpus is called, and who is in which split."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper import plain_yaml
from lsa_whisper.errors import CorpusError
from lsa_whisper.manifest import SPLITS

CARD_NAME = "card.yaml"

_KNOWN = ("name", "language", "link", "licence", "roles", "splits")
"""What every card may say; a near miss of one of these is a slip, anything else a fact for its readers."""


@dataclass(frozen=True)
class Card:
    """What of a corpus card is used here; the rest of it (link, licence, how to get it) is for people to read.

    Attributes:
        name: The corpus name that rows and speaker ids carry.
        language: Of transcripts that name none (ISO 639-3).
        splits: Speaker ids (or participants' names) by ``train``, ``dev`` and ``test``.
    """

    name: str
    language: str = ""
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def split_of(self) -> Mapping[str, str]:
        """The split of each listed id: a card may list thousands, and every speaker is looked for among them."""
        return {one: split for split, ids in self.splits.items() for one in ids}


def find_card(root: Path, card: Path | str | None = None) -> Card:
    """Return the card at ``card``, else the ``card.yaml`` in ``root``, else one with the name of that folder.

    Raises:
        CorpusError: As :func:`read_card` does.
        OSError: The folder may not be looked into.
    """
    if card is not None:
        return read_card(card)
    beside = root / CARD_NAME
    if beside.is_file():
        return read_card(beside)
    # Rows, speaker ids and their hashes hold this name, and text holds no bytes that are not UTF-8.
    return Card(os.fsencode(root.resolve().name).decode(errors="replace") or "corpus")


def read_card(path: Path | str) -> Card:
    """Return the corpus card at ``path``, its values as the text that stands there: a speaker may be called 005.

    Raises:
        CorpusError: It is no YAML mapping, has no name, or its splits are not disjoint lists of speakers.
    """
    path = Path(path)
    try:
        found = plain_yaml.parse(plain_yaml.read(path), as_text=True)
    except (OSError, yaml.YAMLError) as error:
        problem = getattr(error, "problem", None) or getattr(error, "strerror", None) or str(error)
        raise CorpusError(f"{path}: cannot read this corpus card ({problem}); mend it, or name another") from error
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise CorpusError(f"{path}: a corpus card is a YAML mapping with at least 'name: ...'; write that line")
    for key in set(found) - set(_KNOWN):
        if meant := get_close_matches(str(key), _KNOWN, 1, 0.8):
            raise CorpusError(f"{path}: unknown entry {key!r}; did you mean {meant[0]!r}?")
    return Card(found["name"], str(found.get("language") or ""), _splits(found, path))


def _splits(found: dict[str, Any], path: Path) -> dict[str, tuple[str, ...]]:
    splits = found.get("splits") or {}
    if not isinstance(splits, dict) or not set(splits) <= set(SPLITS):
        wanted = ", ".join(SPLITS)
        raise CorpusError(
            f"{path}: 'splits' must map {wanted} to lists of speaker ids; write 'test: [id, id]' below it"
        )
    for split, ids in splits.items():
        if not isinstance(ids, list | None) or not all(isinstance(one, str) for one in ids or ()):
            raise CorpusError(f"{path}: {split!r} in 'splits' must be a list of speaker ids; write '{split}: [id, id]'")
    lists = {split: tuple(ids or ()) for split, ids in splits.items()}
    everyone = [one for ids in lists.values() for one in ids]
    twice = sorted(one for one, count in Counter(everyone).items() if count > 1)
    if twice:
        raise CorpusError(f"{path}: {', '.join(twice)} stands in 'splits' more than once; keep each speaker in one")
    return lists
