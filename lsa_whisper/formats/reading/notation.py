"""The text of other formats as CHAT: plain words, a laboratory's marks, or CHAT that stands in another format.

Brackets and tags of plain text are replaced by what they mean in CHAT.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.chat.scan import TERMINATORS
from lsa_whisper.formats.reading.brackets import STAMP, Brackets
from lsa_whisper.formats.reading.conventions import Conventions
from lsa_whisper.formats.reading.names import with_names
from lsa_whisper.formats.reading.tags import chat_of, unescaped, without_masks
from lsa_whisper.labels import Labels, decode_all
from lsa_whisper.labels.characters import ordinary_characters

_SPECIAL = re.compile(r"<\|[^|<>]*\|>")
"""The special tokens of Whisper's vocabulary."""
_MAY_HAVE_SIGNS = re.compile(r"[^a-zA-Z ,.?!'-]|\?\?|\bhh|([a-z])\1\1")
LONG_SOUND = re.compile(r"(?i)(?<![\w:])([b-df-hj-np-tv-z])\1\1++(?=[a-z]*[aeiouy])")
"""The first sound of a word, prolonged: ``ssso``."""
_BREATH = re.compile(r"(?<!\S)[.·]?hh++\b")
_STARRED = re.compile(r"\*([^\W\d_][^*\n]{0,40})\*(?!\w)")
_BOLD = re.compile(r"(?<![\w*])\*\*([^\W\d_][^*\n]{0,40})\*\*(?![\w*])")
_NOTES = re.compile("[♩♪♫♬🎵🎶]+")
"""What stands around the words of a song, and alone for music without words."""


_ENDS = "|".join(re.escape(terminator) for terminator in TERMINATORS)
_CHAT_END = re.compile(rf"(?:^|\s)(?:{_ENDS})(?:\s*\[[+^][^\]]*\])*\s*$")
_INNER_END = re.compile(r"\s[.?!]\s+[^\W\d_]")
"""A tier has one terminator."""
_PAUSES = re.compile(r"(?:\(\.+\) )+\S+")
"""A tier that is silence only."""
_RETRACE_CODE = re.compile(r"\[(?:/{1,3}|/[-?])\]|[<>]")
_KEPT = ("&=", "(.", *(f"({digit}" for digit in range(10)))

_PLACE = "qzq"
_HELD = re.compile(rf"{_PLACE}(a+){_PLACE}")
"""A word in the place of a maze or of uncertain words, whose marks stay as they are."""


def looks_like_chat(texts: Iterable[str], language: str = "eng") -> bool:
    """Return whether at least half of ``texts`` end as a main tier does, in a space and a terminator.

    French has a space before ``!`` and ``?``, so these alone do not tell in that ``language`` (ISO 639-3).

    >>> looks_like_chat(["the [/] the dog .", "no !"]), looks_like_chat(["The dog.", "No!"])
    (True, False)
    >>> looks_like_chat(["Hello . World ."]), looks_like_chat(["?"]), looks_like_chat(["Bonjour !"], "fra")
    (False, False, False)
    >>> looks_like_chat(["(.) ."])
    True
    """
    texts = [text for text in texts if text.strip()]
    found = [(text, end) for text in texts if (end := _CHAT_END.search(text)) and not _INNER_END.search(text)]
    ends = [end[0].strip() for text, end in found if text[: end.start()].strip()]
    return bool(ends) and 2 * len(ends) >= len(texts) and (language != "fra" or not {"!", "?"}.issuperset(ends))


def with_terminator(text: str) -> str:
    """Return a main tier's ``text`` with a terminator; a tier that has one is unchanged.

    >>> with_terminator("it ran"), with_terminator("it ran?")
    ('it ran .', 'it ran?')
    """
    end = _CHAT_END.search(text) or utterance("", text).terminator  # which may follow a word directly
    return text if end else f"{text} .".lstrip()


def without_end(text: str) -> str:
    """Return a main tier's ``text`` without its terminator.

    >>> without_end("it ran +...")
    'it ran'
    """
    return _CHAT_END.sub("", text)


class PlainText(NamedTuple):
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


def all_plain_to_chat(
    texts: Sequence[str],
    conventions: Conventions,
    *,
    language: str,
    infer_marks: bool = True,
    names: frozenset[str] = frozenset(),
) -> list[PlainText]:
    """Return each of plain ``texts`` as main tiers, and the comments found in it; many together take less time.

    ``language`` (ISO 639-3) is that of numbers in digits. With ``infer_marks``, fillers, cut-off words and repeated
    words are marked. Proper ``names`` stay capital at the beginning of a sentence.

    >>> all_plain_to_chat(["Um, I I want [laughs] it. OK?"], Conventions(), language="eng")[0].tiers
    ('&-um I [/] I want &=laughs it .', 'OK ?')
    """
    drafts = [_Draft(text, conventions, language) for text in texts]
    style = "verbatim" if infer_marks else "fluent"  # fluent labels: no search for repetitions
    results = decode_all([draft.text for draft in drafts], Labels(style), language=language)
    return [draft.written(result.utterances, infer_marks, names) for draft, result in zip(drafts, results, strict=True)]


class _Draft:
    """A plain text whose brackets and tags are read; places are held for mazes and uncertain words."""

    def __init__(self, text: str, conventions: Conventions, language: str):
        self._conventions, self._language = conventions, language
        self._comments: list[str] = []
        self._tags: list[str] = []
        self._held: list[str] = []
        self.text = text
        if conventions.replace or conventions.marks or _MAY_HAVE_SIGNS.search(text):
            self._read(text)

    def _read(self, text: str) -> None:
        conventions = self._conventions
        own = any("*" in mark for pair in conventions.marks for mark in pair)
        text = LONG_SOUND.sub(r"\1::", _BREATH.sub(" &=breathes ", text))
        tidy = unescaped(_SPECIAL.sub(" ", ordinary_characters(text)))
        tidy = without_masks(tidy if own else _BOLD.sub(r"*\1*", tidy), self._comments)
        tidy = _without_notes(tidy if own else _without_stars(tidy))
        for old, new in conventions.replace.items():
            tidy = tidy.replace(old, f" {new} ")
        content = Brackets(conventions, self._hold, self._unsure, self._comments, self._tags).read(tidy)
        self._comments += STAMP.findall(content)
        self.text = STAMP.sub(" ", content)

    def _hold(self, chat: str) -> str:
        self._held.append(chat)
        return f" {_PLACE}{'a' * len(self._held)}{_PLACE} "

    def _unsure(self, words: str) -> str:
        inner = all_plain_to_chat([words], self._conventions, language=self._language, infer_marks=False)[0]
        plain = " ".join(without_end(tier) for tier in inner.tiers)
        return self._hold(f"<{plain}> [?]" if " " in plain else f"{plain} [?]") if plain else " "

    def written(self, sentences: Iterable[Utterance], infer_marks: bool, names: frozenset[str]) -> PlainText:
        """Return the text, which has these ``sentences``, as CHAT."""
        places = dict(enumerate(self._held, start=1))  # other words of this form are speech
        tiers, remarks = [], []
        for sentence in sentences:
            tier = sentence.text if infer_marks else _unmarked(sentence)
            if tier and not (tier[0] == "(" and _PAUSES.fullmatch(tier)):
                if places:
                    tier = _HELD.sub(lambda match: places.get(len(match.group(1)), match.group()), tier)
                tiers.append(with_names(tier, names, self._language))
                remarks.append(tuple(line.value for line in sentence.tiers))
        return PlainText(tuple(tiers), tuple(remarks), (*self._comments, *self._tags), tuple(self._tags))


def _without_stars(text: str) -> str:
    """Return ``text`` with sounds between stars in brackets, and stressed words without stars.

    >>> _without_stars("*coughs* I *do* it")
    '[coughs] I do it'
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


def _unmarked(sentence: Utterance) -> str:
    """Return the words of an utterance without marks; events and pauses stay where they are."""
    if "&=" not in sentence.text and "(" not in sentence.text:
        words = sentence.verbatim()
    else:
        pieces = _RETRACE_CODE.sub(" ", sentence.text.removesuffix(sentence.terminator)).split()
        words = [
            word for piece in pieces for word in ([piece] if piece[:2] in _KEPT else utterance("", piece).verbatim())
        ]
    return f"{' '.join(words)} {sentence.terminator or '.'}" if words else ""
