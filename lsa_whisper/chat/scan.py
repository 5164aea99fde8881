"""Tokens of a line of CHAT; the joined tokens are the line.

One compiled regular expression reads everything. Its last alternative matches any character as ``opaque``, so no text
is lost and none raises an error. No alternative reads a character more than a constant number of times, so the time is
linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

PAUSE_BODY = r"(?:\.{1,3}|[0-9][0-9:]*(?:\.[0-9]*)?|\.[0-9]+)\)"
TERMINATORS = ('+"/.', '+".', "+//.", "+//?", "+/.", "+/?", "+..?", "+...", "+!?", "+=.", "+.", ".", "?", "!")
LINKERS = ("+<", "+^", "+,", "++", '+"', "+≈", "+≋")
CA_ENDINGS = "→↘⇘↗⇗≈≋∞≡"
"""Intonation contours that replace terminators in conversation analysis (CA)."""

_STOPS = r'\s\[\]<>.?!,;“”„‡"‹›«»〔〕…\x15'
# The group is not possessive: up to Python 3.11.4, such groups lose what they matched before a failed alternative.
_WORD = rf"(?:[^{_STOPS}(+‘’]++|\((?!{PAUSE_BODY})|\+(?![/.!\"<^,+=≈≋]|\s|\Z)|[‘’](?=\w))+"


def _any_of(spellings: tuple[str, ...]) -> str:
    return "|".join(re.escape(spelling) for spelling in spellings)


_SIGN = "[\x15•·●∙\uf0b7\ufffd]"
BARE_BULLET = rf"{_SIGN}?[0-9]{{1,14}}_[0-9]{{2,14}}{_SIGN}?(?=\s*\Z)"
"""Times at the end of a main tier that lack a control character, or have a dot for it: never words."""
_ALONE = rf"(?:[:{CA_ENDINGS}]|\#{{1,3}})(?=[\s\x15]|\Z)"
_KINDS = rf"""(?P<word>(?!{_ALONE}|{BARE_BULLET}){_WORD})
    |(?P<terminator>{_any_of(TERMINATORS)})
    |(?P<code>\[[^\[\]]*\])
    |(?P<open><)
    |(?P<close>>)
    |(?P<pause>\({PAUSE_BODY}|\#{{1,3}})
    |(?P<bullet>\x15[^\x15]*\x15|{BARE_BULLET})
    |(?P<linker>{_any_of(LINKERS)})
    |(?P<ca>[{CA_ENDINGS}])
    |(?P<separator>[,;“”„‡"‹›«»〔〕…‘’:])
    |(?P<opaque>.)"""
_TOKEN = re.compile(rf"(?P<space>\s+)|{_KINDS}", re.VERBOSE | re.DOTALL)

SOLID = re.compile(rf"\s*+(?:{_KINDS})", re.VERBOSE | re.DOTALL)
"""The same tokens with leading space, for callers that skip space."""


class Token(NamedTuple):
    """A token: its ``kind``, its ``text``, and the ``offset`` of its first character."""

    kind: str
    text: str
    offset: int


def scan(line: str) -> Iterator[Token]:
    """Yield the tokens of ``line``; joined, their texts are ``line`` again.

    Kinds: space, bullet, code (``[...]``), open, close, pause, terminator, linker, ca (intonation), separator, word,
    opaque (a misplaced character, which is kept).

    >>> [t.text for t in scan("a (.) cat .") if t.kind != "space"]
    ['a', '(.)', 'cat', '.']
    >>> [t.kind for t in scan("[// dog") if t.kind != "space"]
    ['opaque', 'word', 'word']
    """
    for match in _TOKEN.finditer(line):
        yield Token(match.lastgroup or "opaque", match.group(), match.start())
