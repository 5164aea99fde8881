"""Labels that a model cannot be trained on, or that would train it to write nonsense."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.vocabulary import is_multilingual
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.manifest import TIMESTAMP, parse_word_times

_SPECIAL = re.compile(r"<\|[^<>|]*\|>")
_TOLERANCE_S = 0.5
"""How far a time may be beyond the end of its window: as far as a window may reach beyond its recording."""
_LISTED = 5
"""Rows that a message names."""


def rows_text(indices: Sequence[int]) -> str:
    """Return rows of a manifest, counted from 1, for a message.

    >>> rows_text([0]), rows_text([0, 4]), rows_text(range(9))
    ('row 1', 'rows 1, 5', 'rows 1, 2, 3, 4, 5 and 4 more')
    """
    shown = ", ".join(str(index + 1) for index in indices[:_LISTED])
    more = f" and {len(indices) - _LISTED} more" if len(indices) > _LISTED else ""
    return f"row{'s' * (len(indices) > 1)} {shown}{more}"


def label_problems(windows: WindowDataset) -> Iterator[str]:
    """Yield problems of the labels' timestamps and special tokens, with their rows."""
    context_s = windows.extractor.n_samples / windows.extractor.sampling_rate
    late: dict[int, str] = {}
    beyond_end: dict[int, str] = {}
    backwards: dict[int, str] = {}
    special: dict[int, str] = {}
    for index, text in enumerate(windows.texts):
        stamps = TIMESTAMP.findall(text)
        if beyond := [stamp for stamp in stamps if float(stamp) > context_s]:
            late[index] = beyond[0]
        elif stamps and float(stamps[-1]) > (end_s := float(windows.durations[index])) + _TOLERANCE_S:
            beyond_end[index] = f"the time <|{stamps[-1]}|>, but the window has {end_s:g} s"
        if pair := next(((one, other) for one, other in itertools.pairwise(stamps) if float(one) > float(other)), None):
            backwards[index] = f"<|{pair[1]}|> after <|{pair[0]}|>"
        if token := _SPECIAL.search(TIMESTAMP.sub("", text)):
            special[index] = token.group()
    again = "prepare the data again"
    if late:
        first = next(iter(late.values()))
        yield f"{rows_text([*late])}: the time <|{first}|>, but the model's context is {context_s:g} s; {again}"
    if beyond_end:
        yield f"{rows_text([*beyond_end])}: {next(iter(beyond_end.values()))}; {again}"
    if backwards:
        yield f"{rows_text([*backwards])}: times that run backwards ({next(iter(backwards.values()))}); {again}"
    if special:
        yield f"{rows_text([*special])}: the special token {next(iter(special.values()))} in the text; remove it"


def prompt_problems(windows: WindowDataset) -> Iterator[str]:
    """Yield special tokens in the previous text of a row."""
    found = {index: token.group() for index, text in enumerate(windows.prompts) if (token := _SPECIAL.search(text))}
    if found:
        yield f"{rows_text([*found])}: the special token {next(iter(found.values()))} in the prompt; remove it"


def word_time_problems(windows: WindowDataset) -> Iterator[str]:
    """Yield times of words that are outside their window, or run backwards."""
    found: dict[int, str] = {}
    for index, column in enumerate(windows.word_times):
        end_s = float(windows.durations[index]) + _TOLERANCE_S
        for word in parse_word_times(column):
            if word.start_s is not None and word.end_s is not None and not word.start_s <= word.end_s <= end_s:
                found.setdefault(index, f"{word.text!r} from {word.start_s:g} to {word.end_s:g} s")
    if found:
        yield (
            f"{rows_text([*found])}: word times backwards or beyond the window ({next(iter(found.values()))}); "
            "prepare the data again"
        )


def empty_problem(windows: WindowDataset) -> Iterator[str]:
    """Yield that there is nothing to learn; a dev set may be silent."""
    if not any(TIMESTAMP.sub("", text).strip() for text in windows.texts):
        yield f"all {len(windows)} texts are empty; prepare the data again from transcripts with words"


def english_only_problem(windows: WindowDataset, start: Checkpoint) -> Iterator[str]:
    """Yield the problem of data in another language than English with a model of English only.

    Such a model has tokens for languages but is never given one. A new model has none, and learns any language.
    """
    known = start.tokenizer.get_added_vocab()
    if is_multilingual(start.model.generation_config) or "<|es|>" not in known:
        return
    languages = windows.languages
    if others := [index for index, language in enumerate(languages) if language != "en"]:
        yield (
            f"{rows_text(others)}: the language is {languages[others[0]]!r}, but the model knows English only; choose "
            "a multilingual model, such as openai/whisper-small, or data.language: en if that is wrong"
        )
