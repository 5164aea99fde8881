"""Checks of dependent tiers: their names, their form, and whether their items belong to words one by one.

``%mor``, ``%gra``, ``%pho``, ``%mod`` and ``%sin`` have items for words. ``%mor`` has one for each word that is part of
the fluent utterance: no fillers, fragments, nonwords, retraced or words, events or untranscribed speech; a replacement
counts instead of the word before it, and ``, „ ‡`` count. Omitted words (``0is``) count in some corpora and not in
others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsa_whisper.chat.codes import DEPENDENT_TIERS
from lsa_whisper.chat.disfluencies import RETRACE_CODES, Disfluency
from lsa_whisper.chat.lines import Line, Problem
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.scan import TERMINATORS
from lsa_whisper.chat.tree import Group, Item, Marker, walk
from lsa_whisper.chat.word import WordKind, read_word

TierPart = tuple[int, str, str]
"""Offset in the tier, code of the rule, and message."""

_REPLACEMENT = re.compile(r"\[:\s+(.*?)\s*\]", re.DOTALL)
OBSOLETE_COPIES = re.compile(r"\[x\s*\d+\s*\]", re.IGNORECASE)
"""The obsolete ``[x 3]``."""
_EXCLUDED = frozenset(RETRACE_CODES) | {"[e]"}
_TAGS = (",", "„", "‡")
_ITEM = re.compile(r"[^|\s]+\|[^|\s]")
_CLITICS = re.compile(r"[~$]")
_TRANSLATED = re.compile(r"=[^~$]*&")
_RELATION = re.compile(r"(\d+)\|(\d+)\|[^\s|]+")
_GROUPS = {"‹": "›", "〔": "〕"}
_NO_TERMINATOR = re.compile(r"\s+(?:\.|\?|!|\+\S*[.?!])\s*\Z")


def alignment_faults(utterance: Utterance) -> Iterator[tuple[Line, int, str, str]]:
    """Yield the tier, offset, code and message of items that do not match the words."""
    units: int | None = None
    for tier in utterance.tiers:
        if tier.name in ("%mor", "%trn") and tier.value:
            items, ending = _items(tier.value)
            if tier.name == "%mor":
                units = sum(len(_CLITICS.split(item)) for item in items) + (ending != "")
            yield from ((tier, *part) for part in _morphology(utterance, tier, items, ending))
    for tier in utterance.tiers:
        if tier.name == "%gra" and tier.value:
            yield from ((tier, *part) for part in _relations(tier, units))
        elif tier.name in ("%pho", "%mod", "%sin") and tier.value:
            yield from ((tier, *part) for part in _sounds(utterance, tier))


def _items(value: str) -> tuple[list[str], str]:
    items = value.split()
    for terminator in TERMINATORS:
        if items[-1] == terminator:
            return items[:-1], terminator
        if items[-1].endswith(terminator) and terminator in ".?!":
            return [*items[:-1], items[-1][: -len(terminator)]], terminator
    return items, ""


def _morphology(utterance: Utterance, tier: Line, items: list[str], ending: str) -> Iterator[TierPart]:
    for item in items:
        parts = _CLITICS.split(item)
        if not all(map(_ITEM.match, parts)):
            yield tier.raw.find(item), "mor-item", f"{tier.name}: {item!r} is not part|stem"
        elif any(part.count("|") > 1 and "+" not in part for part in parts):
            yield tier.raw.find(item), "mor-item", f"{tier.name}: {item!r} has | more than once"
        elif _TRANSLATED.search(item):
            yield tier.raw.find(item), "mor-item", f"{tier.name}: in {item!r} the translation must come last"
    if _has_copies(utterance.tree.items):
        return
    expected = count_mor_words(utterance.tree.items)
    if not expected and len(items) <= 1 and WordKind.UNTRANSCRIBED in utterance.reading.kinds:
        return  # MOR writes a tier below an utterance that is unintelligible as a whole, too
    if len(items) not in (expected, count_mor_words(utterance.tree.items, omitted=True)):
        yield 0, "mor-size", f"{tier.name} has {len(items)} items for {expected} words"
    elif not items:
        yield 0, "mor-size", f"{tier.name} has no items"
    if utterance.terminator in TERMINATORS and ending != utterance.terminator:
        yield 0, "mor-terminator", f"{tier.name} ends with {ending!r}, the main tier with {utterance.terminator!r}"


def count_mor_words(items: list[Item], *, omitted: bool = False) -> int:
    """Return the number of words to which ``%mor`` has items; with omitted words (``0is``), if ``omitted``.

    >>> from lsa_whisper.chat import utterance
    >>> count_mor_words(utterance("CHI", "&-um the [/] the doggie [: dog] , xxx 0is gone .").tree.items)
    4
    """
    count = 0
    for item in items:
        if isinstance(item, Marker):
            count += item.kind == "separator" and item.text in _TAGS
        elif _EXCLUDED.isdisjoint(item.codes):
            words = next((match[1] for code in item.codes if (match := _REPLACEMENT.fullmatch(code))), None)
            if words is not None:
                count += sum(_is_word(word, omitted) for word in words.split())
            elif isinstance(item, Group):
                count += count_mor_words(item.items, omitted=omitted)
            else:
                count += _is_word(item.text, omitted)
    return count


def _is_word(text: str, omitted: bool) -> bool:
    reading = read_word(text)
    if reading.kind is WordKind.OMITTED:
        return omitted and len(text) > 1
    return reading.kind in (WordKind.WORD, WordKind.PHONETIC) and bool(reading.verbatim or "@" in text)


def _has_copies(items: list[Item]) -> bool:
    return any(any(map(OBSOLETE_COPIES.fullmatch, item.codes)) for item in walk(items) if not isinstance(item, Marker))


def _relations(tier: Line, units: int | None) -> Iterator[TierPart]:
    items = tier.value.split()
    matches = [_RELATION.fullmatch(item) for item in items]
    for item, match in zip(items, matches, strict=True):
        if not match:
            yield tier.raw.find(item), "gra-item", f"%gra: {item!r} is not index|head|relation"
    if not all(matches):
        return
    if units is not None and len(items) != units:
        yield 0, "gra-size", f"%gra has {len(items)} relations for {units} units of %mor"
    for at, match in enumerate(matches, 1):
        if match and (int(match[1]) != at or int(match[2]) > len(items)):
            yield tier.raw.find(match[0]), "gra-order", f"%gra: {match[0]!r} is out of order"
            return


def _sounds(utterance: Utterance, tier: Line) -> Iterator[TierPart]:
    """Yield a difference in size; utterances with fillers and the like are skipped, for transcribers differ there."""
    items = utterance.tree.items
    omitted = tier.name == "%sin"
    expected = None if _has_copies(items) else _count_sounds(items, omitted)
    actual, inside = 0, False
    for item in _NO_TERMINATOR.sub("", f" {tier.value}").split():
        if re.fullmatch(r"\([\d.:]*\)|#{1,3}", item):
            continue
        actual += not inside
        inside = (inside or item[0] in _GROUPS) and item[-1] not in _GROUPS.values()
    pauses = sum(event.kind is Disfluency.PAUSE for event in utterance.reading.events)
    if expected is not None and not expected <= actual <= expected + pauses:
        yield 0, "pho-size", f"{tier.name} has {actual} items for {expected} words"


def _count_sounds(items: list[Item], omitted: bool) -> int | None:
    """Return the number of words, groups in ‹ › as one; ``None`` if the number is open."""
    count, inside = 0, False
    for item in items:
        if isinstance(item, Marker):
            if item.text in _GROUPS:
                count, inside = count + 1, True
            elif item.text in _GROUPS.values():
                inside = False
            continue
        if isinstance(item, Group):
            inner = _count_sounds(item.items, omitted)
            if inner is None:
                return None
            count += 0 if inside else inner
            continue
        if item.text.startswith("&") and read_word(item.text).kind not in (WordKind.EVENT, WordKind.OTHER_SPEAKER):
            return None
        kind = read_word(item.text).kind
        counted = kind not in (WordKind.EVENT, WordKind.OTHER_SPEAKER) and (omitted or kind is not WordKind.OMITTED)
        count += counted and not inside
    return count


_NAME_LENGTH = 8
_FREE = re.compile(r"%x[A-Za-z0-9_]+")
_CLOCK = r"\d{1,2}(?::[0-5]\d){1,2}"
_TIM = re.compile(rf"(?:{_CLOCK}|\d{{1,2}})(?:-{_CLOCK})?")


def dependent_problems(path: str | None, utterance: Utterance) -> Iterator[Problem]:
    """Yield the problems of ``utterance``'s dependent tiers."""
    seen: set[str] = set()
    for tier in utterance.tiers:
        if not tier.name:
            continue
        for offset, code, message in _form(tier):
            yield _problem(path, utterance, tier, offset, code, message)
        if tier.name in seen:
            yield _problem(path, utterance, tier, 0, "twin-tier", f"a second {tier.name}")
        seen.add(tier.name)
    for tier, offset, code, message in alignment_faults(utterance):
        yield _problem(path, utterance, tier, offset, code, message)


def _problem(path: str | None, utterance: Utterance, tier: Line, offset: int, code: str, message: str) -> Problem:
    line, column = tier.place(offset) if tier.number else (utterance.line or 1, 1)
    return Problem(path, line, column, code, message)


def _form(tier: Line) -> Iterator[TierPart]:
    if tier.name not in DEPENDENT_TIERS and not _FREE.fullmatch(tier.name):
        yield 0, "unknown-tier", f"{tier.name} is not a dependent tier of CHAT"
    if len(tier.name) > _NAME_LENGTH and tier.name not in DEPENDENT_TIERS:
        yield 0, "tier-name", f"{tier.name} has more than {_NAME_LENGTH - 1} letters"
    if ":" not in tier.raw:
        yield 0, "missing-colon", f"{tier.name} needs a colon and text"
    elif not tier.value:
        yield 0, "missing-text", f"no text follows {tier.name}:"
    elif tier.name == "%tim" and not _TIM.fullmatch(tier.value):
        yield 0, "time", f"{tier.value!r} is not a time like 8:30:31"
