"""A laboratory's own conventions: a YAML file that says who the speakers are and what marks and tiers mean.

.. code-block:: yaml

    speakers:
      Kid: CHI Target_Child
      T: INV Investigator
    tiers:
      "tx@*": utterance
      "notes*": ignore
    marks:
      "[...]": comment
      "{...}": event
      "(...)": maze
    replace:
      "???": xxx
      "hmph": "&-hmph"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from lsa_whisper.errors import FormatError
from lsa_whisper.system import plain_yaml

TIER_USES = ("utterance", "words", "comment", "ignore")
MARK_MEANINGS = ("comment", "event", "maze", "filler", "unintelligible", "pause", "keep", "drop")
"""What a pair of brackets can mean; ``keep`` drops the brackets only, ``drop`` their content as well."""
_SECTIONS = ("speakers", "tiers", "marks", "replace")


@dataclass(frozen=True)
class Conventions:
    """What a laboratory's marks mean.

    Attributes:
        speakers: CHAT code and role (``CHI Target_Child``) by the speaker's name in the files.
        tiers: Use of each tier (:data:`TIER_USES`) by its name or a pattern with ``*``.
        marks: Meaning (:data:`MARK_MEANINGS`) of each pair of brackets, as opening and closing mark.
        replace: CHAT by what stands in the files.
    """

    speakers: Mapping[str, str] = field(default_factory=dict)
    tiers: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)
    replace: Mapping[str, str] = field(default_factory=dict)

    def use_of_tier(self, name: str) -> str | None:
        """Return the use of the tier called ``name``, ``None`` if nothing is laid out for it."""
        exact = self.tiers.get(name)
        return exact or next((use for pattern, use in self.tiers.items() if fnmatchcase(name, pattern)), None)


def read_conventions(path: Path | str) -> Conventions:
    """Return the conventions in the YAML file at ``path``.

    Raises:
        FormatError: It cannot be read, or an entry is not one of those above.
    """
    path = Path(path)
    try:
        content = plain_yaml.parse(plain_yaml.read(path), as_text=True)
    except (OSError, yaml.YAMLError) as error:
        problem = getattr(error, "problem", None) or getattr(error, "strerror", None) or str(error)
        raise FormatError(f"{path}: cannot read this file of conventions ({problem}); correct it") from error
    if not isinstance(content, dict) or not set(content) <= set(_SECTIONS):
        raise FormatError(f"{path}: a file of conventions has the sections {', '.join(_SECTIONS)} only; correct it")
    sections = {name: _section(content.get(name), name, path) for name in _SECTIONS}
    for name, choices in (("tiers", TIER_USES), ("marks", MARK_MEANINGS)):
        for key, value in sections[name].items():
            if value not in choices:
                raise FormatError(f"{path}: {name}: {key!r} is {value!r}; it must be one of {', '.join(choices)}")
    marks = {_brackets(key, path): value for key, value in sections["marks"].items()}
    return Conventions(sections["speakers"], sections["tiers"], marks, sections["replace"])


def _section(content: Any, name: str, path: Path) -> dict[str, str]:
    entries = content or {}
    if not isinstance(entries, dict) or not all(isinstance(value, str) and key for key, value in entries.items()):
        raise FormatError(f"{path}: {name} must map text to text, such as 'Kid: CHI Target_Child'; correct it")
    return {str(key): value for key, value in entries.items()}


def _brackets(key: str, path: Path) -> tuple[str, str]:
    opening, dots, closing = key.partition("...")
    if not dots or not opening or not closing:
        raise FormatError(f"{path}: marks: {key!r} is not a pair of brackets; write it as '[...]'")
    return opening, closing
