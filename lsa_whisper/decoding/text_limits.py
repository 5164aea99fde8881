"""How long a text may get, and signs that it is not to be trusted: it is unlikely, or has copies, as loops have."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.decoding.style import DecodingStyle

NEARLY_RIGHT_LOGPROB = -0.8
"""Mean log-probability of a text above which more is looked for: other texts, and words that were skipped. Below it, in
speech that a model hardly understands, sentences are found that are more probable and further from the speech."""
TOKENS_PER_S = 30.0
"""Speech has at most about this many tokens per second, even in a vocabulary of single letters; a repetition loop has
more."""
COMPARED_TOKENS_PER_S = 8.0
"""The same of a second text, which is compared only if it has an end: speech of five words a second, in the vocabulary
of OpenAI's models. In 4.5 minutes of real speech (OpenAI's base in int8), one window that repeated itself up to the
decoder's limit took about 9 of 25 seconds of one processor."""

USUAL_TOKENS_PER_S = 5.0
"""Speech rarely has more tokens per second than this, in the vocabulary of OpenAI's models: the fastest of 324 windows
of real speech (base in int8) had 4.3. A longer text that ends in copies there is given up as a loop, which would
otherwise run up to the decoder's limit. In five minutes of meetings, two loops took 16 % of the time."""
GIVEN_UP = -1
"""Stands in place of the next token where a text is given up."""
_WHOLE_WORDS = 50_000  # tokens of a vocabulary in which most words are one
_COPIES, _COPIED_TOKENS, _LONGEST_COPY = 4, 32, 40


def usual_tokens_per_s(vocabulary: int) -> float:
    """Return beyond how many tokens per second a text that ends in copies is given up, in a vocabulary of this size."""
    return USUAL_TOKENS_PER_S if vocabulary > _WHOLE_WORDS else TOKENS_PER_S


def is_loop(tokens: Sequence[int], usual: int) -> bool:
    """Return whether a text is unusually long and has, at its usual length, the same tokens again and again.

    Args:
        tokens: The text, without prompt and end.
        usual: The most tokens that it usually has.

    >>> [is_loop([5, *[7, 8] * count], 33) for count in (17, 16)], is_loop([*range(9)] * 9, 40)
    ([True, False], True)
    """
    return len(tokens) > usual and ends_in_copies(tokens[:usual])


def ends_in_copies(tokens: Sequence[int], least: int = _COPIED_TOKENS) -> bool:
    """Return whether a text ends in at least four copies of the same tokens, and ``least`` tokens together.

    >>> ends_in_copies([5, *[7, 8] * 16]), ends_in_copies([7, 8] * 15), ends_in_copies([*range(11)] * 3)
    (True, False, False)
    """
    for period in range(1, _LONGEST_COPY + 1):
        copied = max(_COPIES * period, least)
        tail = tokens[-copied:]
        if len(tail) == copied and tail[period:] == tail[:-period]:
            return True
    return False


def has_copies(tokens: Sequence[int]) -> bool:
    """Return whether a text has four copies of the same tokens in a row, as loops do, and people who stutter, too.

    >>> has_copies([5, *[7, 8] * 4, 9]), has_copies([7, 8] * 3)
    (True, False)
    """
    return any(ends_in_copies(tokens[:end], 0) for end in range(_COPIES, len(tokens) + 1))


def tokens_per_s(style: DecodingStyle) -> float:
    """Return the most tokens per second of audio that a text of this style has."""
    return COMPARED_TOKENS_PER_S if style.is_compared else TOKENS_PER_S


def token_limit(duration_s: float, prompt_length: int, max_positions: int, most_per_s: float = TOKENS_PER_S) -> int:
    """Return the maximum number of tokens for a window of audio.

    The allowance of 24 leaves room for marks and timestamps in short windows.

    >>> token_limit(2.0, 3, 448), token_limit(30.0, 3, 448)
    (84, 445)
    """
    return max(1, min(round(most_per_s * duration_s) + 24, max_positions - prompt_length))


def is_nearly_right(tokens: Sequence[int], mean_logprob: float, end: int) -> bool:
    """Return whether the text of a beam search is to be trusted: it ends, is likely, and repeats nothing as loops do.

    ``tokens`` are the text with its end; ``mean_logprob`` is their mean log-probability, timestamps left out.
    """
    return tokens[-1:] == [end] and mean_logprob >= NEARLY_RIGHT_LOGPROB and not has_copies(tokens)
