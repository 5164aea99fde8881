"""The tokens of a vocabulary, read from a model folder without a model library, and what the settings say of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.checkpoint.whisper_constants import TIMESTAMP_STEP_S, VERBATIM_TAGS
from lsa_whisper.errors import CheckpointError
from lsa_whisper.manifest import TIMESTAMP
from lsa_whisper.system import plain_json
from lsa_whisper.system.machine import Finding
from lsa_whisper.system.terminal import counted

TOKENIZER_FILES = ("tokenizer.json", "vocab.json")
"""A folder has one of these; the second is that of transformers 4."""
_SPACE = "Ġ"
"""A space, as byte-pair vocabularies write it."""


@dataclass(frozen=True)
class TokenTable:
    """The tokens of a vocabulary, text -> id.

    ``added`` are those that were added to the byte-pair vocabulary: special tokens, languages, timestamps.
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
        CheckpointError: It has no vocabulary, or one that cannot be read.
    """
    path = next((folder / name for name in TOKENIZER_FILES if (folder / name).is_file()), None)
    if path is None:
        raise CheckpointError(
            f"{folder}: has no {TOKENIZER_FILES[0]}; copy it from the model that this one was made from"
        )
    files = (path, folder / "added_tokens.json", folder / "tokenizer_config.json")
    return _read(files, tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file()))


@functools.lru_cache(maxsize=4)
def _read(files: tuple[Path, ...], stamps: tuple[tuple[int, int], ...]) -> TokenTable:
    """Return the tokens of these files; ``stamps`` makes a changed file be read again."""
    path, more, settings = files
    try:
        content = plain_json.read(path)
        if path.name == TOKENIZER_FILES[0]:
            tokens = dict(content["model"]["vocab"])
            added = {token["content"]: token["id"] for token in content["added_tokens"]}
        else:
            tokens, added = dict(content), dict(read_json(more)) if more.is_file() else {}
            decoder = read_json(settings).get("added_tokens_decoder", {}) if settings.is_file() else {}
            added |= {token["content"]: int(index) for index, token in decoder.items()}
        if not all(isinstance(index, int) and index >= 0 for index in (*tokens.values(), *added.values())):
            raise ValueError("an id is not a number")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise CheckpointError(f"{path}: cannot be read ({reason}); save the model again") from error
    return TokenTable(tokens | added, added)


_END, _START, _PLAIN = "<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"
_PAIR = "copy tokenizer.json and generation_config.json from the same model"
_Settings = Mapping[str, Any]


def token_rows(config: _Settings, generation: _Settings, tokens: TokenTable, context_s: float) -> Iterator[Finding]:
    """Yield what a vocabulary and the settings that name its tokens hold, and what does not fit.

    ``config`` and ``generation`` are the contents of ``config.json`` and ``generation_config.json``.
    """
    yield _vocabulary(config, tokens)
    yield _special(config, generation, tokens)
    yield _timestamps(generation, tokens, context_s)
    yield _languages(generation, tokens)
    yield _heads(config, generation)
    yield _suppressed(config, generation)


def _problem(name: str, fact: str, remedy: str = _PAIR) -> Finding:
    return Finding(name, "problem", fact, remedy)


def is_id(index: Any, size: int) -> bool:
    """Return whether ``index`` is a row of a vocabulary of ``size`` rows.

    >>> is_id(3, 4), is_id(4, 4), is_id("3", 4), is_id(True, 4)
    (True, False, False, False)
    """
    return isinstance(index, int) and not isinstance(index, bool) and 0 <= index < size


def _vocabulary(config: _Settings, tokens: TokenTable) -> Finding:
    rows = config["vocab_size"]
    if tokens.size > rows:
        fact = f"the vocabulary has ids up to {tokens.size - 1}, the model has {rows} rows"
        return _problem("vocabulary", fact, "copy tokenizer.json from the model that this one was made from")
    return Finding("vocabulary", "ok", f"{tokens.size} tokens, {rows} rows")


def _special(config: _Settings, generation: _Settings, tokens: TokenTable) -> Finding:
    rows, end = config["vocab_size"], generation.get("eos_token_id")
    end = end[0] if isinstance(end, list) and end else end
    for name, index in (("eos_token_id", end), ("decoder_start_token_id", generation.get("decoder_start_token_id"))):
        if not is_id(index, rows):
            return _problem("special tokens", f"{name} in generation_config.json is {index!r}, not a token")
    # The special tokens of CrisperWhisper 1's vocabulary have other ids than its model; the settings have the model's.
    for name, token, index in (
        ("eos_token_id in generation_config.json", _END, end),
        ("decoder_start_token_id in generation_config.json", _START, generation["decoder_start_token_id"]),
        ("eos_token_id in config.json", _END, config.get("eos_token_id", end)),
    ):
        if tokens.space is None and index != (own := tokens.tokens.get(token)):
            return _problem("special tokens", f"{name} is {index}, but {token} is token {own}")
    return Finding("special tokens", "ok", f"{_END} is {end}, {_START} is {generation['decoder_start_token_id']}")


def _timestamps(generation: _Settings, tokens: TokenTable, context_s: float) -> Finding:
    plain, own = generation.get("no_timestamps_token_id"), tokens.added.get(_PLAIN)
    if tokens.space is None and None not in (plain, own) and plain != own:
        return _problem("timestamps", f"no_timestamps_token_id is {plain}, but {_PLAIN} is token {own}")
    stamps = sorted(tokens.timestamps_s.items())
    if not stamps:
        remedy = "each window becomes one utterance; fine-tune from a model with timestamps for more"
        return Finding("timestamps", "warn", "none in the vocabulary", remedy)
    if own is None or not (plain is None or is_id(plain, 1 << 20)):
        return _problem("timestamps", f"the vocabulary has timestamps, but no {_PLAIN}")
    due = [(own + 1 + step, round(step * TIMESTAMP_STEP_S, 2)) for step in range(len(stamps))]
    if stamps != due:
        return _problem("timestamps", f"they do not follow {_PLAIN} in steps of {TIMESTAMP_STEP_S} s")
    fact = f"{len(stamps)} timestamps, the first is token {(own if plain is None else plain) + 1}"
    if tokens.is_verbatim and not generation.get("return_timestamps"):
        return Finding(
            "timestamps", "warn", f"{fact}; not used, the model was trained without them",
            "each window becomes one utterance; fine-tuning with timestamps adds them",
        )  # fmt: skip
    if stamps[-1][1] < context_s - TIMESTAMP_STEP_S:
        fact = f"{fact}; they end at {stamps[-1][1]:g} s, the context at {context_s:g} s"
        return Finding("timestamps", "warn", fact, "train on windows without timestamps, or on shorter ones")
    return Finding("timestamps", "ok", fact)


def _languages(generation: _Settings, tokens: TokenTable) -> Finding:
    codes, multilingual = generation.get("lang_to_id"), generation.get("is_multilingual")
    if codes is not None and not isinstance(codes, dict):
        return _problem("languages", f"lang_to_id is {type(codes).__name__}, not a table of tokens")
    if not (bool(codes) if multilingual is None else multilingual):
        if multilingual is None and "<|de|>" in tokens.added and "<|transcribe|>" in tokens.added:
            fact = "generation_config.json has neither is_multilingual nor lang_to_id: taken for English only"
            return Finding("languages", "warn", fact, "for a multilingual model copy generation_config.json")
        return Finding("languages", "ok", "English only")
    for token, index in (codes or {}).items():
        if tokens.space is None and index != tokens.added.get(token):
            return _problem("languages", f"{token} is {index} in lang_to_id, and token {tokens.added.get(token)}")
    if "<|transcribe|>" not in tokens.added:
        return _problem("languages", "a multilingual model, but its vocabulary has no <|transcribe|>")
    count = len(codes) if codes else sum(token.startswith("<|") and len(token) in (6, 7) for token in tokens.added)
    return Finding("languages", "ok", counted(count, "language"))


def _heads(config: _Settings, generation: _Settings) -> Finding:
    layers, heads = config["decoder_layers"], config["decoder_attention_heads"]
    value = generation.get("alignment_heads")
    if not value:
        remedy = "for --wor run choose-heads once; until then all heads of the upper half are used"
        return Finding("alignment heads", "warn", "none listed", remedy)
    pairs = value if isinstance(value, list) else [value]
    for pair in pairs:
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_pair or not is_id(pair[0], layers) or not is_id(pair[1], heads):
            fact = f"alignment_heads has {str(pair)[:40]}, but the decoder has {layers} layers of {heads} heads"
            if is_pair and layers < config["encoder_layers"] and all(isinstance(number, int) for number in pair):
                fact = f"those of the model that it was distilled from ({fact})"
                return Finding("alignment heads", "warn", fact, "for --wor run choose-heads once; they are not used")
            return _problem("alignment heads", fact, "remove alignment_heads, then run choose-heads")
    return Finding("alignment heads", "ok", f"{len(pairs)} heads")


def _suppressed(config: _Settings, generation: _Settings) -> Finding:
    rows, end, counts = config["vocab_size"], generation.get("eos_token_id"), []
    for name in ("suppress_tokens", "begin_suppress_tokens"):
        ids = generation.get(name) or []
        if not isinstance(ids, list):
            return _problem("suppressed tokens", f"{name} is {str(ids)[:40]!r}, not a list of token ids")
        if wrong := [index for index in ids if index != -1 and not is_id(index, rows)]:
            fact = f"{name} has {str(wrong[0])[:40]!r}, which is none of {rows} tokens"
            return _problem("suppressed tokens", fact)
        counts.append(len(set(ids) - {-1}))
    if end in (generation.get("suppress_tokens") or []):
        fact, remedy = (
            f"suppress_tokens has {end}, the end of text: no transcript would end",
            "remove it from the list",
        )
        return _problem("suppressed tokens", fact, remedy)
    if counts[0] >= rows - 1:
        return _problem("suppressed tokens", "suppress_tokens has every token", "remove suppress_tokens")
    return Finding("suppressed tokens", "ok", f"{counts[0]} tokens, {counts[1]} at the beginning of a text")
