"""What CTranslate2 tells about tokens: their logits in each step, and their times by its own alignment.

The alignment is dynamic time warping over the decoder's cross-attention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import ctranslate2
import numpy as np
import numpy.typing as npt
import torch

from lsa_whisper.checkpoint import ConvertedCheckpoint
from lsa_whisper.errors import CheckpointError
from lsa_whisper.labels import begins_word, is_onset

_NEVER = -1e30
_SILENT = 0.15
"""More silent frames are a pause, if there are more in a row than a plosive has. On clips of ten real meetings, 58, 74
and 87 % of word starts are within 50, 100 and 200 ms then, 50, 67 and 80 % without, and 55, 71 and 86 % with 0.5."""
_CLOSURE_FRAMES = 5
_MARGIN_FRAMES = 50
"""Encoder frames behind a window's sound that a text is aligned with, too, since its last token may be heard there.

Leaving out the rest of the context saves a third of the time for windows of 8 s. On clips of ten real meetings, 58, 74
and 86 % of word starts are within 50, 100 and 200 ms, and 87 % within 200 ms with the whole context."""
_WORD_FRAMES = 3  # of a word at least; less is a click


def aligned_times_s(
    checkpoint: ConvertedCheckpoint,
    hidden: Any,
    prompt: Sequence[int],
    rows: Sequence[Sequence[int]],
    timestamps_s: Mapping[int, float],
    durations_s: Sequence[float],
) -> list[list[float]]:
    """Return the start of each token of each row and, last, the end of its text, in seconds.

    CTranslate2 aligns text between ``<|notimestamps|>`` and the end of text, so timestamps are left out. A text that
    fills the decoder, as a loop does, leaves no room for these two: its last token is not aligned and ends with it.

    Args:
        checkpoint: The model.
        hidden: The encoder's output.
        prompt: What the rows were decoded after.
        rows: Decoded tokens, without the end of text.
        timestamps_s: Token id -> seconds.
        durations_s: Length of each window's audio.

    Raises:
        CheckpointError: The model cannot be aligned.
    """
    step_s = checkpoint.time_precision_s
    texts = [[token for token in tokens if token not in timestamps_s] for tokens in rows]
    positions = [max(2, round(duration_s / step_s)) for duration_s in durations_s]
    no_timestamps = _no_timestamps(checkpoint)
    start = [token for token in prompt if token != no_timestamps]
    room = int(checkpoint.settings.max_length) - len(start) - 2
    whole, alignments = _array(hidden), []
    try:
        for at, (text, count) in enumerate(zip(texts, positions, strict=True)):
            own = storage_view(whole[at : at + 1, : count + _MARGIN_FRAMES])
            alignments += checkpoint.model.align(own, start, [text[:room]], [2 * count])  # in frames of the spectrum
    except (RuntimeError, ValueError) as error:
        raise CheckpointError(
            f"{checkpoint.path}: word times cannot be computed ({error}); leave out `wor`, or use the "
            "engine transformers"
        ) from error
    return [
        _begins_s(alignment.alignments, [token in timestamps_s for token in tokens], duration_s, step_s)
        for alignment, tokens, duration_s in zip(alignments, rows, durations_s, strict=True)
    ]


def _no_timestamps(checkpoint: ConvertedCheckpoint) -> int:
    """Return the token that CTranslate2 itself adds to the prompt when it aligns."""
    plain = getattr(checkpoint.settings, "no_timestamps_token_id", None)
    return int(plain or checkpoint.tokenizer.get_added_vocab()["<|notimestamps|>"])


def _begins_s(
    path: Sequence[tuple[int, int]], is_timestamp: Sequence[bool], duration_s: float, step_s: float
) -> list[float]:
    """Return the start of each token and, last, the end of the text, in seconds.

    Args:
        path: Steps of the alignment: a token of the text (its end is one more), a frame.
        is_timestamp: Which tokens are timestamps: not on the path; they get the time of the text that follows.
        duration_s: Length of the window's audio.
        step_s: The duration of one encoder frame.

    >>> _begins_s([(0, 0), (0, 1), (1, 2), (2, 2), (2, 3)], [True, False, True, False], 0.05, 0.02)
    [0.0, 0.0, 0.04, 0.04, 0.04]
    >>> _begins_s([(0, 0), (1, 2)], [False, False], 0.05, 0.02)  # the second token was not aligned
    [0.0, 0.04, 0.04]
    """
    first: dict[int, int] = {}
    for token, frame in path:
        first.setdefault(token, frame)
    positions = [0, *accumulate(not stamp for stamp in is_timestamp)]
    return [min(round(first[min(position, max(first))] * step_s, 6), duration_s) for position in positions]


def sounding_spans(
    begins_s: Sequence[float], texts: Sequence[str], silence: npt.NDArray[np.float32], step_s: float
) -> list[tuple[float, float]]:
    """Return the start and end of each token: a word begins with the last thing that sounds on its part of the path.

    The path leaves no gaps: a pause, or an *um* that was not transcribed, is a part of the next word. The sign of
    a block or of a prolonged sound is heard in that silence.

    Args:
        begins_s: Start of each token and, last, the end of the text.
        texts: The text of each token.
        silence: How silent the frames are, from 0 to 1.
        step_s: Duration of a frame.

    >>> silence = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1], np.float32)
    >>> sounding_spans([0.0, 0.6, 1.6], [" so", " I"], silence, 0.1)
    [(0.3, 0.6), (1.2, 1.6)]
    """
    spans: list[tuple[float, float]] = []
    firsts = [at for at, begins in enumerate(begins_word(texts)) if begins or not at]
    for first, behind in pairwise([*firsts, len(texts)]):
        begin, end = round(begins_s[first] / step_s), round(begins_s[behind] / step_s)
        silent = 0 if is_onset(texts[first]) else _last_onset(silence[begin:end])  # a block is a part of its word
        begin_s = round((begin + silent) * step_s, 6)
        spans += [(max(span[0], begin_s), max(span[1], begin_s)) for span in pairwise(begins_s[first : behind + 1])]
    return spans


def _last_onset(silence: npt.NDArray[np.float32]) -> int:
    """Return the first frame of the last thing that sounds, 0 if nothing does.

    >>> _last_onset(np.array([1, 0, 0, 1, 0, *[1] * 9, 0, 0, 0, 1, 0, *[1] * 9, 0, 1]))  # a click is not a word
    14
    """
    heard = np.flatnonzero(silence <= _SILENT)
    if not len(heard):
        return 0
    runs = np.split(heard, np.flatnonzero(np.diff(heard) > _CLOSURE_FRAMES) + 1)
    return int(next((run[0] for run in reversed(runs) if run[-1] - run[0] >= _WORD_FRAMES - 1), runs[-1][0]))


def storage_view(values: np.ndarray) -> Any:
    """Return an array as CTranslate2 takes it."""
    return ctranslate2.StorageView.from_array(np.ascontiguousarray(values))


def part_of(hidden: Any, indices: Sequence[int]) -> Any:
    """Return the encoder's output of some windows of a batch, in their order."""
    return hidden if len(indices) == hidden.shape[0] else storage_view(_array(hidden)[[*indices]])


def in_one_batch(parts: Sequence[Any]) -> Any:
    """Return the encoder's output of several batches as that of one."""
    return parts[0] if len(parts) == 1 else storage_view(np.concatenate([_array(part) for part in parts]))


def inserted(hidden: Any, row: Any, at: int) -> Any:
    """Return the encoder's output of a batch, with that of another window at an index."""
    return storage_view(np.insert(_array(hidden), at, _array(row)[0], axis=0))


def _array(hidden: Any) -> np.ndarray:
    return np.asarray(hidden.to_device(ctranslate2.Device.cpu).to(ctranslate2.DataType.float32))


def logits_of_step(step: Any) -> np.ndarray:
    """Return a copy of the logits of one step, ``(vocabulary,)``; suppressed tokens have the lowest float."""
    return np.array(step.to(ctranslate2.DataType.float32))


def token_logprob(logits: np.ndarray, token: int, forbidden: np.ndarray) -> float:
    """Return the log-probability of a token among the allowed tokens; overwrites the logits.

    Done per step, because one step fits into the CPU cache: all steps of a window at once take twice as long.

    >>> round(token_logprob(np.log(np.array([2, 1, 1, 4], dtype=np.float32)), 0, np.array([3])), 6)
    -0.693147
    """
    logit = float(logits[token])
    logits[forbidden] = -np.inf
    most = float(logits.max())
    logits -= most
    return min(0.0, logit - most - float(np.log(np.exp(logits, out=logits).sum())))


def token_logprobs(result: Any, tokens: Sequence[int], forbidden: np.ndarray) -> list[float]:
    """Return the log-probability of each of ``tokens``, which CTranslate2 generated, among the allowed tokens."""
    steps = map(logits_of_step, result.logits[0])
    return [token_logprob(logits, token, forbidden) for logits, token in zip(steps, tokens, strict=False)]


class FirstToken(NamedTuple):
    """The log-probabilities of the end of text and of a timestamp as the first token, and which of them it is."""

    end: float
    token: float
    is_empty: bool


def begin_logprob(first: np.ndarray, token: int, *, end: int, timestamps: np.ndarray, late: np.ndarray) -> FirstToken:
    """Return how likely it is that a text is empty: its end competes with the timestamps for the first position.

    Args:
        first: Logits of the first step, ``(vocabulary,)``; overwritten.
        token: The timestamp that was chosen.
        end: The end of text.
        timestamps: Ids of all timestamps.
        late: Ids of those that are not allowed.
    """
    first[late] = -np.inf
    candidates = [end, *timestamps.tolist()]
    logprobs = torch.from_numpy(first[candidates]).log_softmax(dim=-1)
    began = max(_NEVER, float(logprobs[candidates.index(token)]))
    return FirstToken(float(logprobs[0]), began, int(logprobs.argmax()) == 0)


def late_share(result: Any, timestamps: np.ndarray, late: np.ndarray) -> float:
    """Return the largest share that ``late`` timestamps have in the choice of a timestamp after the first.

    Args:
        result: What CTranslate2 generated for a window, with its logits.
        timestamps: Ids of all timestamps.
        late: Ids of those after the window's audio.
    """
    if not len(late):
        return 0.0
    ids, is_late = {*timestamps.tolist()}, torch.from_numpy(np.isin(timestamps, late))
    steps = zip(result.sequences_ids[0][1:], result.logits[0][1:], strict=False)
    logits = [torch.from_numpy(logits_of_step(step)[timestamps]) for token, step in steps if token in ids]
    return max((float(scores.softmax(dim=-1)[is_late].sum()) for scores in logits), default=0.0)
