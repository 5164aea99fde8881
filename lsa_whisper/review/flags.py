"""Which words are flagged as doubtful: the worst of the recording, whatever its model is like."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lsa_whisper.errors import LsaWhisperError

DEFAULT_SHARE = "10%"
LIKELY_WRONG = 0.53
"""Words below this confidence are flagged in any case: in a bad recording more than the worst tenth is wrong.

Of 379 words that whisper-base wrote of ten clips of meetings, 51 were wrong. With these limits, which were chosen on
them, 8 % of the words are flagged, 37 % of the wrong ones among them, with a precision of 66 %; with 0.4 and 0.9, and
the confidence of each word alone, it was 14 %, 45 % and 43 %.
"""
MAYBE_RIGHT = 0.57
"""Words above this confidence are flagged only if more than the default share is asked for."""
LIKELY_RIGHT = 0.9
"""Words above this confidence are never flagged, even if they are among the worst."""


def parse_share(text: str) -> float:
    """Return a share of the words, given in percent.

    >>> parse_share("10%"), parse_share("2.5")
    (0.1, 0.025)

    Raises:
        LsaWhisperError: it is not a percentage.
    """
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise LsaWhisperError(f"`flag={text}`: is not a share of the words; give a percentage such as {DEFAULT_SHARE}")
    return share


def flag_limit(confidences: Iterable[float], share: float) -> float:
    """Return the confidence below which words are flagged: a ``share`` of a recording's words, and those likely wrong.

    Args:
        confidences: of all words of the recording that have one.
        share: at most so many of the words, apart from those below :data:`LIKELY_WRONG`.

    >>> flag_limit([0.5, 0.6, 0.7, 0.8, 0.95], 0.4), flag_limit([0.97, 0.98, 0.99], 0.5), flag_limit([0.1, 0.2], 0.1)
    (0.7, 0.9, 0.53)
    >>> flag_limit([0.8, 0.9, 0.95, 0.99], 0.1), flag_limit([0.8, 0.9, 0.95, 0.99], 0.3)
    (0.57, 0.9)
    """
    known = sorted(confidences)
    worst = known[int(len(known) * share)] if int(len(known) * share) < len(known) else 1.0
    right = LIKELY_RIGHT if share > parse_share(DEFAULT_SHARE) else MAYBE_RIGHT
    return max(LIKELY_WRONG, min(worst, right))
