"""Counts as CLAN's FluCalc makes them, for comparison with published figures; the strict counts share their names.

FluCalc counts character by character over everything that is not in square brackets: a ``:`` in ``&=head:yes``, in
``&*INV:mhm`` or in a pause ``(1:05.)`` is a prolongation, ``+^`` a broken word, a filler or a pause in ``<...>`` a word
of a phrase, and legacy ``&uh`` nothing. It takes a bullet for a word, so that a pause at the end of a tier counts where
a bullet follows. A retrace of no word, such as that of ``&=points [//]``, counts as one of a word.

Its syllables and words are those of the utterances with a ``%mor`` tier, retraces, fillers and fragments left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.reading import copy_count, replacement
from lsa_whisper.chat.scan import Token, scan
from lsa_whisper.chat.tree import Group, Item, Marker, Word
from lsa_whisper.chat.word import WordKind, read_word

_COUNT_NAMES = """
    prolongation broken_word block part_word_repetition part_word_repetition_iterations whole_word_repetition
    monosyllabic_whole_word_repetition fragment phrase_repetition word_revision phrase_revision pause filled_pause
"""
COUNTS = tuple(_COUNT_NAMES.split())
"""The counts, in the order of FluCalc's columns."""

REPEATED_SOUND = re.compile(r"↫([^↫]*)↫?")
Counts = dict[str, int]


def count_signs(text: str, counts: Counts) -> None:
    """Add the prolongations, broken words, blocks and part-word repetitions in ``text``."""
    counts["prolongation"] += text.count(":")
    counts["broken_word"] += text.count("^")
    counts["block"] += text.count("≠")
    if "↫" in text:
        for segment in REPEATED_SOUND.findall(text):
            counts["part_word_repetition"] += 1
            counts["part_word_repetition_iterations"] += 1 + segment.count("-")


def count_retrace(counts: Counts, code: str, words: int, monosyllabic: bool) -> None:
    """Add one ``[/]`` or ``[//]`` of ``words`` words."""
    if code == "[/]":
        counts["whole_word_repetition" if words <= 1 else "phrase_repetition"] += 1
        counts["monosyllabic_whole_word_repetition"] += words <= 1 and monosyllabic
    else:
        counts["word_revision" if words <= 1 else "phrase_revision"] += 1


def counted_codes(item: Word | Group) -> Iterator[str]:
    """Yield the ``[/]`` and ``[//]`` of an item; ``[x 3]`` stands for two ``[/]``."""
    yield from ("[/]" for _ in range(copy_count(item.codes) - 1))
    yield from (code for code in item.codes if code in ("[/]", "[//]"))


_VOWELS = re.compile("[aeiouy]+")
_SILENT_E = re.compile(
    "^(bake|base|bone|cake|care|cheese|dare|fire|fuse|game|goose|grade|grape|home|horse|house|ice|juke|lake|life|mine|"
    "mole|name|nose|note|phone|police|race|rice|side|snake|some|space|store|stove|take|tape|time|voice|waste|wine|wipe)"
    "(?=[a-z])"
)
"""Stems whose e FluCalc knows to be silent inside a word as well: *times, houses, snakes*."""


def count_as_flucalc(utterance: Utterance, counts: Counts) -> None:
    """Add the disfluencies of ``utterance`` to ``counts``."""
    tokens = [token for token in scan(utterance.body) if token.kind not in ("space", "open", "close")]
    for token in tokens:
        if token.kind != "code" and not token.text.startswith("0"):
            count_signs(token.text, counts)
            counts["fragment"] += token.text.count("&+")
            counts["filled_pause"] += token.text.count("&-")
    counts["pause"] += _inner_pauses(tokens)
    for codes, texts in _retraces(utterance.tree.items):
        monosyllabic = not texts or (len(texts) == 1 and vowel_groups(texts[0]) == 1)
        for code in codes:
            count_retrace(counts, code, len(texts), monosyllabic)


def _inner_pauses(tokens: Sequence[Token]) -> int:
    """Count the pauses between words; a bullet is a word."""
    before = next((at for at, token in enumerate(tokens) if _is_word(token, ("word", "linker", "terminator"))), None)
    behind = next((at for at in reversed(range(len(tokens))) if _is_word(tokens[at], ("word", "bullet"))), 0)
    return 0 if before is None else sum(token.kind == "pause" for token in tokens[before:behind])


def _is_word(token: Token, kinds: tuple[str, ...]) -> bool:
    return token.kind in kinds and not token.text.startswith(("0", "("))


def _retraces(items: Sequence[Item]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the codes of each retrace and the texts it retraces; a free code retraces the event before it."""
    before: list[str] = []
    for item in items:
        if isinstance(item, Marker):
            if item.kind == "free" and item.text in ("[/]", "[//]"):
                yield [item.text], before
            before = []
            continue
        if codes := list(counted_codes(item)):
            yield codes, list(_texts(item))
        if isinstance(item, Word):
            before = [item.text]
        else:
            yield from _retraces(item.items)
            before = []


def _texts(item: Item) -> Iterator[str]:
    if isinstance(item, Word):
        yield item.text
    elif not isinstance(item, Marker):
        for inner in item.items:
            yield from _texts(inner)
    elif item.kind == "pause":
        yield item.text


def words_and_syllables(utterances: Iterable[Utterance]) -> tuple[int, int] | None:
    """Return FluCalc's denominators, or ``None`` if no utterance has a ``%mor`` tier."""
    with_mor = [utterance for utterance in utterances if any(tier.name == "%mor" for tier in utterance.tiers)]
    if not with_mor:
        return None
    words = [word for utterance in with_mor for word in _tagged_words(utterance.tree.items)]
    return len(words), sum(vowel_groups(part) for word in words for part in word.split("+"))


def _tagged_words(items: Sequence[Item]) -> Iterator[str]:
    """Yield the words that ``%mor`` describes: not retraced, with replacements applied and omitted sounds restored."""
    for item in items:
        if isinstance(item, Marker) or any(code.startswith(("[/", "[e]")) for code in item.codes):
            continue
        replacements = replacement(item.codes)
        if replacements is not None:
            yield from (word for words in replacements for word in words if read_word(word).kind is WordKind.WORD)
        elif not isinstance(item, Word):
            yield from _tagged_words(item.items)
        elif read_word(item.text).kind is WordKind.WORD and read_word(item.text).fluent:
            yield item.text.replace("(", "").replace(")", "")


def vowel_groups(text: str) -> int:
    """Count syllables as FluCalc does: runs of vowel letters, a final e only after consonant + l or alone.

    >>> [vowel_groups(word) for word in ("rabbit", "people", "something", "going", "maybe", "snakes")]
    [2, 2, 2, 1, 2, 1]
    """
    if text.startswith("("):
        return 0
    word = "".join(re.findall("[a-z0-9]", REPEATED_SOUND.sub("", text).partition("@")[0].lower()))
    if word == "maybe":
        return 2
    word = _SILENT_E.sub(lambda stem: stem[1][:-1], word)
    groups = len(_VOWELS.findall(word))
    silent = groups > 1 and re.search(r"[^aeiouy]e$", word) and not re.search(r"[^aeiouy]le$", word)
    return groups - bool(silent)
