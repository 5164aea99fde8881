"""The parts that a CTranslate2 folder of faster-whisper's users lacks, taken from its tokenizer and ``config.json``.

Such a folder has ``model.bin``, ``config.json``, ``tokenizer.json`` and ``vocabulary.json`` or ``vocabulary.txt``, and
often nothing else. Its model is one that was not fine-tuned here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.untrusted import read_json
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system import plain_json

_LANGUAGE = re.compile(r"<\|[a-z]{2,3}\|>")
_MAX_LENGTH = 448
"""The decoder's context of every published Whisper."""


def complete_processor(folder: Path, n_mels: int) -> tuple[Any, Any]:
    """Return the feature extractor for ``n_mels`` mel bins, and the tokenizer in ``tokenizer.json``.

    Raises:
        CheckpointError: The tokenizer cannot be read.
    """
    from transformers import WhisperFeatureExtractor, WhisperTokenizerFast

    end = "<|endoftext|>"
    try:
        tokenizer = WhisperTokenizerFast(
            tokenizer_file=str(folder / "tokenizer.json"), bos_token=end, eos_token=end, unk_token=end, pad_token=end
        )
    except Exception as error:  # the library raises a bare Exception
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckpointError(f"{folder}: tokenizer.json cannot be read ({reason}); copy it again") from error
    return WhisperFeatureExtractor(feature_size=n_mels), tokenizer


def complete_settings(folder: Path, tokenizer: Any) -> Any:
    """Return the generation configuration of an OpenAI model with this ``tokenizer``.

    The tokens that it never writes, and its alignment heads, stand in CTranslate2's ``config.json``.

    Raises:
        CheckpointError: The tokenizer lacks a token that every Whisper has.
    """
    from transformers import GenerationConfig

    added, config = tokenizer.get_added_vocab(), read_json(folder / "config.json")
    try:
        start, end, no_times = (added[f"<|{name}|>"] for name in ("startoftranscript", "endoftext", "notimestamps"))
    except KeyError as error:
        raise CheckpointError(f"{folder}: tokenizer.json has no token {error}; is it Whisper's?") from error
    # The vocabulary of an English-only model ends its text one token earlier, which shifts all other ids.
    multilingual = end != 50256
    languages = {token: index for token, index in added.items() if _LANGUAGE.fullmatch(token)}
    tasks = {name: added[f"<|{name}|>"] for name in ("transcribe", "translate") if f"<|{name}|>" in added}
    return GenerationConfig(
        decoder_start_token_id=start,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
        no_timestamps_token_id=no_times,
        max_length=_MAX_LENGTH,
        max_initial_timestamp_index=50,
        prev_sot_token_id=added.get("<|startofprev|>"),
        return_timestamps=True,
        is_multilingual=multilingual,
        suppress_tokens=list(config.get("suppress_ids") or []),
        begin_suppress_tokens=list(config.get("suppress_ids_begin") or []),
        alignment_heads=config.get("alignment_heads") or None,
        **({"lang_to_id": languages, "task_to_id": tasks} if multilingual else {}),
    )


def vocabulary_size(folder: Path) -> int:
    """Return the number of tokens in ``vocabulary.json`` or ``vocabulary.txt``, which is that of the output matrix.

    Raises:
        CheckpointError: It cannot be read.
    """
    path = folder / "vocabulary.json"
    try:
        if path.exists():
            return len(plain_json.read(path))
        path = folder / "vocabulary.txt"
        return path.read_text("utf-8").rstrip("\n").count("\n") + 1
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: cannot be read ({error}); copy it again from the model it came with") from error
