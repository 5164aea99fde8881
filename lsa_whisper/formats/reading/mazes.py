"""Mazes as retraces: SALT and many laboratories bracket everything that is not part of the message alike."""

from __future__ import annotations

from collections.abc import Sequence

from lsa_whisper.chat.filled_pauses import MARKED_FILLERS
from lsa_whisper.labels.infer_marks import MAX_REPEAT_LENGTH


def mark_maze(words: Sequence[str], following: Sequence[str]) -> str:
    """Return CHAT for the ``words`` of a maze.

    Fillers and cut-off words (``g*``, ``g-``) are marked as such. Words that come again right after are repetitions,
    other words are revised; with nothing ``following`` they are a false start.

    Args:
        words: The words in the maze.
        following: The words of the message after it.

    >>> mark_maze(["um", "and", "you"], ["you", "can"])
    '&-um and [//] you [/]'
    >>> mark_maze("I I the do*".split(), ["cat"])
    'I [/] <I the> [//] &+do'
    """
    pieces: list[str] = []
    revised: list[str] = []
    plain = [word for word in words if _aside(word) is None]
    ahead = [*plain, *following]
    at = 0
    index = 0
    while index < len(words):
        aside = _aside(words[index])
        if aside is not None:
            _close(pieces, revised, bool(following or at < len(plain)))
            pieces.append(aside)
            index += 1
            continue
        run = _run(words, index)
        length = _repeated(ahead, at, len(run))
        if length:
            _close(pieces, revised, True)
            pieces.append(_group(run[:length], "[/]"))
        else:
            revised.append(words[index])
        at, index = at + max(length, 1), index + max(length, 1)
    _close(pieces, revised, bool(following))
    return " ".join(pieces)


def _aside(word: str) -> str | None:
    """Return CHAT for a filler or a cut-off word, ``None`` for any other word."""
    if word.startswith(("&", "(", "0")) or word in ("xxx", "yyy"):
        return word
    if word[-1:] in "*-" and len(word) > 1:
        return f"&+{word[:-1]}"
    plain = word.casefold()
    return f"&-{plain}" if plain in MARKED_FILLERS or "_" in word else None


def _run(words: Sequence[str], start: int) -> list[str]:
    """Return the words from ``start`` up to the next filler or cut-off word."""
    end = next((at for at in range(start, len(words)) if _aside(words[at]) is not None), len(words))
    return list(words[start:end])


def _repeated(ahead: Sequence[str], at: int, most: int) -> int:
    """Return how many words from ``at`` come again right after them."""
    lowered = [word.casefold() for word in ahead[at : at + 2 * MAX_REPEAT_LENGTH]]
    for length in range(min(most, MAX_REPEAT_LENGTH), 0, -1):
        if lowered[:length] == lowered[length : 2 * length]:
            return length
    return 0


def _close(pieces: list[str], revised: list[str], followed: bool) -> None:
    if revised:
        pieces.append(_group(revised, "[//]" if followed else "[/-]"))
        revised.clear()


def _group(words: Sequence[str], code: str) -> str:
    return f"{words[0]} {code}" if len(words) == 1 else f"<{' '.join(words)}> {code}"
