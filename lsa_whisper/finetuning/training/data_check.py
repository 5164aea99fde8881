"""What can be known of the prepared data before any weights are loaded: every row that training would stop at."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from lsa_whisper import checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.checkpoint import Checkpoint, decoder_prompt
from lsa_whisper.checkpoint.vocabulary import is_multilingual
from lsa_whisper.checkpoint.whisper_constants import TIMESTAMP_STEP_S
from lsa_whisper.dataset import WindowDataset
from lsa_whisper.errors import AudioError, CheckpointError, ManifestError
from lsa_whisper.finetuning.distributed.ranks import ranks_of_run
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.strategies import strategy_of
from lsa_whisper.finetuning.training.adapter import check_adapter
from lsa_whisper.finetuning.training.dev_evaluation import dev_problems
from lsa_whisper.finetuning.training.length_check import length_problems
from lsa_whisper.finetuning.training.samplers import capped_indices
from lsa_whisper.manifest import TIMESTAMP, parse_word_times

_OPENED = 1000
"""Recordings whose headers are read; with more, they are spread evenly over the manifest."""
_DECODED = 16
"""Recordings of which a window is decoded."""
_LISTED = 5
"""Rows or recordings that a message names."""
_TOLERANCE_S = 0.5
"""How far a window may reach beyond the end of its recording, and a time beyond the end of its window."""
_SPECIAL = re.compile(r"<\|[^<>|]*\|>")


def check_data(recipe: Recipe, start: Checkpoint | None = None) -> None:
    """Return if a model can be trained on the recipe's data, and evaluated on its dev sets.

    ``start`` has the context of the recipe; by default it is loaded without weights.

    Raises:
        RecipeError: If the model cannot be divided or adapted as the recipe says.
        ManifestError: With every problem and the rows that have it.
        CheckpointError: If there is no such checkpoint.
    """
    if start is None:
        from lsa_whisper.finetuning.training.model import with_context

        start = checkpoint.load(str(recipe.model.base), weights=False)
        start = with_context(start, recipe.model.context_s) if recipe.model.context_s else start
    strategy_of(recipe).check_model(recipe, start.model.config, ranks_of_run())
    if recipe.adapter is not None:
        check_adapter(start.model, recipe.adapter)
    paths = [recipe.data.train]
    if recipe.evaluation:
        paths += [path for path in (recipe.data.dev, *recipe.evaluation.other_sets.values()) if path]
    problems = [problem for path in dict.fromkeys(paths) for problem in data_problems(Path(path), start, recipe)]
    if len(problems) == 1:
        raise ManifestError(problems[0])
    if problems:
        raise ManifestError("\n  ".join([f"{len(problems)} problems of the data", *problems]))


def data_problems(path: Path, start: Checkpoint, recipe: Recipe) -> Iterator[str]:
    """Yield every problem of a manifest, with its rows."""
    windows = WindowDataset(path, start, language=recipe.data.language, verify=False)
    if not len(windows):
        remedy = "prepare it again"
        if path != Path(recipe.data.train):  # as it is where the corpus has one or two persons
            remedy = "name another dev set, prepare with a card that assigns persons to dev, or leave evaluation out"
        yield f"{path}: holds no windows; {remedy}"
        return
    languages = *_languages(windows, start), *english_only_problem(windows, start)
    labels = *label_problems(windows), *prompt_problems(windows)
    for problem in (*languages, *_lengths(windows, start), *labels, *_recordings(windows)):
        yield f"{path}: {problem}"
    if path == Path(recipe.data.train):
        yield from (f"{path}: {problem}" for problem in _training_problems(windows, recipe))
        yield from length_problems(recipe, windows, start)
    if recipe.evaluation and path == Path(str(recipe.data.dev)):
        yield from dev_problems(windows, recipe.evaluation)


def _training_problems(windows: WindowDataset, recipe: Recipe) -> Iterator[str]:
    if not any(TIMESTAMP.sub("", text).strip() for text in windows.column("text")):  # a dev set may be silent
        yield f"all {len(windows)} texts are empty; prepare the data again from transcripts with words"
    if recipe.data.corpora:
        try:
            indices = capped_indices(list(windows.rows["corpus"]), windows.durations, recipe.data.corpora, recipe.seed)
        except ManifestError as error:
            yield str(error)
        else:
            yield from [] if indices else ["data.corpora: max_hours leaves no window; set more"]
    if recipe.data.spliced and not windows.spliced.any():
        yield "no window is spliced, which data.spliced needs; prepare the data again with --splice"
    if recipe.loss.alignment_weight:
        yield from word_time_problems(windows)
        if not any(windows.column("word_times")):
            yield (
                "no row has word times, which loss.alignment_weight needs; write %wor with 'lsa-whisper align', then "
                "prepare the data again"
            )


def _languages(windows: WindowDataset, start: Checkpoint) -> Iterator[str]:
    languages = np.asarray(windows.languages)
    for language in dict.fromkeys(windows.languages):
        try:
            decoder_prompt(start.tokenizer, start.model.generation_config, language=language)
        except CheckpointError as error:
            at = np.flatnonzero(languages == language).tolist()
            name = Path(next(itertools.islice(windows.column("audio_filepath"), at[0], None))).name
            reason = str(error).partition(";")[0]
            remedy = "set data.language to one that it supports, or prepare with --language"
            yield f"{rows_text(at)} ({name}): {reason}; {remedy}"


def _lengths(windows: WindowDataset, start: Checkpoint) -> Iterator[str]:
    context_s = windows.extractor.n_samples / windows.extractor.sampling_rate
    if (long := np.flatnonzero(windows.durations > context_s + TIMESTAMP_STEP_S)).size:
        yield (
            f"{rows_text(long.tolist())}: a window of {windows.durations[long].max():.1f} s, but the model's context "
            f"is {context_s:g} s; prepare the data with --context {context_s:g}"
        )
    positions = start.model.config.max_target_positions
    if tokens := dict(windows.long_labels(positions)):
        yield (
            f"{rows_text(list(tokens))}: a label of {max(tokens.values())} tokens, but the decoder has {positions} "
            "positions; use shorter windows"
        )


def _recordings(windows: WindowDataset) -> Iterator[str]:
    """Yield recordings that are missing, cannot be read, or are shorter than their windows."""
    if windows.audio is not None:  # the sound is inside the shards
        return
    rows_of: dict[str, list[int]] = {}
    for index in range(len(windows)):
        rows_of.setdefault(windows.segment(index).audio_filepath, []).append(index)
    missing = [path for path in rows_of if not Path(path).is_file()]
    if missing:
        rows = rows_text(sorted(index for path in missing for index in rows_of[path]))
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        yield f"{rows}: no recording {', '.join(missing[:_LISTED])}{more}; put it back, or prepare the data again"
    there = [path for path in rows_of if path not in set(missing)]
    spread = there[:: max(1, len(there) // _OPENED)]
    sample = set(spread[:: max(1, len(spread) // _DECODED)])
    for path in spread:
        yield from _recording(windows, path, rows_of[path], decode=path in sample)


def _recording(windows: WindowDataset, path: str, rows: Sequence[int], *, decode: bool) -> Iterator[str]:
    """Yield problems of one recording; of those to ``decode``, its last window is decoded, too."""
    try:
        recording = Recording.open(path)
        ends = {index: windows.segment(index).span.end_ms / 1000 for index in rows}
        if beyond := [index for index, end_s in ends.items() if end_s > recording.duration_s + _TOLERANCE_S]:
            yield (
                f"{rows_text(beyond)}: {path} has {recording.duration_s:.1f} s, and a window ends at "
                f"{max(ends.values()):.1f} s; prepare the data again"
            )
        elif decode:
            recording.load(windows.segment(rows[-1]).span)
    except AudioError as error:
        yield f"{rows_text(rows)}: {error}"


def rows_text(indices: Sequence[int]) -> str:
    """Return rows of a manifest, counted from 1, for a message.

    >>> rows_text([0]), rows_text([0, 4]), rows_text(range(9))
    ('row 1', 'rows 1, 5', 'rows 1, 2, 3, 4, 5 and 4 more')
    """
    numbers = ", ".join(str(index + 1) for index in indices[:_LISTED])
    more = f" and {len(indices) - _LISTED} more" if len(indices) > _LISTED else ""
    return f"row{'s' * (len(indices) > 1)} {numbers}{more}"


def label_problems(windows: WindowDataset) -> Iterator[str]:
    """Yield problems of the labels' timestamps and special tokens, with their rows."""
    context_s = windows.extractor.n_samples / windows.extractor.sampling_rate
    late, beyond_end, backwards, special = (dict[int, str]() for _ in range(4))
    for index, text in enumerate(windows.column("text")):
        stamps = TIMESTAMP.findall(text)
        if beyond := [stamp for stamp in stamps if float(stamp) > context_s]:
            late[index] = f"the time <|{beyond[0]}|>, but the model's context is {context_s:g} s"
        elif between := [stamp for stamp in stamps if int(stamp[-1]) % 2]:
            late[index] = f"the time <|{between[0]}|>, but Whisper's times are multiples of {TIMESTAMP_STEP_S} s"
        elif stamps and float(stamps[-1]) > (end_s := float(windows.durations[index])) + _TOLERANCE_S:
            beyond_end[index] = f"the time <|{stamps[-1]}|>, but the window has {end_s:g} s"
        if pair := next(((old, new) for old, new in itertools.pairwise(stamps) if float(old) > float(new)), None):
            backwards[index] = f"times that run backwards (<|{pair[1]}|> after <|{pair[0]}|>)"
        if token := _SPECIAL.search(TIMESTAMP.sub("", text)):
            special[index] = f"the special token {token.group()} in the text"
    for faults in (late, beyond_end, backwards):
        yield from _with_rows(faults, "prepare the data again")
    yield from _with_rows(special, "remove it")


def _with_rows(faults: Mapping[int, str], remedy: str) -> Iterator[str]:
    """Yield the first of the problems of some rows, for all of them."""
    if faults:
        yield f"{rows_text([*faults])}: {next(iter(faults.values()))}; {remedy}"


def prompt_problems(windows: WindowDataset) -> Iterator[str]:
    """Yield special tokens in the previous text of a row."""
    tokens = ((index, _SPECIAL.search(text)) for index, text in enumerate(windows.column("prompt")))
    faults = {index: f"the special token {token.group()} in the prompt" for index, token in tokens if token}
    yield from _with_rows(faults, "remove it")


def word_time_problems(windows: WindowDataset) -> Iterator[str]:
    """Yield times of words that are outside their window, or run backwards."""
    faults: dict[int, str] = {}
    for index, column in enumerate(windows.column("word_times")):
        end_s = float(windows.durations[index]) + _TOLERANCE_S
        for word in parse_word_times(column):
            if word.start_s is not None and word.end_s is not None and not word.start_s <= word.end_s <= end_s:
                place = f"{word.text!r} from {word.start_s:g} to {word.end_s:g} s"
                faults.setdefault(index, f"word times backwards or beyond the window ({place})")
    yield from _with_rows(faults, "prepare the data again")


def english_only_problem(windows: WindowDataset, start: Checkpoint) -> Iterator[str]:
    """Yield the problem of data in another language than English with a model of English only.

    Such a model has tokens for languages but is never given one. A new model has none, and learns any language.
    """
    vocabulary = start.tokenizer.get_added_vocab()
    if is_multilingual(start.model.generation_config) or "<|es|>" not in vocabulary:
        return
    languages = windows.languages
    if rows := [index for index, language in enumerate(languages) if language != "en"]:
        yield (
            f"{rows_text(rows)}: the language is {languages[rows[0]]!r}, but the model knows English only; choose "
            "a multilingual model, such as openai/whisper-small, or data.language: en if that is wrong"
        )
