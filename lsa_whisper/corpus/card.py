"""Corpus cards: a corpus' name, language and splits."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

import yaml

from lsa_whisper.errors import CorpusError
from lsa_whisper.manifest import SPLITS
from lsa_whisper.system import plain_yaml

CARD_NAME = "card.yaml"

_KNOWN = ("name", "language", "link", "licence", "roles", "splits")
"""The known entries of a card. A near miss of one is an error; other entries are for human readers."""


@dataclass(frozen=True)
class Card:
    """The used entries of a corpus card; the others (link, licence, access) are for human readers.

    Attributes:
        name: The corpus name in rows and speaker ids.
        language: Language of transcripts without ``@Languages`` (ISO 639-3).
        splits: Speaker ids (or participants' names) by ``train``, ``dev`` and ``test``.
    """

    name: str
    language: str = ""
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def split_of(self) -> Mapping[str, str]:
        """The split of each listed id."""
        return {speaker: split for split, ids in self.splits.items() for speaker in ids}


def find_card(root: Path, card: Path | str | None = None) -> Card:
    """Return the card at ``card``, else ``card.yaml`` in ``root``, else a card named after that folder.

    Raises:
        CorpusError: As :func:`read_card` does.
        OSError: The folder is not readable.
    """
    if card is not None:
        return read_card(card)
    beside = root / CARD_NAME
    if beside.is_file():
        return read_card(beside)
    # The name becomes part of rows and speaker ids, which are UTF-8 text.
    return Card(os.fsencode(root.resolve().name).decode(errors="replace") or "corpus")


def read_card(path: Path | str) -> Card:
    """Return the corpus card at ``path``; all values are read as text, because a speaker may be named 005.

    Raises:
        CorpusError: It is not a YAML mapping, has no name, or its splits are not disjoint lists of speakers.
    """
    path = Path(path)
    try:
        content = plain_yaml.parse(plain_yaml.read(path), as_text=True)
    except (OSError, yaml.YAMLError) as error:
        problem = getattr(error, "problem", None) or getattr(error, "strerror", None) or str(error)
        raise CorpusError(f"{path}: cannot read this corpus card ({problem}); correct it or choose another") from error
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        raise CorpusError(f"{path}: a corpus card must be a YAML mapping with at least 'name: ...'; add that line")
    for key in set(content) - set(_KNOWN):
        if similar := get_close_matches(str(key), _KNOWN, 1, 0.8):
            raise CorpusError(f"{path}: unknown entry {key!r}; did you mean {similar[0]!r}?")
    splits = content.get("splits") or {}
    if not isinstance(splits, dict) or not set(splits) <= set(SPLITS):
        names = ", ".join(SPLITS)
        raise CorpusError(f"{path}: 'splits' must map {names} to lists of speaker ids; write 'test: [id, id]' below it")
    for split, ids in splits.items():
        if not isinstance(ids, list | None) or not all(isinstance(speaker, str) for speaker in ids or ()):
            raise CorpusError(f"{path}: {split!r} in 'splits' must be a list of speaker ids; write '{split}: [id, id]'")
    lists = {split: tuple(ids or ()) for split, ids in splits.items()}
    everyone = [speaker for ids in lists.values() for speaker in ids]
    twice = sorted(speaker for speaker, count in Counter(everyone).items() if count > 1)
    if twice:
        raise CorpusError(f"{path}: {', '.join(twice)} occurs in 'splits' more than once; list each speaker once")
    return Card(content["name"], str(content.get("language") or ""), lists)
