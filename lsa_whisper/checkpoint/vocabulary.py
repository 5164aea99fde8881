"""Decoder prompt, timestamp tokens and generation configuration, from a checkpoint's own vocabulary."""

from __future__ import annotations

import copy
from collections.abc import Set
from typing import Any

from lsa_whisper.checkpoint.token_table import TokenTable
from lsa_whisper.checkpoint.whisper_constants import CONTEXT_MARKS
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import Labels, tokens_to_allow
from lsa_whisper.languages import WHISPER_CODES


def timestamp_tokens(tokenizer: Any, generation_config: Any = None) -> dict[int, float]:
    """Return token id -> seconds for every timestamp of a vocabulary, empty if it has none.

    The ids are the model's where its settings are given (see :func:`special_offset`).
    """
    offset = special_offset(tokenizer, generation_config)
    return {index + offset: at_s for index, at_s in TokenTable({}, tokenizer.get_added_vocab()).timestamps_s.items()}


def special_offset(tokenizer: Any, generation_config: Any) -> int:
    """Return by how much a model's ids of special tokens exceed its vocabulary's: 0 but for CrisperWhisper 1.

    Its vocabulary lacks thousands of ids, and a tokenizer that is loaded from it renumbers the special tokens.
    """
    own = tokenizer.get_added_vocab().get("<|notimestamps|>")
    plain = getattr(generation_config, "no_timestamps_token_id", None)
    return 0 if own is None or plain is None else int(plain) - int(own)


def has_timestamps(tokenizer: Any, generation_config: Any) -> bool:
    """Return whether a model writes timestamps.

    One whose timestamps are suppressed was not trained with them: its text spans the whole window. CrisperWhisper was
    not either, although nothing is suppressed; fine-tuned with timestamps it has ``return_timestamps``.
    """
    stamps = timestamp_tokens(tokenizer, generation_config).keys()
    suppressed = {*(getattr(generation_config, "suppress_tokens", None) or [])}
    if not stamps or stamps <= suppressed:
        return False
    return not TokenTable.of_tokenizer(tokenizer).is_verbatim or bool(
        getattr(generation_config, "return_timestamps", False)
    )


def default_labels(tokenizer: Any) -> Labels:
    """Return the label style of a model that was not fine-tuned here: verbatim for CrisperWhisper, else fluent."""
    return Labels("verbatim" if TokenTable.of_tokenizer(tokenizer).is_verbatim else "fluent")


def decoder_prompt(
    tokenizer: Any, generation_config: Any, *, language: str = "en", with_timestamps: bool = True
) -> list[int]:
    """Return the ids of the decoder prompt: start; language and task, if multilingual; ``<|notimestamps|>``.

    CrisperWhisper 2's prompt begins with the tags for a verbatim transcript, before the start token.

    Training and decoding both call this, so that their prompts are equal. A model is multilingual if its generation
    configuration has ``is_multilingual``, or lacks it and lists languages (``lang_to_id``). The vocabulary does not
    decide: OpenAI's English models have language tokens, too. ``language`` is Whisper's code, for example ``en``;
    English-only models ignore it. Without ``with_timestamps``, ``<|notimestamps|>`` is added if the vocabulary has it.

    Raises:
        CheckpointError: A multilingual model does not support the language.
    """
    vocab = tokenizer.get_added_vocab()
    prompt = [*TokenTable({}, vocab).verbatim_tags, int(generation_config.decoder_start_token_id)]
    if is_multilingual(generation_config):
        token = f"<|{language}|>"
        index = (getattr(generation_config, "lang_to_id", None) or vocab).get(token)
        if index is None:
            raise CheckpointError(f"the model does not support the language {language!r}; choose one that it supports")
        tasks = getattr(generation_config, "task_to_id", None) or {}
        prompt += [index, tasks.get("transcribe", vocab["<|transcribe|>"])]
    # The settings come first: the special tokens of CrisperWhisper 1's vocabulary have other ids than its model.
    plain = getattr(generation_config, "no_timestamps_token_id", None) or vocab.get("<|notimestamps|>")
    if not with_timestamps and plain is not None:
        prompt.append(plain)
    return prompt


def language_tokens(tokenizer: Any, generation_config: Any) -> dict[str, int]:
    """Return Whisper's code -> token for each language of a model; empty for one that knows English only.

    The ids are the model's (see :func:`special_offset`).
    """
    if not is_multilingual(generation_config):
        return {}
    ids = getattr(generation_config, "lang_to_id", None)
    if ids:
        return {token.strip("<|>"): int(index) for token, index in ids.items()}
    vocab, offset = tokenizer.get_added_vocab(), special_offset(tokenizer, generation_config)
    return {code: vocab[f"<|{code}|>"] + offset for code in sorted(WHISPER_CODES) if f"<|{code}|>" in vocab}


def add_previous_text(prompt: list[int], previous: list[int], tokenizer: Any, generation_config: Any) -> list[int]:
    """Return a decoder prompt that also holds the text before its window.

    After ``<|startofprev|>`` in front of the prompt; for CrisperWhisper 2 between marks, behind its tags. A vocabulary
    without such tokens has no place for it. The prompt is from :func:`decoder_prompt`; ``previous`` are the ids of the
    text, of which none adds nothing.
    """
    vocab = tokenizer.get_added_vocab()
    if not previous:
        return prompt
    at = prompt.index(int(generation_config.decoder_start_token_id))
    if at and all(mark in vocab for mark in CONTEXT_MARKS):
        first, last = (vocab[mark] for mark in CONTEXT_MARKS)
        space = tokenizer.encode(" ", add_special_tokens=False)
        return [*prompt[:at], *space, first, *previous, *space, last, *prompt[at:]]
    begin = vocab.get("<|startofprev|>")
    if begin is None:
        return prompt
    return [begin + special_offset(tokenizer, generation_config), *previous, *prompt]


def reads_previous_text(tokenizer: Any) -> bool:
    """Return whether a vocabulary has a place for the text before a window (see :func:`add_previous_text`)."""
    vocab = tokenizer.get_added_vocab()
    return "<|startofprev|>" in vocab or all(mark in vocab for mark in CONTEXT_MARKS)


def is_multilingual(generation_config: Any) -> bool:
    """Return whether the decoder prompt has a language and a task."""
    declared = getattr(generation_config, "is_multilingual", None)
    return bool(getattr(generation_config, "lang_to_id", None)) if declared is None else bool(declared)


def fit_generation_config(
    model: Any,
    tokenizer: Any,
    labels: Labels,
    *,
    trained_tokens: Set[int] = frozenset(),
    trained_codes: Set[str] = frozenset(),
) -> Any:
    """Return a copy of the model's generation configuration that allows every mark of ``labels``.

    ``trained_tokens`` are the token ids of the training labels. The model may write them even if its base suppressed
    them; one timestamp among them allows all timestamps. ``trained_codes`` are the speaker codes of the training
    labels, the only ones that a model with roles may write; without them, such a model keeps those it has. A model
    whose training labels had no timestamps no longer writes them.

    OpenAI's list of suppressed tokens contains brackets, ``&`` and ``/``, which CHAT needs. Everything else
    (``alignment_heads``, ``lang_to_id`` ...) is kept; required settings that are missing (start, end,
    ``no_timestamps_token_id``) are filled in from the model and the vocabulary.
    """
    settings = copy.deepcopy(model.generation_config)
    for name in ("decoder_start_token_id", "eos_token_id", "pad_token_id", "bos_token_id"):
        if getattr(settings, name, None) is None:
            setattr(settings, name, getattr(model.config, name, None))
    stamps = timestamp_tokens(tokenizer, settings).keys()
    allowed = tokens_to_allow(tokenizer, labels) | trained_tokens | (stamps if trained_tokens & stamps else set())
    allowed -= {settings.eos_token_id}
    for name in ("suppress_tokens", "begin_suppress_tokens"):
        if suppressed := getattr(settings, name, None):
            setattr(settings, name, [index for index in suppressed if index not in allowed])
    if trained_tokens and not trained_tokens & stamps:
        settings.suppress_tokens = sorted({*(settings.suppress_tokens or []), *stamps})
    notimestamps = tokenizer.get_added_vocab().get("<|notimestamps|>")
    if getattr(settings, "no_timestamps_token_id", None) is None and notimestamps is not None:
        settings.no_timestamps_token_id = notimestamps
    if trained_tokens & stamps and TokenTable.of_tokenizer(tokenizer).is_verbatim:
        settings.return_timestamps = True
    codes = sorted(trained_codes) or getattr(settings, "speaker_codes", None)
    settings.speaker_codes = codes if labels.roles else None
    settings.max_length = model.config.max_target_positions
    return settings
