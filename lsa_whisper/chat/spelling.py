"""CHAT's rules for the spelling of written words and pauses; numbers in comments are those of CLAN's CHECK."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from lsa_whisper.chat.scan import PAUSE_BODY
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
