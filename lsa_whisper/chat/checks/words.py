"""Checks of the words and pauses of a main tier: spelling, prefixes, form markers, digits, compounds, replacements.

Numbers in comments are those of CLAN's CHECK.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lsa_whisper.chat.checks.context import CheckContext
from lsa_whisper.chat.checks.tokens import TierFault
from lsa_whisper.chat.codes import COMPOUND_MARKERS, FORM_MARKERS, TONE_LANGUAGES, UNTRANSCRIBED
from lsa_whisper.chat.scan import PAUSE_BODY
from lsa_whisper.chat.tree import Group, Word
from lsa_whisper.chat.word import CA_MARKS, WordKind, read_word

SpellingFault = tuple[int, str, str]
"""Offset in the text, code and message of a violation."""

_SKIPPED = (WordKind.EVENT, WordKind.OTHER_SPEAKER)
_MARKS = re.compile(rf"[⌈⌉⌊⌋][2-9]?|[{CA_MARKS}]")
_RULES = (
    (r"(?:\A0?|(?<=[≠^↫]))(?:&[-+~])?[:^](?=.)", "no-sound", "the sound that is prolonged or broken must come first"),
    (r"''|'(?=[-+~#@\"_])|(?<=-)'|(?<=\A&[-+~])'", "apostrophe-place", "an apostrophe must stand beside letters"),
    (r"\A(?!&).*:(?=[+#\"_])", "colon-place", "a colon follows the sound that it prolongs"),  # 48
    (r"\^(?=\Z|[-+^~#@)\"_])", "caret-place", "^ stands between the two parts of a broken word"),  # 65
    (r"_(?=\Z|[-'+~#@)\"_])", "underscore-place", "_ joins two words"),  # 65
    (r"(?<=.)&", "inner-ampersand", "& stands only at the start of a word"),  # 66
    (r"(?<!/)/(?!/)", "slash", "/ is not allowed in a word"),  # 48; // was once a mark of stress
    (r"\A&.*:::", "long-prolongation", "at most two colons follow a sound of a filler or fragment"),  # 48
    (r"\((?=\Z|[()#+_-])|\)(?=\))", "parenthesis-place", "parentheses enclose the sounds that were left out"),  # 65
    (r"≠(?=\Z)", "block-place", "≠ stands before a sound"),  # 101
    (r"↫(?:[^↫]*-)?↫|↫-[^↫]*↫", "empty-repetition", "↫ encloses the sounds that are repeated"),
)
_FAULTS = tuple((re.compile(pattern), code, message) for pattern, code, message in _RULES)
_PAUSE_BEFORE_CLOSE = re.compile(rf"\({PAUSE_BODY}>\s*\[/")


@lru_cache(maxsize=1 << 14)
def spelling_faults(word: str) -> tuple[SpellingFault, ...]:
    """Return the violations in one written ``word``; offsets count from its start.

    >>> [spelling_faults(word)[0][1] for word in (":hoo", "who''", "&+:-uh", "&+'a", "i-'s", "↫:o↫I")]
    ['no-sound', 'apostrophe-place', 'no-sound', 'apostrophe-place', 'apostrophe-place', 'no-sound']
    >>> spelling_faults("dogs'"), spelling_faults("ba:::by"), spelling_faults("↫b-b↫ball@s:eng")
    ((), (), ())
    """
    if word.isalpha() or read_word(word).kind in _SKIPPED:
        return ()
    body = _MARKS.sub("", word).partition("@")[0]
    return tuple(_faults(body, word))


def _faults(body: str, word: str) -> Iterator[SpellingFault]:
    for pattern, code, message in _FAULTS:
        if match := pattern.search(body):
            yield max(word.find(match.group()), 0), code, f"{word!r}: {message}"
    if body.count("↫") % 2:  # 117
        yield word.find("↫"), "unpaired-repetition", f"{word!r}: ↫ must be used in pairs"
    missing = body.count("(") - body.count(")")
    if missing:  # 55, 56
        yield 0, "open-parenthesis" if missing > 0 else "close-parenthesis", f"{word!r}: a parenthesis is missing"


def pause_faults(text: str) -> Iterator[SpellingFault]:
    """Yield the pauses of a main tier that stand directly before the ``>`` of a retrace.

    >>> [offset for offset, _, _ in pause_faults("<can you open (.)> [/] open it .")]
    [14]
    """
    for match in _PAUSE_BEFORE_CLOSE.finditer(text):
        yield match.start(), "pause-place", "a pause may not stand before >; write it after the code"


_DIGITS = re.compile(r"[0-9]")
_OVERLAP = re.compile("[⌈⌉⌊⌋][2-9]?")
_MARKER = re.compile(r"([a-z]+)(:[^$\s]+)?(\$\S+)?")
_LANGUAGES = re.compile(r":[a-z]{3}(?:[+&][a-z]{3})*")
_OTHER = re.compile(r"&\*[A-Za-z0-9_'-]+:\S+")
_REPLACEMENT = re.compile(r"\[::?\s+(.*?)\s*\]", re.DOTALL)
_ILLEGAL = re.compile("[{}=|\\\\*%\\x00\\x05\\x06\\x08-\\x1f\\x7f\\ue000-\\uf8ff\\ufffd\\u200b\\ufeff]")
_SEGMENT_SIGNS = str.maketrans("", "", "-':")
_SEGMENT = re.compile(r"↫([^↫]*)↫")
_ASIDE = (WordKind.EVENT, WordKind.OTHER_SPEAKER, WordKind.OMITTED, WordKind.PHONETIC)
_CA_SIGNS = {ord(mark): None for mark in CA_MARKS}


def word_faults(word: Word, context: CheckContext, language: str) -> Iterator[TierFault]:
    """Yield the violations in a written ``word`` with its codes; ``language`` is that of its utterance."""
    for code, message in _spelling(word.text, context, language):
        yield word.offset, code, message
    if sum(code.startswith("[:") for code in word.codes) > 1:
        yield word.offset, "replacement-place", f"{word.text} has two replacements"
    for code in word.codes:
        if match := _REPLACEMENT.fullmatch(code):
            if word.text.startswith("&"):
                yield word.offset, "replaced-word", f"{word.text} cannot have the replacement {code}"
            yield from _replacement(match[1], code, word.offset)


def group_faults(group: Group) -> Iterator[TierFault]:
    """Yield the violations in a group's extent and codes."""
    if not group.items:
        yield group.offset, "empty-group", "<> encloses nothing"
    if not group.codes:
        yield group.offset, "group-without-code", "no code follows <...>"
    for code in group.codes:
        if match := _REPLACEMENT.fullmatch(code):
            if code.startswith("[: ") and sum(isinstance(item, Word) for item in group.items) != 1:
                yield group.offset, "replacement-place", f"{code} must follow one word"
            yield from _replacement(match[1], code, group.offset)


def _replacement(text: str, code: str, offset: int) -> Iterator[TierFault]:
    for word in text.split():
        if word in UNTRANSCRIBED or word[0] in "&0":
            yield offset, "replacement-text", f"{code} is not a word of the language"
            return


def _spelling(text: str, context: CheckContext, language: str) -> Iterator[tuple[str, str]]:
    if text[0] == "&":
        yield from _prefix(text)
    reading = read_word(text)
    if reading.kind in (WordKind.EVENT, WordKind.OTHER_SPEAKER):
        return
    plain, at, marker = text.partition("@")
    plain = _OVERLAP.sub("", plain).translate(_CA_SIGNS) if not (plain.isascii() and plain.isprintable()) else plain
    if at:
        yield from _form_marker(plain, marker, context)
    if reading.kind in _ASIDE:
        return
    digit = _DIGITS.search(plain)
    if digit and language not in TONE_LANGUAGES and not marker.startswith("s") and reading.kind is not WordKind.NONWORD:
        yield "digits", f"digits in {text!r}"  # 38, 47
    if not plain.isalpha():
        yield from _signs(text, plain, context)
    elif reading.kind is WordKind.UNTRANSCRIBED and plain not in UNTRANSCRIBED and not context.conversation:
        yield "untranscribed", f"{plain!r} is an obsolete spelling"


def _prefix(text: str) -> Iterator[tuple[str, str]]:
    if text in ("&-", "&+", "&~"):
        yield "empty-word", f"{text} needs a word after it"
    elif text.startswith("&="):
        if text == "&=" or re.match("&=0", text):
            yield "event-text", f"{text!r} does not say what happened"
    elif text.startswith("&*"):
        if not _OTHER.match(text):
            yield "other-speaker", f"{text!r} does not read &*CODE:word"
    elif text[1:2] not in ("-", "+", "~", "{", "}"):
        yield "prefix", f"{text!r}: & without -, +, ~, = or *"


def _form_marker(plain: str, marker: str, context: CheckContext) -> Iterator[tuple[str, str]]:
    if not plain:
        yield "form-marker", f"no word stands before @{marker}"
        return
    match = _MARKER.fullmatch(_OVERLAP.sub("", marker).translate(_CA_SIGNS))
    name = match[1] if match else ""
    if not match or not (name in FORM_MARKERS or (name == "z" and match[2])) or (match[2] and name not in ("s", "z")):
        yield "form-marker", f"@{marker} is not a form marker of CHAT"
        return
    if name == "s" and match[2] and not _LANGUAGES.fullmatch(match[2]):
        yield "marker-language", f"@{marker}: {match[2][1:]!r} is not a language code of three letters"
    elif name == "s" and not match[2] and len(context.languages) == 1:
        yield "no-second-language", f"@{marker} does not say its language"
    if "+" in plain.lstrip("&") and name not in COMPOUND_MARKERS:
        yield "compound", f"a compound with + cannot have @{marker}"
    letters = [letter for letter in plain if letter.isalpha()]
    if name == "l" and len(letters) > 1:
        yield "letter", f"@l marks one letter, not {plain!r}"


def _signs(text: str, plain: str, context: CheckContext) -> Iterator[tuple[str, str]]:
    if "’" in plain or "‘" in plain:
        yield "apostrophe", f"a curly apostrophe in {text!r}"
    if illegal := _ILLEGAL.search(plain):
        yield "character", f"{text!r}: words cannot contain {illegal[0]!r}"
    word = plain[2:] if plain[:2] in ("&-", "&+", "&~") else plain
    if ("+" in word and not all(word.split("+"))) or word[:1] in ("_", "-") or "__" in word:
        yield "compound-part", f"{text!r}: a part of the word is missing"
    if not any(map(str.isalnum, word)) and word and not illegal:
        yield "character", f"{text!r} has no letter"
    if not context.conversation and word[:1] == "(" and word.find(")") == len(word) - 1 and word[1:-1]:
        yield "parentheses", f"{text!r}: a whole word in parentheses"
    if "↫" in word:
        for segment in _SEGMENT.findall(word):
            if not segment.translate(_SEGMENT_SIGNS).isalpha():
                yield "segment", f"{text!r}: {segment!r} is more than letters, hyphens and colons"
        if not _SEGMENT.sub("", word).strip("↫"):
            yield "only-segments", f"{text!r} has only repeated sounds"
