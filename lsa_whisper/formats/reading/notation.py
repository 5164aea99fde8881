"""The text of other formats as CHAT: plain words, a laboratory's marks, or CHAT that stands in another format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from lsa_whisper.chat.scan import TERMINATORS
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.mazes import mark_maze
from lsa_whisper.labels import Labels, decode

_ENDS = "|".join(re.escape(each) for each in TERMINATORS)
_CHAT_END = re.compile(rf"(?:^|\s)(?:{_ENDS})(?:\s*\[[+^][^\]]*\])*\s*$")
_DEFAULT_MARKS = {
    ("[", "]"): "event",
    ("(", ")"): "event",
    ("{", "}"): "event",
    ("<", ">"): "drop",
    ("♪", "♪"): "event",
}
_INTACT = re.compile(r"\((?:\.{1,3}|[0-9]+(?:\.[0-9]*)?)\)|\[(?:/{1,3}|/-|/\?)\]")
_UNINTELLIGIBLE = re.compile(
    r"(?:un|in)?(?:intelligible|audible|clear|transcribed|known)|crosstalk|\?+|x+", re.IGNORECASE
)
_PAUSE = re.compile(r"(?:long |short )?(?:pause|silence|blank_audio|blank audio)", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|vs|etc)\.", re.IGNORECASE)
_FILLER = re.compile(r"u+h+m*|u+m+|e+r+m*|h+m+|m+h*m+", re.IGNORECASE)
_EVENT_NAME = re.compile(r"[^\w:]+")

_PLACE = "qzq"
_MAZE = re.compile(rf"{_PLACE}(a+){_PLACE}")
"""A word in the place of a maze, whose marks stay as they are."""


def looks_like_chat(texts: Iterable[str]) -> bool:
    """Return whether at least half of ``texts`` end as a main tier does, in a space and a terminator.

    >>> looks_like_chat(["the [/] the dog .", "no !"]), looks_like_chat(["The dog.", "No!"])
    (True, False)
    """
    found = [bool(_CHAT_END.search(text)) for text in texts if text.strip()]
    return bool(found) and 2 * sum(found) >= len(found)


def with_terminator(text: str) -> str:
    """Return a main tier's ``text`` with a terminator; a tier that has one is unchanged."""
    return text if _CHAT_END.search(text) else f"{text} .".lstrip()


def plain_to_chat(text: str, conventions: Conventions, *, language: str, infer_marks: bool) -> tuple[str, list[str]]:
    """Return plain ``text`` as one main tier (empty without words), and the comments found in it.

    Args:
        text: One stretch of text; sentences inside it are joined.
        conventions: What the laboratory's marks mean.
        language: ISO 639-3 code, for numbers in digits.
        infer_marks: Whether fillers, cut-off words and repeated words are marked; else they stay plain words.

    >>> plain_to_chat("Um, I I want [laughs] it. OK?", Conventions(), language="eng", infer_marks=True)
    ('&-um I [/] I want &=laughs it OK ?', [])
    """
    comments: list[str] = []
    replaced = _ABBREVIATION.sub(r"\1", text)
    for old, new in conventions.replace.items():
        replaced = replaced.replace(old, f" {new} ")
    mazes: list[str] = []
    marked = _marked(replaced, conventions, comments, mazes)
    found = decode(marked, Labels("verbatim"), language=language).utterances
    comments += [tier.value for each in found for tier in each.tiers]
    tiers = [each.text if infer_marks else _unmarked(each.text, each.verbatim()) for each in found]
    tiers = [tier for tier in tiers if tier]
    inner = [_CHAT_END.sub("", tier) for tier in tiers[:-1]]
    joined = " ".join([*inner, *tiers[-1:]])
    return _MAZE.sub(lambda match: mazes[len(match.group(1)) - 1], joined), comments


def _unmarked(text: str, words: list[str]) -> str:
    end = _CHAT_END.search(text)
    return f"{' '.join(words)} {end.group().strip() if end else '.'}" if words else ""


def _marked(text: str, conventions: Conventions, comments: list[str], mazes: list[str]) -> str:
    """Return ``text`` with brackets replaced by what they mean in CHAT: the user's first, the longest of them first."""
    own = sorted(conventions.marks.items(), key=lambda pair: -len(pair[0][0]))
    marks = dict(own) | {pair: meaning for pair, meaning in _DEFAULT_MARKS.items() if pair not in conventions.marks}
    kept: list[str] = []

    def keep(chat: str) -> str:
        kept.append(chat)
        return f" \x02{len(kept) - 1}\x03 "

    text = _INTACT.sub(lambda match: keep(match.group()), text)
    for (opening, closing), meaning in marks.items():
        pattern = _bracket_pattern(opening, closing)

        def meant_by(match: re.Match[str], meaning: str = meaning) -> str:
            content = match.group(1).strip()
            if meaning != "maze":
                return _meaning(content, meaning, comments)
            after = re.findall(r"[\w'-]+", match.string[match.end() : match.end() + 200])
            mazes.append(mark_maze(content.split(), after))
            return f" {_PLACE}{'a' * len(mazes)}{_PLACE} "

        for _ in range(4):  # brackets within brackets
            text, count = pattern.subn(meant_by, text)
            if not count:
                break
    return re.sub(r"\x02(\d+)\x03", lambda match: kept[int(match.group(1))], text)


@lru_cache(maxsize=256)
def _bracket_pattern(opening: str, closing: str) -> re.Pattern[str]:
    inner = rf"[^{re.escape(opening[0])}{re.escape(closing[0])}]{{0,500}}"
    return re.compile(rf"{re.escape(opening)}({inner}){re.escape(closing)}")


def _meaning(content: str, meaning: str, comments: list[str]) -> str:
    """Return CHAT for the ``content`` of brackets with this ``meaning``."""
    if meaning == "comment":
        comments.append(content)
        return " "
    if meaning == "filler":
        return f" &-{_EVENT_NAME.sub('_', content).strip('_').lower()} "
    if meaning == "keep":
        return f" {content} "
    if meaning == "drop" or not content:
        return " "
    if meaning == "unintelligible" or _UNINTELLIGIBLE.fullmatch(content):
        return " xxx "
    if meaning == "pause" or _PAUSE.fullmatch(content):
        return " (.) "
    if _FILLER.fullmatch(content):
        return f" {content.lower()} "
    name = _EVENT_NAME.sub("_", content).strip("_").lower()
    return f" &={name} " if name else " "
