"""Checks of CHAT's rules within a main tier."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsa_whisper.chat.lines import Problem
from lsa_whisper.chat.main_tier import Utterance
from lsa_whisper.chat.model import Transcript
from lsa_whisper.chat.reading import RETRACE_KINDS
from lsa_whisper.chat.tree import Group, Item, Marker, Word
from lsa_whisper.chat.word import WordKind, read_word

TONE_LANGUAGES = frozenset(["zho", "cmn", "yue", "nan", "min", "hak", "wuu", "vie", "tha", "cym"])
"""Languages whose words may contain digits (tone marks; in Welsh by convention)."""

_OBSOLETE = re.compile(r"\[x\s*\d+\s*\]", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]")
_ENDINGS = ("terminator", "ca")
_Found = tuple[int, str, str]


def tier_problems(transcript: Transcript, utterance: Utterance) -> Iterator[Problem]:
    """Yield the violations in ``utterance``'s main tier."""
    options = re.findall(r"[^\s,]+", transcript.header("@Options") or "")
    conversation = any(option.startswith("CA") for option in options)
    tones = not TONE_LANGUAGES.isdisjoint(transcript.languages)
    for offset, code, message in _rules(utterance, conversation, tones):
        yield Problem(transcript.path, *utterance.place(offset), code, message)
    names = [tier.name for tier in utterance.tiers]
    for tier in utterance.tiers:
        if tier.name and names.index(tier.name) != utterance.tiers.index(tier):
            yield Problem(transcript.path, tier.number or utterance.line or 1, 1, "twin-tier", f"a second {tier.name}")


def _rules(utterance: Utterance, conversation: bool, tones: bool) -> Iterator[_Found]:
    items = utterance.tree.items
    yield from _ending(utterance, items, conversation)
    for item in _flat(items):
        if isinstance(item, Word):
            yield from _word(item, conversation, tones)
        if not isinstance(item, Marker):
            for code in item.codes:
                if _OBSOLETE.fullmatch(code):
                    yield item.offset, "obsolete-repetition", f"{code} is obsolete; write the word again with [/]"
                if code == "[/?]":  # 11
                    yield item.offset, "unspecified-retrace", "[/?] is not allowed; write [/], [//] or [///]"
    yield from _retraces(items, False)


def _ending(utterance: Utterance, items: list[Item], conversation: bool) -> Iterator[_Found]:
    ends = [at for at, item in enumerate(items) if isinstance(item, Marker) and item.kind in _ENDINGS]
    stops = [at for at in ends if isinstance(items[at], Marker) and items[at].kind == "terminator"]  # type: ignore[union-attr]
    if not ends:  # 21
        if not conversation:
            yield max(len(utterance.body.rstrip()) - 1, 0), "no-terminator", "the utterance has no terminator"
        return
    late = any(isinstance(item, Marker) and item.kind == "bullet" for item in items[ends[-1] :])
    for at in stops[:-1]:  # 22, 50
        yield items[at].offset, "inner-terminator", "a terminator inside the utterance"
    for at, item in enumerate(items):
        if not isinstance(item, Marker):
            if at > ends[-1] and not (isinstance(item, Word) and item.text.strip("⌈⌉⌊⌋23456789") == ""):
                yield item.offset, "after-terminator", "words after the terminator"
        elif item.kind == "bullet" and at < ends[-1] and not late:  # 81
            yield item.offset, "bullet-place", "the bullet must follow the terminator"
        elif item.text.startswith("[+") and at < ends[-1]:  # 75
            yield item.offset, "postcode-place", "a postcode must follow the terminator"


def _flat(items: list[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        if isinstance(item, Group):
            yield from _flat(item.items)


def _word(word: Word, conversation: bool, tones: bool) -> Iterator[_Found]:
    kind = read_word(word.text).kind
    if kind in (WordKind.EVENT, WordKind.OTHER_SPEAKER, WordKind.OMITTED, WordKind.PHONETIC):
        return
    text = word.text.partition("@")[0]
    digit = _DIGITS.search(re.sub("[⌈⌉⌊⌋][2-9]", "", text))
    if digit and not tones and "@s" not in word.text and kind is not WordKind.NONWORD:  # 38, 47
        yield word.offset, "digits", f"{word.text!r}: write numbers as words"
    if kind is WordKind.UNTRANSCRIBED and text not in ("xxx", "yyy", "www") and text.isalpha() and not conversation:
        yield word.offset, "untranscribed", f"{text!r}: write xxx, yyy or www"
    if "’" in text or "‘" in text:  # 48
        yield word.offset, "apostrophe", f"{word.text!r}: write ' for the apostrophe"
    if text in ("&-", "&+", "&~"):
        yield word.offset, "empty-word", f"{text} needs a word after it"


def _retraces(items: list[Item], followed: bool) -> Iterator[_Found]:
    """Yield the retraces of ``items`` without a repair; ``followed``: whether words follow outside ``items``."""
    for item in reversed(items):
        if isinstance(item, Marker):
            continue
        retraced = next((code for code in item.codes if code in RETRACE_KINDS), None)
        if retraced and not followed:  # 154
            yield item.offset, "retrace-without-repair", f"no words follow {retraced}"
        if isinstance(item, Group):
            yield from _retraces(item.items, followed)
        followed = followed or _is_speech(item)


def _is_speech(item: Word | Group) -> bool:
    if isinstance(item, Group):
        return any(_is_speech(inner) for inner in item.items if not isinstance(inner, Marker))
    return read_word(item.text).kind not in (WordKind.EVENT, WordKind.OTHER_SPEAKER)
