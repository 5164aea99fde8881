"""Checks of the marks of a main tier: brackets, spacing, codes, pauses, linkers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from lsa_whisper.chat.checks.context import CheckContext
from lsa_whisper.chat.scan import Token, scan

TierFault = tuple[int, str, str]
"""Offset in the main tier's body, code of the rule, and message."""

_CODE = re.compile(
    r"""\[(?: !!? | \? | e | /{1,3} | /[-?] | [<>]\d* | \^c | [xX]\s?\d+
    | (?:=[!?]?|::?|%|\*|\^c?|\#|\+)\s+\S.* | -\s+\S+ | \* )\s*\]""",
    re.VERBOSE | re.DOTALL,
)
_PRECODE = re.compile(r"\[-\s+(\S+?)\s*\]")
_PAIRS = (
    ("“", "”", "unmatched-quotation", "a quotation within a quotation"),
    ("‹", "›", "unmatched-unit", "‹ within ‹ ›"),
    ("〔", "〕", "unmatched-unit", "〔 within 〔 〕"),
)
"""Marks that belong together, the rule of those that stand alone, and the message about one inside another pair."""
_PAIRED = "∆∇°▁▔☺♋⁇∬∮⁎"
"""Marks of voice quality, which stand before and after the words that they are about."""
_SCOPE = re.compile(r"&([{}])([nl]=[^\s{}]+)(?![^\s<>]*\})")
_SPEECH = ("word", "pause", "open", "bullet")


def token_faults(body: str, context: CheckContext) -> Iterator[TierFault]:
    """Yield the violations in the marks of a main tier's ``body``."""
    tokens = list(scan(body))
    yield from _spacing(tokens)
    yield from _places(tokens, context)
    for token in tokens:
        if token.kind == "code" and not _CODE.fullmatch(token.text):
            yield token.offset, "unknown-code", f"{token.text} is not a code of CHAT"
        elif token.kind == "pause":
            yield from _pause(token)
        elif token.text in ('"', "…"):
            yield token.offset, "character", f"{token.text} is not allowed on a main tier"
        elif token.text in ("‘", "’"):
            yield token.offset, "apostrophe", f"{token.text} as a quotation mark"
    yield from _unmatched(tokens)
    if not body.isascii():
        yield from _unpaired(tokens)
    if "&{" in body or "&}" in body:
        yield from _scopes(body)
    if context.conversation and ("(" in body or ")" in body):
        yield from _parentheses(tokens)


def _spacing(tokens: Sequence[Token]) -> Iterator[TierFault]:
    for left, right in itertools.pairwise(tokens):
        kinds = (left.kind, right.kind)
        if right.kind == "code" and left.kind not in ("space", "open"):
            yield right.offset, "code-spacing", f"no space before {right.text}"
        elif left.kind == "code" and right.kind in ("word", "pause", "open"):
            yield right.offset, "code-spacing", f"no space after {left.text}"
        elif kinds in (("word", "pause"), ("pause", "word")):
            yield right.offset, "pause-spacing", f"no space between {left.text!r} and {right.text!r}"
        elif kinds == ("open", "space"):
            yield right.offset, "group-spacing", "a space follows <"
        elif kinds == ("space", "close"):
            yield left.offset, "group-spacing", "a space stands before >"


def _pause(token: Token) -> Iterator[TierFault]:
    if token.text.startswith("#"):
        yield token.offset, "obsolete-pause", f"{token.text!r} is no longer a pause"
    elif "." not in token.text:
        yield token.offset, "pause-format", f"the length {token.text} has no dot"


def _places(tokens: Sequence[Token], context: CheckContext) -> Iterator[TierFault]:
    """Yield linkers, language codes and commas that are not where CHAT allows them."""
    begun, last_comma = False, -1
    for at, token in enumerate(tokens):
        if token.kind == "linker" and begun:
            yield token.offset, "linker-place", f"the linker {token.text} is not at the start"
        elif precode := _PRECODE.fullmatch(token.text) if token.kind == "code" else None:
            if begun:
                yield token.offset, "precode-place", f"{token.text} is not at the start"
            if precode[1] not in context.languages:
                yield token.offset, "precode-language", f"the language of {token.text} is not in @Languages"
        elif token.text == ",":
            if last_comma >= 0 and all(between.kind == "space" for between in tokens[last_comma + 1 : at]):
                yield token.offset, "double-comma", "two commas in a row"
            elif not begun:
                yield token.offset, "comma-place", "a comma stands before all words"
            last_comma = at
        begun = begun or token.kind in _SPEECH


def _unmatched(tokens: Sequence[Token]) -> Iterator[TierFault]:
    for opening, closing, code, message in _PAIRS:
        start: Token | None = None
        for token in tokens:
            if token.text == opening:
                if start:
                    yield token.offset, code, message
                start = token
            elif token.text == closing:
                if not start:
                    yield token.offset, code, f"{closing} has no {opening}"
                start = None
        if start:
            yield start.offset, code, f"{opening} has no {closing}"


def _unpaired(tokens: Sequence[Token]) -> Iterator[TierFault]:
    places: dict[str, list[int]] = {}
    for token in tokens:
        if token.kind == "word" and not token.text.isascii():
            for at, sign in enumerate(token.text):
                if sign in _PAIRED:
                    places.setdefault(sign, []).append(token.offset + at)
    for sign, offsets in places.items():
        if len(offsets) % 2:
            yield offsets[-1], "unpaired-mark", f"{sign} stands only once"


def _scopes(body: str) -> Iterator[TierFault]:
    """Yield ``&{l=X`` without ``&}l=X`` and the reverse; ``&{n=BANG}`` is complete."""
    starts: dict[str, int] = {}
    for match in _SCOPE.finditer(body):
        if match[1] == "{":
            starts[match[2]] = match.start()
        elif starts.pop(match[2], None) is None:
            yield match.start(), "unmatched-unit", f"{match[0]} has no &{{{match[2]}"
    for label, offset in starts.items():
        yield offset, "unmatched-unit", f"&{{{label} has no &}}{label}"


def _parentheses(tokens: Sequence[Token]) -> Iterator[TierFault]:
    """Yield unmatched parentheses in conversation analysis, where they may enclose several words."""
    starts: list[int] = []
    for token in tokens:
        for at, sign in enumerate(token.text if token.kind == "word" else ""):
            if sign == "(":
                starts.append(token.offset + at)
            elif sign == ")":
                if not starts:
                    yield token.offset + at, "unmatched-parenthesis", ") has no ("
                else:
                    starts.pop()
    for offset in starts:
        yield offset, "unmatched-parenthesis", "( has no )"
