"""The text of other formats as CHAT: plain words, a laboratory's marks, or CHAT that stands in another format.

Brackets and tags of plain text are replaced by what they mean in CHAT.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.chat.scan import TERMINATORS
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.mazes import mark_maze
from lsa_whisper.formats.reading.names import with_names
from lsa_whisper.formats.reading.tags import (
    chat_of,
    event_of,
    is_clock,
    read_pairs,
    read_tag,
    uncertain_words,
    unescaped,
    without_masks,
)
from lsa_whisper.labels import Labels, decode_all

_DEFAULT_MARKS = {
    ("((", "))"): "unsure",
    ("[", "]"): "event",
    ("(", ")"): "event",
    ("{", "}"): "event",
    ("<", ">"): "tag",
}
_INTACT = re.compile(r"\((?:\.{1,3}|[0-9]+(?:\.[0-9]*)?)\)|\[(?:/{1,3}|/-|/\?)\]")
_FILLER = re.compile(r"u+h+m*|u+m+|e+r+m*|h+m+|m+h*m+", re.IGNORECASE)
_ANY_MARK = re.compile(r"[\[({<]")
_SPECIAL = re.compile(r"<\|[^|<>]*\|>")
"""The special tokens of Whisper's vocabulary."""
_STARRED = re.compile(r"\*([^\W\d_][^*\n]{0,40})\*(?!\w)")
_STAMP = re.compile(r"(?<![\d:.,])(?:\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,3})?|00:\d{2})(?![\d:])")
"""A time of the recording within text; it was not said."""
_NOTES = re.compile("[♩♪♫♬🎵🎶]+")
"""What stands around the words of a song, and alone for music without words."""


@dataclass(frozen=True)
class Brackets:
    """Replaces brackets and tags by what they mean in CHAT: the user's first, the longest of them first."""

    conventions: Conventions
    hold: Callable[[str], str]
    unsure: Callable[[str], str]
    comments: list[str]
    tags: list[str]
    kept: list[str] = field(default_factory=list)

    def read(self, text: str) -> str:
        """Return ``text`` with CHAT, or places held for it, instead of brackets and tags."""
        if not _ANY_MARK.search(text) and not self.conventions.marks:
            return text
        own = sorted(self.conventions.marks.items(), key=lambda pair: -len(pair[0][0]))
        marks = dict(own) | {pair: use for pair, use in _DEFAULT_MARKS.items() if pair not in self.conventions.marks}
        text = _INTACT.sub(lambda match: self._keep(match.group()), text)
        if ("<", ">") not in self.conventions.marks:
            text = read_pairs(text, self.unsure, self.tags)
        for (opening, closing), meaning in marks.items():
            text = self._replace(text, _bracket_pattern(opening, closing), meaning)
        return re.sub(r"\x02(\d+)\x03", lambda match: self.kept[int(match.group(1))], text)

    def _keep(self, chat: str) -> str:
        """Return a place for ``chat``, whose own brackets would be replaced; a length of a pause becomes a comment."""
        if chat[1:2].isdigit():
            self.comments.append(f"pause of {chat[1:-1].rstrip('.')} s")
        self.kept.append(chat)
        return f" \x02{len(self.kept) - 1}\x03 "

    def _replace(self, text: str, pattern: re.Pattern[str], meaning: str) -> str:
        def meant_by(match: re.Match[str]) -> str:
            content = match.group(1).strip()
            if meaning != "maze":
                return self._meaning(content, meaning)
            after = re.findall(r"[\w'-]+", match.string[match.end() : match.end() + 200])
            return self.hold(mark_maze(content.split(), after))

        for _ in range(4):  # brackets within brackets
            text, count = pattern.subn(meant_by, text)
            if not count:
                break
        return text

    def _meaning(self, content: str, meaning: str) -> str:
        """Return CHAT for the ``content`` of brackets with this ``meaning``."""
        if meaning == "comment":
            self.comments.append(content)
            return " "
        if meaning == "filler":
            return f" {event_of(content).replace('&=', '&-')} "
        if meaning == "keep":
            return f" {content} "
        if meaning == "tag":
            return self._known(read_tag(content, self.tags))
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
        known = chat_of(content)
        if known:
            self.comments.extend([content] if known == "(.)" and any(map(str.isdigit, content)) else [])
            return self._known(known)
        words = content if meaning == "unsure" else uncertain_words(content)
        if words:
            return self.unsure(words)
        if is_clock(content) or not any(map(str.isalpha, content)):
            self.comments.append(content)
            return " "
        return f" {content.lower()} " if _FILLER.fullmatch(content) else self._known(event_of(content))


@lru_cache(maxsize=256)
def _bracket_pattern(opening: str, closing: str) -> re.Pattern[str]:
    inner = rf"[^{re.escape(opening[0])}{re.escape(closing[0])}]{{0,500}}"
    return re.compile(rf"{re.escape(opening)}({inner}){re.escape(closing)}")


_ENDS = "|".join(re.escape(each) for each in TERMINATORS)
_CHAT_END = re.compile(rf"(?:^|\s)(?:{_ENDS})(?:\s*\[[+^][^\]]*\])*\s*$")
_PAUSES = re.compile(r"(?:\(\.+\) )+\S+")
"""A tier that is silence only."""
_RETRACE_CODE = re.compile(r"\[(?:/{1,3}|/[-?])\]|[<>]")
_KEPT = ("&=", "(.", *(f"({digit}" for digit in range(10)))

_PLACE = "qzq"
_HELD = re.compile(rf"{_PLACE}(a+){_PLACE}")
"""A word in the place of a maze or of uncertain words, whose marks stay as they are."""


def looks_like_chat(texts: Iterable[str]) -> bool:
    """Return whether at least half of ``texts`` end as a main tier does, in a space and a terminator.

    >>> looks_like_chat(["the [/] the dog .", "no !"]), looks_like_chat(["The dog.", "No!"])
    (True, False)
    """
    found = [bool(_CHAT_END.search(text)) for text in texts if text.strip()]
    return bool(found) and 2 * sum(found) >= len(found)


def with_terminator(text: str) -> str:
    """Return a main tier's ``text`` with a terminator; a tier that has one is unchanged.

    >>> with_terminator("it ran"), with_terminator("it ran?")
    ('it ran .', 'it ran?')
    """
    ended = _CHAT_END.search(text) or utterance("", text).terminator  # which may follow a word directly
    return text if ended else f"{text} .".lstrip()


def without_end(text: str) -> str:
    """Return a main tier's ``text`` without its terminator.

    >>> without_end("it ran +...")
    'it ran'
    """
    return _CHAT_END.sub("", text)


@dataclass(frozen=True)
class PlainText:
    """What plain text became.

    Attributes:
        tiers: The main tiers, one for each sentence.
        remarks: What belongs to each tier, such as its numbers in digits.
        comments: What CHAT has no mark for.
        tags: Tags among ``comments`` that are not known.
    """

    tiers: tuple[str, ...] = ()
    remarks: tuple[tuple[str, ...], ...] = ()
    comments: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def plain_to_chat(
    text: str,
    conventions: Conventions,
    *,
    language: str,
    infer_marks: bool = True,
    names: frozenset[str] = frozenset(),
) -> PlainText:
    """Return plain ``text`` as main tiers, and the comments found in it.

    Args:
        text: One stretch of text.
        conventions: What the laboratory's marks mean.
        language: ISO 639-3 code, for numbers in digits.
        infer_marks: Whether fillers, cut-off words and repeated words are marked; else they stay plain words.
        names: Proper names, which stay capital at the beginning of a sentence.

    >>> plain_to_chat("Um, I I want [laughs] it. OK?", Conventions(), language="eng", infer_marks=True).tiers
    ('&-um I [/] I want &=laughs it .', 'OK ?')
    """
    return all_plain_to_chat([text], conventions, language=language, infer_marks=infer_marks, names=names)[0]


def all_plain_to_chat(
    texts: Sequence[str],
    conventions: Conventions,
    *,
    language: str,
    infer_marks: bool = True,
    names: frozenset[str] = frozenset(),
) -> list[PlainText]:
    """Return what :func:`plain_to_chat` makes of each of ``texts``, in less time for each if there are many."""
    drafts = [_Draft(text, conventions, language) for text in texts]
    style = "verbatim" if infer_marks else "fluent"  # fluent labels: no search for repetitions
    found = decode_all([draft.text for draft in drafts], Labels(style), language=language)
    return [draft.written(each.utterances, infer_marks, names) for draft, each in zip(drafts, found, strict=True)]


class _Draft:
    """A plain text whose brackets and tags are read; places are held for mazes and uncertain words."""

    def __init__(self, text: str, conventions: Conventions, language: str):
        self._conventions, self._language = conventions, language
        self._comments: list[str] = []
        self._tags: list[str] = []
        self._held: list[str] = []
        own = any("*" in mark for pair in conventions.marks for mark in pair)
        replaced = without_masks(unescaped(_SPECIAL.sub(" ", text)), self._comments)
        replaced = _without_notes(replaced if own else _without_stars(replaced))
        for old, new in conventions.replace.items():
            replaced = replaced.replace(old, f" {new} ")
        read = Brackets(conventions, self._hold, self._unsure, self._comments, self._tags).read(replaced)
        self._comments += _STAMP.findall(read)
        self.text = _STAMP.sub(" ", read)

    def _hold(self, chat: str) -> str:
        self._held.append(chat)
        return f" {_PLACE}{'a' * len(self._held)}{_PLACE} "

    def _unsure(self, words: str) -> str:
        inner = plain_to_chat(words, self._conventions, language=self._language, infer_marks=False).tiers
        plain = " ".join(without_end(tier) for tier in inner)
        return self._hold(f"<{plain}> [?]" if " " in plain else f"{plain} [?]") if plain else " "

    def written(self, found: Iterable[Utterance], infer_marks: bool, names: frozenset[str]) -> PlainText:
        """Return the text as CHAT, of which ``found`` are the sentences."""
        places = dict(enumerate(self._held, start=1))  # other words of this form are speech
        tiers, remarks = [], []
        for each in found:
            tier = each.text if infer_marks else _unmarked(each)
            if tier and not _PAUSES.fullmatch(tier):
                placed = _HELD.sub(lambda match: places.get(len(match.group(1)), match.group()), tier)
                tiers.append(with_names(placed, names, self._language))
                remarks.append(tuple(line.value for line in each.tiers))
        return PlainText(tuple(tiers), tuple(remarks), (*self._comments, *self._tags), tuple(self._tags))


def _without_stars(text: str) -> str:
    """Return ``text`` with sounds between stars in brackets, and stressed words without stars.

    >>> _without_stars("*coughs* I *do*")
    '[coughs] I do'
    """
    return _STARRED.sub(lambda match: f"[{match[1]}]" if chat_of(match[1]) else match[1], text)


def _without_notes(text: str) -> str:
    """Return ``text`` without notes, which are music where no words stand between them.

    >>> _without_notes("♪ la la ♪"), _without_notes("[♪♪]")
    ('  la la  ', '&=music')
    """
    if not _NOTES.search(text):
        return text
    return _NOTES.sub(" ", text) if any(sign.isalnum() for sign in text) else "&=music"


def _unmarked(each: Utterance) -> str:
    """Return the words of an utterance without marks; events and pauses stay where they are."""
    if "&=" not in each.text and "(" not in each.text:
        words = each.verbatim()
    else:
        pieces = _RETRACE_CODE.sub(" ", each.text.removesuffix(each.terminator)).split()
        words = [
            word for piece in pieces for word in ([piece] if piece[:2] in _KEPT else utterance("", piece).verbatim())
        ]
    return f"{' '.join(words)} {each.terminator or '.'}" if words else ""
