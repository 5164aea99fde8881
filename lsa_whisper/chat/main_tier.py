"""Utterances: main tiers as read, with their words, disfluencies and times."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lsa_whisper.chat.cached_attribute import cached_attribute
from lsa_whisper.chat.disfluencies import Disfluency, Family, classes_of
from lsa_whisper.chat.lines import Line
from lsa_whisper.chat.plain_words import plain_words
from lsa_whisper.chat.reading import Event, Reading
from lsa_whisper.chat.scan import BARE_BULLET
from lsa_whisper.chat.tree import Marker, Tree, build_tree
from lsa_whisper.chat.word import WordKind
from lsa_whisper.timespan import TimeSpan

_LANGUAGE = re.compile(r"\s*\[-\s+([a-z]{3})\s*\]")
_NEWLINE = re.compile(r"\r\n?|\n")
BULLET = re.compile(rf"\x15[^\x15]*\x15|(?<![\w&-]){BARE_BULLET}")
"""Also times that lost their control characters, which are not words; a span needs at least one of these."""
# At most 14 digits: Python converts no more than 4,300, and no recording is that long.
_TIMES = re.compile(r"(?<!\d)(\d{1,14})_(\d{1,14})(?!\d)")
_TIMED_WORD = re.compile(r"([^\s\x15]+)\s*\x15(\d{1,14})_(\d{1,14})(?!\d)[^\x15]*\x15")
_PREFIX = re.compile(r"\ufeff?[*%@][^:\s]*[ \t]*:?[ \t]*")
REVIEWED_TIER = "%xrev"
"""The tier that marks an utterance as reviewed; CLAN accepts any tier whose name begins with ``%x``."""
ABANDONED = frozenset(("+...", "+..?", "+/.", "+/?", "+//.", "+//?"))
_NOT_FLUENT = classes_of(Family.ASIDE) | classes_of(Family.RETRACE)


@dataclass(frozen=True)
class Utterance:
    """A main tier and its dependent tiers; ``main`` and ``tiers`` are the text exactly as read."""

    speaker: str
    main: str
    tiers: tuple[Line, ...] = ()
    line: int | None = None

    @cached_attribute
    def body(self) -> str:
        """The main tier without its speaker code, otherwise as read."""
        return self.main[self._body_offset :]

    @cached_attribute
    def _body_offset(self) -> int:
        match = _PREFIX.match(self.main)
        return match.end() if match else 0

    @cached_attribute
    def text(self) -> str:
        """The main tier without speaker and bullets, on one line."""
        return " ".join((BULLET.sub(" ", self.body) if "_" in self.body or "\x15" in self.body else self.body).split())

    @property
    def language(self) -> str:
        """The language that ``[- spa]`` at the beginning names (ISO 639-3); empty if it is the transcript's first."""
        match = _LANGUAGE.match(self.body)
        return match[1] if match else ""

    @cached_attribute
    def span(self) -> TimeSpan | None:
        """The span from the earliest to the latest time in the bullets; ``None`` without bullets."""
        if "\x15" not in self.body:
            return None
        times = _TIMES.findall("".join(BULLET.findall(self.body)))
        if not times:
            return None
        starts, ends = zip(*times, strict=True)
        return TimeSpan(min(map(int, starts)), max(map(int, ends)))

    @cached_attribute
    def tree(self) -> Tree:
        """Words, groups and markers; their offsets refer to :attr:`body`."""
        return build_tree(self.body)

    @cached_attribute
    def reading(self) -> Reading:
        """Words and events; :meth:`verbatim`, :meth:`fluent` and :meth:`events` return copies."""
        return Reading(self.tree.items)

    @cached_attribute
    def terminator(self) -> str:
        """The last terminator of the tier, or an empty string."""
        if self.text.endswith((" .", " ?", " !")):
            return self.text[-1]
        for item in reversed(self.tree.items):
            if isinstance(item, Marker) and item.kind in ("terminator", "ca"):
                return item.text
        return ""

    @property
    def abandoned(self) -> bool:
        """Whether the utterance was trailed off or interrupted, by the speaker or by another."""
        return self.terminator in ABANDONED

    @cached_attribute
    def word_times(self) -> list[tuple[str, TimeSpan]]:
        """The words and times of ``%wor``; empty without such a tier."""
        for tier in self.tiers:
            if tier.name == "%wor":
                pairs = _TIMED_WORD.findall(tier.raw)
                return [(word, TimeSpan(int(start), int(end))) for word, start, end in pairs]
        return []

    def word_spans(self) -> list[TimeSpan | None]:
        """Return the time of each word of :meth:`verbatim`, or ``None`` if ``%wor`` has none.

        >>> utterance("PAR", "I see .", TimeSpan(0, 900), [("see", TimeSpan(300, 900))]).word_spans()
        [None, TimeSpan(start_ms=300, end_ms=900)]
        """
        times = iter(self.word_times)
        following = next(times, None)
        spans: list[TimeSpan | None] = []
        for word in self.reading.verbatim:
            same = following is not None and following[0] == word
            spans.append(following[1] if same and following else None)
            following = next(times, None) if same else following
        return spans

    @cached_attribute
    def reviewed(self) -> bool:
        """Whether a person has marked the utterance as reviewed, in a tier ``%xrev``."""
        return any(tier.name == REVIEWED_TIER for tier in self.tiers)

    def verbatim(self) -> list[str]:
        """Return all words as spoken, including fillers, fragments and repetitions.

        >>> utterance("PAR", "&-um the [/] the ↫b-b↫ball .").verbatim()
        ['um', 'the', 'the', 'b-', 'b-', 'ball']
        """
        return plain_words(self.text) or list(self.reading.verbatim)

    def fluent(self) -> list[str]:
        """Return the words without disfluencies, with replacements applied and omitted sounds restored.

        >>> utterance("PAR", "<the dog> [//] the cat goed [: went] (be)cause .").fluent()
        ['the', 'cat', 'went', 'because']
        """
        return list(self.reading.fluent)

    def written(self) -> list[str]:
        """Return the fluent words as CHAT counts them, each compound one word, with their form markers.

        >>> utterance("PAR", "&-um all_of_a_sudden <it ran> [//] she chooed@c .").written()
        ['all_of_a_sudden', 'she', 'chooed@c']
        """
        return list(self.reading.written)

    def events(self) -> list[Event]:
        """Return the disfluencies, ordered by start.

        >>> [(e.kind.value, e.start, e.end, e.repair_start) for e in utterance("PAR", "<I want> [/] I want .").events()]
        [('repetition', 0, 2, 2)]
        """
        return [] if plain_words(self.text) else list(self.reading.events)

    def disfluent(self) -> list[bool]:
        """Return for each word of :meth:`verbatim` whether it is a disfluency, which :meth:`fluent` leaves out.

        >>> utterance("PAR", "&-um I want [/] want ↫st-↫stop .").disfluent()
        [True, False, True, False, True, False]
        """
        words = self.verbatim()
        flags = [False] * len(words)
        for event in self.events():
            for at in range(event.start, event.end):
                is_copy = event.kind is Disfluency.PART_WORD_REPETITION and words[at].endswith("-")
                flags[at] |= is_copy or event.kind in _NOT_FLUENT
        return flags

    def unusable(self) -> str | None:
        """Return why the words do not match the audio (such as ``untranscribed``), or ``None`` if they do."""
        kinds = self.reading.kinds
        if WordKind.UNTRANSCRIBED in kinds:
            return "untranscribed"
        if WordKind.OTHER_SPEAKER in kinds:
            return "other speaker"
        return "phonetic" if WordKind.PHONETIC in kinds else None

    def at(self, span: TimeSpan) -> Utterance:
        """Return the utterance with ``span`` as its only bullet."""
        text = BULLET.sub("", self.main).rstrip()
        return replace(self, main=f"{text} {bullet(span)}\n")

    def with_body(self, body: str) -> Utterance:
        """Return the utterance with another :attr:`body`."""
        return replace(self, main=self.main[: self._body_offset] + body)

    def tiers_but(self, *names: str) -> tuple[Line, ...]:
        """Return the dependent tiers that are not called one of ``names``."""
        return tuple(tier for tier in self.tiers if tier.name not in names)

    def numbered(self, line: int) -> Utterance:
        """Return the utterance as one that begins at ``line`` of a file, with each of its tiers on a line below."""
        tiers = tuple(Line(tier.raw, at) for at, tier in enumerate(self.tiers, start=line + 1)) if self.tiers else ()
        result = object.__new__(Utterance)
        vars(result).update(vars(self), line=line, tiers=tiers)  # also what was read from it
        return result

    def place(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of the character at ``offset`` of :attr:`body`."""
        at = self._body_offset + offset
        row = bisect_right(self._line_starts, at) - 1
        return (self.line or 1) + row, at - self._line_starts[row] + 1

    @cached_attribute
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _NEWLINE.finditer(self.main))]


def utterance(
    speaker: str, text: str, span: TimeSpan | None = None, words: Sequence[tuple[str, TimeSpan | None]] | None = None
) -> Utterance:
    r"""Return a new utterance; ``text`` is a main tier without speaker and bullet, ``words`` become ``%wor``.

    Words without a time stand there without a bullet.

    >>> utterance("PAR", "&-um hello .", TimeSpan(0, 900)).main
    '*PAR:\t&-um hello . \x150_900\x15\n'
    """
    text = " ".join(text.split())
    result = Utterance(speaker, f"*{speaker}:\t{text}{f' {bullet(span)}' if span else ''}\n")
    if speaker.isalnum() and "\x15" not in text and (span is None or 0 <= span.start_ms <= span.end_ms):
        vars(result).update(text=text, span=span)  # what would be read from it
    return Utterance(speaker, result.main, (word_tier(words, result.terminator),)) if words else result


def word_tier(words: Iterable[tuple[str, TimeSpan | None]], terminator: str, end: str = "\n") -> Line:
    """Return the tier ``%wor``, which ends as its main tier does; words without a time stand there without a bullet."""
    timed = " ".join(f"{word} {bullet(at)}" if at else word for word, at in words)
    return Line(f"%wor:\t{timed} {terminator}".rstrip() + end, 0)


def bullet(span: TimeSpan) -> str:
    """Return a span as CHAT writes it, between two control characters."""
    return f"\x15{span.start_ms}_{span.end_ms}\x15"
