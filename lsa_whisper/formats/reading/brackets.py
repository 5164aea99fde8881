"""Brackets and tags of plain text, replaced by what they mean in CHAT; the words of mazes become retraces.

SALT and many laboratories bracket everything that is not part of the message alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lsa_whisper.chat.filled_pauses import MARKED_FILLERS
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.tags import chat_of, event_of, is_clock, read_pairs, read_tag, uncertain_words
from lsa_whisper.labels.infer_marks import MAX_REPEAT_LENGTH
from lsa_whisper.labels.numbers import AREA_CODE

NO_FILLERS = {"deu": frozenset(("er", "um")), **dict.fromkeys(("dan", "nld", "nor"), frozenset(("er",)))}
"""Words of other languages that are spelled as English fillers."""


def mark_maze(words: Sequence[str], following: Sequence[str], language: str = "eng") -> str:
    """Return CHAT for the ``words`` of a maze.

    Fillers and cut-off words (``g*``, ``g-``) are marked as such. Words that come again right after are repetitions,
    other words are revised; with nothing ``following`` they are a false start. ``following`` are the words of the
    message after it.

    >>> mark_maze(["um", "and", "you"], ["you", "can"])
    '&-um and [//] you [/]'
    >>> mark_maze("I I the do*".split(), ["cat"])
    'I [/] <I the> [//] &+do'
    """
    pieces: list[str] = []
    revised: list[str] = []
    plain = [word for word in words if _aside(word, language) is None]
    ahead = [*plain, *following]
    at = 0
    index = 0
    while index < len(words):
        aside = _aside(words[index], language)
        if aside is not None:
            _close(pieces, revised, bool(following or at < len(plain)))
            pieces.append(aside)
            index += 1
            continue
        length = _repeated(ahead, at, len(plain) - at)
        at += max(length, 1)
        if not length:
            revised.append(words[index])
            index += 1
            continue
        _close(pieces, revised, True)
        copy: list[str] = []
        while length:  # fillers within the copy stay there
            aside = _aside(words[index], language)
            copy.append(aside or words[index])
            length, index = length - (aside is None), index + 1
        pieces.append(_group(copy, "[/]"))
    _close(pieces, revised, bool(following))
    return " ".join(pieces)


def _aside(word: str, language: str) -> str | None:
    """Return CHAT for a filler or a cut-off word, ``None`` for any other word."""
    if word.startswith(("&", "(", "0")) or word in ("xxx", "yyy"):
        return word
    if word[-1:] in "*-" and len(word) > 1:
        return f"&+{word[:-1]}"
    plain = word.casefold()
    return f"&-{plain}" if "_" in word or plain in MARKED_FILLERS - NO_FILLERS.get(language, frozenset()) else None


def _repeated(ahead: Sequence[str], at: int, most: int) -> int:
    """Return how many words from ``at`` come again right after them; of four times *he*, one."""
    lowered = [word.casefold() for word in ahead[at : at + 2 * MAX_REPEAT_LENGTH]]
    for length in range(min(most, MAX_REPEAT_LENGTH), 0, -1):
        if lowered[:length] == lowered[length : 2 * length]:
            return next(
                step for step in range(1, length + 1) if lowered[step : 2 * length] == lowered[: 2 * length - step]
            )
    return 0


def _close(pieces: list[str], revised: list[str], followed: bool) -> None:
    if revised:
        pieces.append(_group(revised, "[//]" if followed else "[/-]"))
        revised.clear()


def _group(words: Sequence[str], code: str) -> str:
    return f"{words[0]} {code}" if len(words) == 1 else f"<{' '.join(words)}> {code}"


_DEFAULT_MARKS = {
    ("((", "))"): "unsure",
    ("[", "]"): "event",
    ("(", ")"): "event",
    ("{", "}"): "event",
    ("<", ">"): "tag",
}
_INTACT = re.compile(r"\((?:\.{1,3}|[0-9]{1,2}|[0-9]+\.[0-9]*)\)|\[(?:/{1,3}|/-|/\?)\]")
_AREA_CODE = re.compile(AREA_CODE)
_OMITTED_SOUNDS = re.compile(
    r"(?<![\w(])(?:[^\W\d_]+\(([a-zß-ÿ]{1,5})\)[^\W\d_]*|\(([a-zß-ÿ]{1,5})\)[^\W\d_]+)(?![\w(])"
)
"""``(be)cause`` and ``goin(g)``, which CHAT writes alike."""
_LETTERS = r"\[(?!(?i:uh|um|erm?|m?hm|mm|oh|yes|yeah|ja|oui|sí|sic|x+)\])[^\W\d_]{1,5}\]"
_IN_WORD = re.compile(rf"(?<=[^\W\d_]){_LETTERS}|{_LETTERS}(?=[^\W\d_])")
"""Overlapped or unclear letters of a word: ``I [th]ink``."""
_SPOKEN = re.compile(
    r"(?:\A|\s)(?:I(?:'[a-z]+)?|you|we|my|our|me|ich|wir|mich|mein|je|nous|moi|yo|nosotros|mi|io|noi|eu|nós|ik|wij)"
    r"(?=[\s,.!?']|\Z)"
)
"""Words of a speaker about himself and others, which no description of a sound has."""
_FILLER = re.compile(r"u+h+m*|u+m+|e+r+m*|h+m+|m+h*m+", re.IGNORECASE)
_ANY_MARK = re.compile(r"[\[({<]")
_OVERLAPPED = re.compile(
    r"(?i)\[\s?(?:oh|yes|yeah|no|and|but|so|I|okay|well|m+h*m+|uhm?|ja|nein|und|oui|non|et|sí|y)[\s,.?:=]*\]"
)
STAMP = re.compile(r"(?<![\d:.,])(?:\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,3})?|00:\d{2})(?![\d:])")
"""A time of the recording within text; it was not said."""


def with_overlaps(conventions: Conventions, texts: Iterable[str]) -> Conventions:
    """Return ``conventions`` in which square brackets stand around overlapped words, if they do so in ``texts``."""
    count = sum("[" in text and _OVERLAPPED.search(text) is not None for text in texts)
    return replace(conventions, marks={("[", "]"): "overlap", **conventions.marks}) if count > 1 else conventions


@dataclass(frozen=True)
class Brackets:
    """Replaces brackets and tags by what they mean in CHAT: the user's first, the longest of them first."""

    conventions: Conventions
    hold: Callable[[str], str]
    unsure: Callable[[str], str]
    comments: list[str]
    tags: list[str]
    pieces: list[str] = field(default_factory=list)

    def read(self, text: str) -> str:
        """Return ``text`` with CHAT, or places held for it, instead of brackets and tags."""
        if not _ANY_MARK.search(text) and not self.conventions.marks:
            return text
        own = sorted(self.conventions.marks.items(), key=lambda pair: -len(pair[0][0]))
        marks = dict(own) | {pair: use for pair, use in _DEFAULT_MARKS.items() if pair not in self.conventions.marks}
        text = _OMITTED_SOUNDS.sub(
            lambda match: match[0] if chat_of(match[1] or match[2]) else self.hold(match[0]), text
        )
        text = _IN_WORD.sub(lambda match: match[0] if chat_of(match[0][1:-1]) else match[0][1:-1], text)
        text = _AREA_CODE.sub(lambda match: self._held(match.group()), text)
        text = _INTACT.sub(lambda match: self._keep(match.group()), text)
        if ("<", ">") not in self.conventions.marks:
            text = read_pairs(text, self.unsure, self.tags)
        for (opening, closing), meaning in marks.items():
            text = self._replace(text, _bracket_pattern(opening, closing), meaning)
        return re.sub(r"\x02(\d+)\x03", lambda match: self.pieces[int(match.group(1))], text)

    def _keep(self, chat: str) -> str:
        """Return a place for ``chat``, whose own brackets would be replaced; a length of a pause becomes a comment."""
        if chat[1:2].isdigit():
            self.comments.append(f"pause of {chat[1:-1].rstrip('.')} s")
        return f" {self._held(chat)} "

    def _held(self, chat: str) -> str:
        self.pieces.append(chat)
        return f"\x02{len(self.pieces) - 1}\x03"

    def _replace(self, text: str, pattern: re.Pattern[str], meaning: str) -> str:
        def meant_by(match: re.Match[str]) -> str:
            content = match.group(1).strip()
            words, start, end = {*content.casefold().split()}, match.start(), match.end()
            before = re.findall(r"[\w'-]+", match.string[max(start - 200, 0) : start].casefold())
            after = re.findall(r"[\w'-]+", match.string[end : end + 200].casefold())
            is_copy = words <= {*before[-len(words) :]} or words <= {*after[: len(words)]}
            if meaning == "event" and words and is_copy and not chat_of(content):  # I (I) want
                return f" {content} "
            if meaning != "maze":
                return self._meaning(content, meaning)
            return self.hold(mark_maze(content.split(), after))

        for _ in range(4):  # brackets within brackets
            text, count = pattern.subn(meant_by, text)
            if not count:
                break
        return text

    def _meaning(self, content: str, meaning: str) -> str:
        if meaning == "comment":
            self.comments.append(content)
            return " "
        if meaning == "filler":
            return f" {event_of(content).replace('&=', '&-')} "
        if meaning == "keep":
            return f" {content} "
        if meaning == "tag":
            return f" {content.lower()} " if _FILLER.fullmatch(content) else self._known(read_tag(content, self.tags))
        if meaning == "unsure" and not content:
            return " xxx "
        if meaning == "drop" or not content:
            return " "
        if meaning == "unintelligible":
            return " xxx "
        return self._keep("(.)") if meaning == "pause" else self._described(content, meaning)

    def _known(self, chat: str) -> str:
        return self._keep(chat) if chat[:1] in ("&", "(") else f" {chat} "

    def _described(self, content: str, meaning: str) -> str:
        if any(map(str.isalpha, content)):
            self.comments.extend(STAMP.findall(content))
            content = STAMP.sub("", content).strip()
        code = chat_of(content)
        if code:
            self.comments.extend([content] if code == "(.)" and any(map(str.isdigit, content)) else [])
            return self._known(code)
        words = content if meaning == "unsure" else uncertain_words(content)
        if words:
            return self.unsure(words)
        if meaning == "overlap" or _SPOKEN.search(content):  # (I think)
            return f" {content} "
        if re.fullmatch(r"[0-9]{3,4}|\x02\d+\x03", content):  # (2020), [[laughs]]
            return f" {content} "
        if is_clock(content) or not any(map(str.isalpha, content)) or content.casefold() == "sic":
            self.comments.append(content)
            return " "
        return f" {content.lower()} " if _FILLER.fullmatch(content) else self._known(event_of(content))


@lru_cache(maxsize=256)
def _bracket_pattern(opening: str, closing: str) -> re.Pattern[str]:
    inner = rf"[^{re.escape(opening[0])}{re.escape(closing[0])}]{{0,500}}"
    return re.compile(rf"{re.escape(opening)}({inner}){re.escape(closing)}")
