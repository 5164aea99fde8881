"""The tokens of a vocabulary and what their texts show, read from a model folder without a model library."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.checkpoint.whisper_constants import VERBATIM_TAGS
from lsa_whisper.errors import CheckpointError
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.system import plain_json

TOKENIZER_FILES = ("tokenizer.json", "vocab.json")
"""A folder has one of these; the second is that of transformers 4."""
_SPACE = "Ġ"
"""A space, as byte-pair vocabularies write it."""


@dataclass(frozen=True)
class TokenTable:
    """The tokens of a vocabulary, text -> id.

    Attributes:
        tokens: all tokens.
        added: those that were added to the byte-pair vocabulary: special tokens, languages, timestamps.
    """

    tokens: Mapping[str, int]
    added: Mapping[str, int]

    @classmethod
    def of_tokenizer(cls, tokenizer: Any) -> TokenTable:
        """Return the table of a loaded tokenizer."""
        return cls(tokenizer.get_vocab(), tokenizer.get_added_vocab())

    @property
    def size(self) -> int:
        """One more than the largest id: the rows that a model needs."""
        return max(self.tokens.values(), default=-1) + 1

    @property
    def timestamps_s(self) -> dict[int, float]:
        """Token id -> seconds of each timestamp."""
        matches = ((index, TIMESTAMP.fullmatch(token)) for token, index in self.added.items())
        return {index: float(match[1]) for index, match in matches if match}

    @property
    def verbatim_tags(self) -> list[int]:
        """The ids of CrisperWhisper 2's tags for a verbatim transcript; empty for any other vocabulary.

        >>> TokenTable({}, {f"[verbatim_{n}]": 100 + n for n in range(1, 6)}).verbatim_tags
        [101, 102, 103, 104, 105]
        """
        return [self.added[tag] for tag in VERBATIM_TAGS if tag in self.added]

    @property
    def space(self) -> int | None:
        """The id of the space where words have no space of their own (CrisperWhisper 1), else ``None``.

        >>> TokenTable({"Ġ": 5, "a": 1, "dog": 2}, {}).space, TokenTable({"Ġ": 5, "a": 1, "Ġdog": 2}, {}).space
        (5, None)
        """
        if _SPACE not in self.tokens or any(t[0] == _SPACE and t.strip(_SPACE) for t in self.tokens if t):
            return None
        return self.tokens[_SPACE]

    @property
    def is_verbatim(self) -> bool:
        """Whether it is a vocabulary of CrisperWhisper: trained to keep disfluencies, and without timestamps."""
        return bool(self.verbatim_tags) or self.space is not None


def read_tokens(folder: Path) -> TokenTable:
    """Return the tokens of a model folder.

    Raises:
        CheckpointError: it has no vocabulary, or one that cannot be read.
    """
    path = next((folder / name for name in TOKENIZER_FILES if (folder / name).is_file()), None)
    if path is None:
        raise CheckpointError(
            f"{folder}: has no {TOKENIZER_FILES[0]}; copy it from the model that this one was made from"
        )
    files = (path, folder / "added_tokens.json", folder / "tokenizer_config.json")
    return _read(files, tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file()))


@functools.lru_cache(maxsize=4)
def _read(files: tuple[Path, ...], changed: tuple[tuple[int, int], ...]) -> TokenTable:
    """Return the tokens of these files; ``changed`` makes a changed file be read again."""
    path, more, settings = files
    try:
        content = plain_json.read(path)
        if path.name == TOKENIZER_FILES[0]:
            tokens = dict(content["model"]["vocab"])
            added = {token["content"]: token["id"] for token in content["added_tokens"]}
        else:
            tokens, added = dict(content), dict(read_json(more)) if more.is_file() else {}
            declared = read_json(settings).get("added_tokens_decoder", {}) if settings.is_file() else {}
            added |= {token["content"]: int(index) for index, token in declared.items()}
        if not all(isinstance(index, int) and index >= 0 for index in (*tokens.values(), *added.values())):
            raise ValueError("an id is not a number")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise CheckpointError(f"{path}: cannot be read ({reason}); save the model again") from error
    return TokenTable(tokens | added, added)
