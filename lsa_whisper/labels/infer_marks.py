"""Disfluency marks inferred from plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.chat.filled_pauses import FILLERS, fillers, is_hummed
from lsa_whisper.labels.capitals import uncapitalized
from lsa_whisper.labels.hyphenated import with_repeated_parts
from lsa_whisper.retraces import mark_all_retraces, mark_retraces
from lsa_whisper.retraces.retrace import EMPHATIC
from lsa_whisper.retraces.tagger import MANY

MAX_REPEAT_LENGTH = 6
"""Longer repeats are more often refrains than disfluencies."""

PLAIN_FILLERS = FILLERS["eng"]
"""English words that are always fillers; ``ah`` and ``mhm`` may be answers."""


@lru_cache(maxsize=1 << 13)
def infer_marks(text: str, *, repetitions: bool, language: str = "eng") -> str:
    """Return ``text`` with fillers as ``&-``; with ``repetitions``, also ``↫`` for part words, and retraces.

    In English (ISO 639-3 ``eng``), retraces are found by :mod:`lsa_whisper.retraces`; in other languages, exact repeats
    are marked as ``[/]`` by rule. A hum alone (``hmm``) is an answer, and stays a word.

    >>> infer_marks("Um I want um I want the &+b &+b ball", repetitions=True)
    '&-um <I want> [/] &-um I want the ↫b-b↫ball'
    """
    words = _with_fillers(text, language)
    if not repetitions:
        return " ".join(words)
    words = _apart(words, language)
    return mark_retraces(" ".join(words)).text if language == "eng" else " ".join(_repeats(words))


def infer_all_marks(texts: Sequence[str], *, repetitions: bool, language: str = "eng") -> list[str]:
    """Return what :func:`infer_marks` makes of each of ``texts``, in less time for each if there are many."""
    if len(texts) < MANY or not repetitions or language != "eng":
        return [infer_marks(text, repetitions=repetitions, language=language) for text in texts]
    plain = [" ".join(_apart(_with_fillers(text, language), language)) for text in texts]
    return [marked.text for marked in mark_all_retraces(plain)]


def _with_fillers(text: str, language: str) -> list[str]:
    sounds = fillers(language)
    words = text.split()
    if not is_hummed(words):
        words = [f"&-{word.lower()}" if word.lower() in sounds else word for word in words]
    first = next((at for at, word in enumerate(words) if not word.startswith(("&", "("))), len(words))
    for at in range(min(first + 1, len(words))):
        words[at] = words[at].lower() if words[at].startswith("&+") else uncapitalized(words[at], language)
    return words


def _apart(words: list[str], language: str) -> list[str]:
    """Return ``words`` with the parts of repeated ones as CHAT writes them."""
    if any("-" in word for word in words):
        words = " ".join(with_repeated_parts(word, language) for word in words).split()
    return _part_words(words)


def _part_words(words: list[str]) -> list[str]:
    """Join ``&+b &+b ball`` into a part-word repetition; a single fragment stays a fragment."""
    if not any(word.startswith("&+") for word in words):
        return words
    made: list[str] = []
    cuts = 0
    for word in words:
        if word.startswith("&+"):
            cuts += 1
        else:
            parts = [part[2:] for part in made[len(made) - cuts :]]
            if cuts > 1 and not word.startswith("&") and all(word.lower().startswith(p.lower()) for p in parts):
                del made[-cuts:]
                word = f"↫{'-'.join(parts)}↫{word}"
            cuts = 0
        made.append(word)
    return made


def _repeats(words: list[str]) -> list[str]:
    made: list[str] = []
    done = 0
    for at, length in rule_based_repeats(words):
        copy = " ".join(words[at : at + length])
        made += [*words[done:at], f"{copy} [/]" if length == 1 else f"<{copy}> [/]"]
        done = at + length
    return [*made, *words[done:]]


def rule_based_repeats(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first word and the length of exact repeats; fillers (``&-um``) and pauses may stand between the copies.

    >>> list(rule_based_repeats("I want &-um I want the the dog".split()))
    [(0, 2), (5, 1)]
    """
    lowered = [word.casefold() for word in words]
    at = 0
    while at < len(words):
        length = _repeat_at(lowered, at)
        if length:
            yield at, length
        at += max(length, 1)


def _repeat_at(lowered: list[str], at: int) -> int:
    """Return the length of the repeated word sequence at ``at`` (fillers may intervene); 0 for none."""
    for length in range(min(MAX_REPEAT_LENGTH, (len(lowered) - at) // 2), 0, -1):
        copy = lowered[at : at + length]
        again = at + length
        while again < len(lowered) and lowered[again].startswith(("&-", "(.")):
            again += 1
        marked = any(word.startswith(("&", "(")) for word in copy)
        if copy == lowered[again : again + length] and not marked and is_disfluent_repeat(copy):
            return length
    return 0


def is_disfluent_repeat(copy: Sequence[str]) -> bool:
    """Return whether repeating ``copy`` is a disfluency: not *very very*, and not itself periodic."""
    if len(copy) == 1:
        return copy[0] not in EMPHATIC | UNTRANSCRIBED
    periods = (period for period in range(1, len(copy)) if len(copy) % period == 0)
    return all(list(copy) != list(copy[:period]) * (len(copy) // period) for period in periods)
