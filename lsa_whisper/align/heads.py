"""Alignment heads with their lags: how long before or after a word's sound a head attends to it.

OpenAI lists the heads of each model that follow the sound. But some of them are late by 200 ms, and some that are not
listed are better. So the heads are measured once for each model (``measuring``) and kept in the user's cache.
"""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint import digest
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.labels import Labels
from lsa_whisper.system import machine, plain_json
from lsa_whisper.system.atomic_write import write_atomic


@dataclass(frozen=True)
class LaggedHead:
    """An attention head, and by how many frames its attention is late."""

    layer: int
    head: int
    lag: int = 0

    @property
    def pair(self) -> tuple[int, int]:
        """The layer and the head."""
        return self.layer, self.head


@dataclass(frozen=True)
class AlignmentHeads:
    """What is known about a model's attention.

    Attributes:
        heads: the heads that follow the sound, the best first.
        labels: how the known text is written for the model.
    """

    heads: tuple[LaggedHead, ...]
    labels: Labels

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, ready for JSON."""
        return {"heads": [astuple(head) for head in self.heads], "labels": asdict(self.labels)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> AlignmentHeads:
        """Return the heads of an :meth:`as_dict` mapping.

        >>> made = AlignmentHeads((LaggedHead(2, 0, 3),), Labels("verbatim"))
        >>> AlignmentHeads.from_dict(made.as_dict()) == made
        True
        """
        heads = tuple(LaggedHead(*map(int, row)) for row in fields["heads"])
        return cls(heads, Labels.from_dict(fields["labels"]))


def stored_heads(path: str | Path) -> AlignmentHeads | None:
    """Return the heads that an earlier run measured for the model at ``path``, if there are any."""
    try:
        return AlignmentHeads.from_dict(plain_json.read(_place(path)))
    except (OSError, ValueError, TypeError, KeyError, LsaWhisperError):
        return None


def store_heads(path: str | Path, heads: AlignmentHeads) -> None:
    """Keep the heads of the model at ``path`` in the user's cache, if its folder can be written to."""
    place = _place(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(plain_json.serialize(heads.as_dict()), place)
    except (OSError, LsaWhisperError):  # they are measured again next time
        pass


def _place(path: str | Path) -> Path:
    name = digest(path).rpartition(":")[2].replace("/", "-")
    return machine.cache_home() / "lsa-whisper" / "heads" / f"{name}-4.json"  # with 3, words were longer
