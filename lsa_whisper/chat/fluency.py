"""FluCalc's counts: stuttering-like and typical disfluencies per speaker.

Conventions
    ``strict`` counts the marks in this speaker's words. ``flucalc`` counts as CLAN's FluCalc does, character by
    character over everything that is not in square brackets: a ``:`` in ``&=head:yes``, in ``&*INV:mhm`` or in a pause
    ``(1:05.)`` is then a prolongation, ``+^`` a broken word, a filler or a pause in ``<...>`` a word of a phrase, and
    legacy ``&uh`` nothing. In both, a pause counts only inside an utterance, ``::`` counts two, and ``[///]`` and
    ``[/-]`` count nothing.

Metrics
    SLD = prolongation + broken word + block + part-word repetition + monosyllabic whole-word repetition.
    TD = fragment + phrase repetition + word revision + phrase revision + pause + filled pause.
    Weighted SLD (Ambrose and Yairi 1999) = (part-word iterations + monosyllabic word repetitions + 2 x (prolongation +
    block)) per 100 syllables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.reading import copy_count
from lsa_whisper.chat.scan import Token, scan
from lsa_whisper.chat.syllables import syllables
from lsa_whisper.chat.tree import Group, Item, Marker, Word
from lsa_whisper.chat.word import WordKind, read_word
from lsa_whisper.errors import LsaWhisperError

COUNTS = (
    "prolongation",
    "broken_word",
    "block",
    "part_word_repetition",
    "part_word_repetition_iterations",
    "whole_word_repetition",
    "monosyllabic_whole_word_repetition",
    "fragment",
    "phrase_repetition",
    "word_revision",
    "phrase_revision",
    "pause",
    "filled_pause",
)
"""The counts, in the order of FluCalc's columns."""

COUNTING_MODES = ("strict", "flucalc")
_SPOKEN = frozenset((WordKind.WORD, WordKind.UNTRANSCRIBED, WordKind.PHONETIC))
_SEGMENT = re.compile(r"↫([^↫]*)↫?")
_VOWELS = re.compile("[aeiouy]+")
_Counts = dict[str, int]


@dataclass(frozen=True)
class Fluency:
    """One speaker's ``counts``, and their denominators: fluent ``words`` and their ``syllables``, if known."""

    counts: _Counts
    utterances: int
    words: int
    syllables: int | None

    @property
    def sld(self) -> int:
        """Stuttering-like disfluencies."""
        names = ("prolongation", "broken_word", "block", "part_word_repetition", "monosyllabic_whole_word_repetition")
        return sum(self.counts[name] for name in names)

    @property
    def td(self) -> int:
        """Typical disfluencies."""
        names = ("fragment", "phrase_repetition", "word_revision", "phrase_revision", "pause", "filled_pause")
        return sum(self.counts[name] for name in names)

    @property
    def weighted_sld(self) -> float | None:
        """Weighted stuttering-like disfluencies per 100 syllables; above 4 suggests stuttering in a young child."""
        repeated = self.counts["part_word_repetition_iterations"] + self.counts["monosyllabic_whole_word_repetition"]
        return _rate_per_100(repeated + 2 * (self.counts["prolongation"] + self.counts["block"]), self.syllables)

    def as_dict(self) -> dict[str, Any]:
        """Return counts and rates, ready for JSON; a rate with an unknown or zero denominator is ``None``."""
        return {
            "counts": dict(self.counts),
            "utterances": self.utterances,
            "words": self.words,
            "syllables": self.syllables,
            "sld": self.sld,
            "td": self.td,
            "sld_per_100_words": _rate_per_100(self.sld, self.words),
            "td_per_100_words": _rate_per_100(self.td, self.words),
            "sld_per_100_syllables": _rate_per_100(self.sld, self.syllables),
            "td_per_100_syllables": _rate_per_100(self.td, self.syllables),
            "weighted_sld": self.weighted_sld,
        }


def _rate_per_100(count: int, of: int | None) -> float | None:
    return 100 * count / of if of else None


def count_disfluencies(
    utterances: Iterable[Utterance], *, languages: Collection[str] = (), mode: str = "strict"
) -> dict[str, Fluency]:
    r"""Return the counts of every speaker, in order of appearance.

    Args:
        utterances: the main tiers of a transcript, in order.
        languages: ISO 639-3; none means English. Syllables are counted in English only.
        mode: one of :data:`COUNTING_MODES`.

    >>> from lsa_whisper.chat import parse
    >>> tiers = parse("*PAR:\t↫b-b↫ball and <I want> [/] I want s:ome .").utterances
    >>> counts = count_disfluencies(tiers)["PAR"].counts
    >>> [counts[name] for name in ("part_word_repetition_iterations", "phrase_repetition", "prolongation")]
    [2, 1, 1]

    Raises:
        LsaWhisperError: for a mode that does not exist.
    """
    if mode not in COUNTING_MODES:
        raise LsaWhisperError(f"fluency: no mode {mode!r}; choose one of {', '.join(COUNTING_MODES)}")
    english = "eng" in languages or not languages
    by_speaker: dict[str, list[Utterance]] = {}
    for utterance in utterances:
        by_speaker.setdefault(utterance.speaker, []).append(utterance)
    count = _count_strict if mode == "strict" else _count_flucalc
    return {speaker: _of_speaker(tiers, english, count) for speaker, tiers in by_speaker.items()}


def _of_speaker(tiers: list[Utterance], english: bool, count: Callable[[Utterance, _Counts, bool], None]) -> Fluency:
    counts = dict.fromkeys(COUNTS, 0)
    words: list[str] = []
    for utterance in tiers:
        count(utterance, counts, english)
        words.extend(utterance.reading.fluent)
    lengths = [syllables(word) for word in words] if english else [None]
    total = None if all(length is None for length in lengths) else sum(length or 0 for length in lengths)
    return Fluency(counts, len(tiers), len(words), total)


def _retraced(counts: _Counts, code: str, words: int, monosyllabic: bool) -> None:
    if code == "[/]":
        counts["whole_word_repetition" if words <= 1 else "phrase_repetition"] += 1
        counts["monosyllabic_whole_word_repetition"] += words <= 1 and monosyllabic
    else:
        counts["word_revision" if words <= 1 else "phrase_revision"] += 1


def _codes(item: Word | Group) -> Iterator[str]:
    yield from ("[/]" for _ in range(copy_count(item.codes) - 1))
    yield from (code for code in item.codes if code in ("[/]", "[//]"))


# --- strict -----------------------------------------------------------------------------------------------------------


def _count_strict(utterance: Utterance, counts: _Counts, english: bool) -> None:
    for word in _words(utterance.tree.items):
        written = read_word(word.text)
        counts["filled_pause"] += written.kind is WordKind.FILLER
        counts["fragment"] += written.kind is WordKind.FRAGMENT
        for piece in written.surface:
            _count_signs(piece, counts)
    for item in _coded(utterance.tree.items):
        remaining = _unretraced_words(item)
        one = english and len(remaining) == 1 and _syllables_of(remaining[0]) == 1
        for code in _codes(item) if remaining else ():
            _retraced(counts, code, len(remaining), one)
    reading = utterance.reading
    counts["pause"] += sum(
        event.kind == "pause" and 0 < event.start < len(reading.verbatim) for event in reading.events
    )


def _count_signs(text: str, counts: _Counts) -> None:
    counts["prolongation"] += text.count(":")
    counts["broken_word"] += text.count("^")
    counts["block"] += text.count("≠")
    if "↫" in text:
        for segment in _SEGMENT.findall(text):
            counts["part_word_repetition"] += 1
            counts["part_word_repetition_iterations"] += 1 + segment.count("-")


def _words(items: list[Item]) -> Iterator[Word]:
    for item in items:
        if isinstance(item, Word):
            yield item
        elif isinstance(item, Group):
            yield from _words(item.items)


def _coded(items: list[Item]) -> Iterator[Word | Group]:
    for item in items:
        if not isinstance(item, Marker) and item.codes:
            yield item
        if isinstance(item, Group):
            yield from _coded(item.items)


def _unretraced_words(item: Item) -> list[Word]:
    """Return the words of ``item`` that are not retraced within it, without fillers and fragments."""
    if isinstance(item, Word):
        return [item] if read_word(item.text).kind in _SPOKEN else []
    if isinstance(item, Marker):
        return []
    kept = (
        one for one in item.items if isinstance(one, Marker) or not any(code.startswith("[/") for code in one.codes)
    )
    return [word for one in kept for word in _unretraced_words(one)]


def _syllables_of(word: Word) -> int:
    return sum(syllables(part) or 0 for part in read_word(word.text).verbatim if not part.endswith("-"))


# --- as FluCalc counts ------------------------------------------------------------------------------------------------


def _count_flucalc(utterance: Utterance, counts: _Counts, english: bool) -> None:
    tokens = [token for token in scan(utterance.body) if token.kind not in ("space", "bullet", "open", "close")]
    for token in tokens:
        if token.kind != "code" and not token.text.startswith("0"):
            _count_signs(token.text, counts)
            counts["fragment"] += token.text.count("&+")
            counts["filled_pause"] += token.text.count("&-")
    counts["pause"] += _inner_pauses(tokens)
    for item in _coded(utterance.tree.items):
        texts = list(_texts(item))
        one = english and len(texts) == 1 and _vowel_groups(texts[0]) == 1
        for code in (code for code in item.codes if code in ("[/]", "[//]")):
            _retraced(counts, code, len(texts), one)


def _inner_pauses(tokens: list[Token]) -> int:
    """Count the pauses between words."""
    before = next((at for at, token in enumerate(tokens) if _is_word(token, ("word", "linker", "terminator"))), None)
    behind = next((at for at in reversed(range(len(tokens))) if _is_word(tokens[at], ("word",))), 0)
    return 0 if before is None else sum(token.kind == "pause" for token in tokens[before:behind])


def _is_word(token: Token, kinds: tuple[str, ...]) -> bool:
    return token.kind in kinds and not token.text.startswith(("0", "("))


def _texts(item: Item) -> Iterator[str]:
    if isinstance(item, Group):
        for inner in item.items:
            yield from _texts(inner)
    elif isinstance(item, Word) or item.kind == "pause":
        yield item.text


def _vowel_groups(text: str) -> int:
    """Count syllables as FluCalc does: runs of vowel letters, a final e only after consonant + l or alone."""
    if text.startswith("("):
        return 0
    word = "".join(re.findall("[a-z0-9]", _SEGMENT.sub("", text).partition("@")[0].lower()))
    if word == "maybe":
        return 2
    groups = len(_VOWELS.findall(word))
    silent = groups > 1 and re.search(r"[^aeiouy]e$", word) and not re.search(r"[^aeiouy]le$", word)
    return groups - bool(silent)
