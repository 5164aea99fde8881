"""Token times: the Viterbi path through the decoder's cross-attention.

The decoded text passes through the decoder once more to obtain its cross-attention; the text does not change. The
attention of a token is used as its probability at each frame: a window is a hidden Markov model whose states are the
tokens and the optional gaps before them, and the Viterbi algorithm finds the times.

OpenAI's alignment (dynamic time warping over standardized, median-filtered weights) has no gaps: a pause, or an "um"
that was not transcribed, becomes part of the next word. benchmarks/word_times.py compares both.

Everywhere, weights are the attention ``(tokens, frames)``, and ``texts`` that of each token, empty for a timestamp.
``silence`` says how silent the frames are, from 0 to 1; missing ones are not. ``continued`` says whether each token
continues the word of the token before, or is not heard.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lsa_whisper.decoding.cross_attention import Weights
from lsa_whisper.labels import begins_word, in_speaker_code, letters_of

Span = tuple[float, float]
"""Where a token begins and ends, in frames or in seconds."""

_GAP = math.log(0.02 / 1.8)  # a frame is a gap if every token attends to it less than evenly over 1.8 s
_GAP_OF_NORMS = math.log(0.06)  # the same for attention that is divided by its norm
_MIN_ATTENTION = 1e-4  # zero attention must not exclude a frame
_NEVER = -1e9
_MAX_FILLED = 0.8  # of the frames, by the shortest possible tokens
_MIN_SHARE = 0.4  # of the usual duration of a letter; attention alone may squeeze a repeated word into one frame
_MIN_LETTER_MS = 40.0  # at most: where much is not transcribed, letters seem to be longer than they are
_MAX_DURATION_MS = 320.0  # a token need not be longer than that, however many letters it has
_SILENT = 0.5  # a word lasts until the sound is more silent than that,
_LONGER_MS = 500.0  # but no longer than this after attention has left it,
_LONGER_AT_END_MS = 200.0  # or this before a mark or after all words: what sounds there may be others
_UNLIKELY = 3.0  # logarithm of how much less probable a token in silence is, and a gap inside a word


def token_times(
    weights: Weights, duration_s: float, step_s: float, *, texts: Sequence[str], silence: Weights
) -> list[Span]:
    """Return the start and end of each token in seconds, in order and without overlap."""
    frames = max(1, min(weights.shape[1], round(duration_s / step_s)))
    return [
        (min(begin * step_s, duration_s), min(end * step_s, duration_s))
        for begin, end in spoken_spans(weights[:, :frames], texts, silence, 1000 * step_s)
    ]


def spoken_spans(weights: Weights, texts: Sequence[str], silence: Weights, step_ms: float) -> list[Span]:
    """Return the first frame of each token and the one after its last, from its text and the loudness of the sound.

    A speaker code takes no time: it is where the next token begins.
    """
    in_code = in_speaker_code(texts)
    is_text = [not inside for inside in in_code]
    own = [text for text, here in zip(texts, is_text, strict=True) if here]
    spans = _token_spans(weights[is_text], own, silence, step_ms) if own else []
    return with_codes(spans, in_code, weights.shape[1])


def with_codes(spans: Sequence[Span], in_code: Sequence[bool], frames: int) -> list[Span]:
    """Return ``spans`` with empty ones for the tokens of speaker codes, each where the next token begins.

    ``spans`` are of the other tokens, in order. A code that no token follows begins at ``frames``.

    >>> with_codes([(3, 5), (7, 9)], [True, False, True, False, True], 10)
    [(3, 3), (3, 5), (7, 7), (7, 9), (10, 10)]
    """
    own = iter(spans)
    result: list[Span] = []
    begin: float = frames
    for span in reversed([None if inside else next(own) for inside in in_code]):
        result.append(span or (begin, begin))
        begin = result[-1][0]
    return result[::-1]


def _token_spans(weights: Weights, texts: Sequence[str], silence: Weights, step_ms: float) -> list[Span]:
    # Divided by its norm, a long word that spreads its attention is as strong at its edge as a short neighbor. (Known
    # text is aligned without that: its words are there whether or not a model recognizes them, some with faint
    # attention, which the norm would raise.)
    norms = np.maximum(np.linalg.norm(weights, axis=1, keepdims=True), _MIN_ATTENTION)
    letters = [len(letters_of(text)) for text in texts]
    continued = [not begins for begins in begins_word(texts)]
    return constrained_spans(weights / norms, letters, continued, silence, step_ms, gap=_GAP_OF_NORMS)


def constrained_spans(
    weights: Weights,
    letters: Sequence[int],
    continued: Sequence[bool],
    silence: Weights,
    step_ms: float,
    *,
    gap: float = _GAP,
) -> list[Span]:
    """Return the first frame of each token and the one after its last: no token is squeezed, or heard in silence.

    Attention leaves a word before its sound ends, so that words would be half as long as they are. A word lasts until
    the sound is silent or the next word begins. Of real meetings, 66 % of word ends are then within 50 ms instead of
    51 %, and on storybook 82 % instead of 45 %. ``letters`` are how many letters of a word are heard in each token,
    ``gap`` the logarithm of the attention to a gap.
    """
    frames = weights.shape[1]
    silence = np.pad(silence[:frames], (0, frames - len(silence[:frames])))
    heard_ms = float((1 - silence).sum()) * step_ms
    letter_ms = min(_MIN_LETTER_MS, _MIN_SHARE * heard_ms / max(1, sum(letters)))
    least = [max(1, round(min(_MAX_DURATION_MS, count * letter_ms) / step_ms)) for count in letters]
    spans = viterbi_spans(weights, silence=silence, continued=continued, least=least, gap=gap)
    return _lasting(spans, letters, continued, silence, step_ms)


def _lasting(
    spans: Sequence[Span], letters: Sequence[int], continued: Sequence[bool], silence: Weights, step_ms: float
) -> list[Span]:
    """Return the spans with each word as long as its sound goes on; the marks behind it come where it ends.

    >>> silence = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0])
    >>> _lasting([(0, 2), (2, 3), (7, 8)], [3, 0, 2], [False, True, False], silence, 20.0)
    [(0, 4.0), (4.0, 4.0), (7, 10.0)]
    """
    result = list(spans)
    behind, next_begin = len(spans), float(len(silence))
    for first in reversed(range(len(spans))):
        if continued[first] and first:
            continue
        if lettered := [at for at in range(first, behind) if letters[at]]:
            last = lettered[-1]
            begin, end = result[last]
            ends = last + 1 < behind or behind == len(spans)
            longest = (_LONGER_AT_END_MS if ends else _LONGER_MS) / step_ms
            until = min(next_begin, end + longest, _silence_after(silence, end))
            result[last] = begin, max(end, until)
            for at in range(last + 1, behind):
                result[at] = max(result[at][0], until), max(result[at][1], until)
        behind, next_begin = first, result[first][0]
    return result


def _silence_after(silence: Weights, frame: float) -> float:
    """Return the first silent frame from ``frame`` on, or the number of frames."""
    first = math.ceil(frame)
    quiet = np.flatnonzero(silence[first:] > _SILENT)
    return float(first + quiet[0] if len(quiet) else len(silence))


def viterbi_spans(
    weights: Weights,
    *,
    silence: Weights | None = None,
    continued: Sequence[bool] | None = None,
    least: Sequence[int] | None = None,
    gap: float = _GAP,
) -> list[Span]:
    """Return the first frame of each token and the one after its last on the Viterbi path.

    If there are more tokens than frames, tokens share frames. A token is less probable in silence, and a gap within a
    word. ``least`` are the fewest frames of each token, 1 if absent; all are shortened where the frames do not suffice.

    >>> weights = np.array([[0.8, 0.2, 0, 0, 0, 0], [0, 0, 0, 0, 0.5, 0.5]])
    >>> viterbi_spans(weights)
    [(0.0, 2.0), (4.0, 6.0)]
    >>> viterbi_spans(weights, least=[3, 1])
    [(0.0, 3.0), (4.0, 6.0)]
    """
    tokens, frames = weights.shape
    parts = math.ceil(tokens / frames)
    scores = np.log(weights.astype(np.float64) + _MIN_ATTENTION)
    if silence is not None:
        scores -= _UNLIKELY * silence
    gaps = np.full(tokens + 1, gap)
    if continued is not None:
        gaps[:-1] -= _UNLIKELY * np.asarray(continued, dtype=np.float64)
    path = _viterbi(np.repeat(scores, parts, axis=1), gaps, _fitting(least or [1] * tokens, frames * parts))
    spans = []
    for token in range(tokens):
        own = np.flatnonzero(path == 2 * token + 1)
        spans.append((float(own[0] / parts), float((own[-1] + 1) / parts)))
    return spans


def _fitting(least: Sequence[int], frames: int) -> npt.NDArray[np.intp]:
    """Return the fewest frames of each token, shortened in proportion where they are more than most of the frames.

    >>> _fitting([4, 4], 100).tolist(), _fitting([4, 4], 5).tolist(), _fitting([16, *[1] * 9], 10).tolist()
    ([4, 4], [2, 2], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """
    more = np.asarray(least, dtype=np.float64) - 1  # than one frame, which each token must have
    room = max(0.0, _MAX_FILLED * frames - len(least))
    part = min(1.0, room / more.sum()) if more.any() else 1.0
    return 1 + (more * part).astype(np.intp)


def _viterbi(
    scores: npt.NDArray[np.float64], gaps: npt.NDArray[np.float64], least: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Return the unit of each frame: ``2 n + 1`` is token ``n``, ``2 n`` the optional gap before it.

    A token has as many states as it has frames at least, and only its last one may last.
    """
    tokens, frames = scores.shape
    states = np.ones(2 * tokens + 1, np.intp)
    states[1::2] = least
    unit = np.repeat(np.arange(2 * tokens + 1), states)
    is_first, is_last = np.diff(unit, prepend=-1) > 0, np.diff(unit, append=2 * tokens + 1) > 0
    enters_token = is_first & (unit % 2 == 1)  # from the token before, without a gap
    emissions = np.empty((frames, 2 * tokens + 1))
    emissions[:, ::2] = gaps
    emissions[:, 1::2] = scores.T
    emissions = emissions[:, unit]
    stays, skips = np.where(is_last, 0.0, _NEVER), np.where(enters_token, 0.0, _NEVER)[2:]
    best = np.full(len(unit), _NEVER)
    best[:2] = emissions[0, :2]
    steps = np.zeros((frames, len(unit)), np.int8)  # states between a frame and the previous one
    for frame in range(1, frames):
        new = best + stays
        for back, scores_before in ((1, best[:-1]), (2, best[:-2] + skips)):
            own, step = new[back:], steps[frame, back:]
            step[scores_before > own] = back
            np.maximum(own, scores_before, out=own)
        best = new + emissions[frame]
    path = np.empty(frames, np.intp)
    path[-1] = len(unit) - 1 if best[-1] > best[-2] else len(unit) - 2
    for frame in range(frames - 1, 0, -1):
        path[frame - 1] = path[frame] - steps[frame, path[frame]]
    return unit[path]
