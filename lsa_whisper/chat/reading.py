"""The words of a main tier, verbatim and fluent, and its disfluencies."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter

from lsa_whisper.chat.disfluencies import RETRACE_CODES, Disfluency
from lsa_whisper.chat.tree import Group, Item, Marker, Word
from lsa_whisper.chat.word import WordKind, WordReading, read_word

MAX_COPIES = 20
"""Upper limit of the obsolete ``[x 3]``; larger numbers are typing errors."""

_ASIDE = 1 << 30
"""The level of words that are never a repair: fillers, fragments, nonwords."""
_REPLACEMENT = re.compile(r"\[::?\s+([^\]]*)\]")
_COPIES = re.compile(r"\[x\s*(\d{1,3})\s*\]", re.IGNORECASE)
_PLACE = attrgetter("start", "end")
_PLAIN = WordKind.WORD  # a global: an attribute of an enumeration costs a function call before Python 3.12


@dataclass(frozen=True, slots=True)
class Event:
    """One disfluency. ``start:end`` and ``repair_start:repair_end`` are half-open indices into the verbatim words.

    For a retrace, ``start:end`` is the retraced material and ``repair_*`` its repair (for a repetition, the last copy).
    CHAT does not mark where a repair ends, so the repair has as many words as the retraced material. For a pause,
    ``start == end``. ``iterations`` counts the repeated units of a part-word repetition.
    """

    kind: Disfluency
    start: int
    end: int
    repair_start: int | None = None
    repair_end: int | None = None
    iterations: int = 1

    def moved(self, by: int) -> Event:
        """Return the event ``by`` words later."""
        start, end = (None if at is None else at + by for at in (self.repair_start, self.repair_end))
        return replace(self, start=self.start + by, end=self.end + by, repair_start=start, repair_end=end)


def innermost_kinds(events: Iterable[Event], words: int) -> list[Disfluency | None]:
    """Return the class of the shortest disfluency around each of so many words.

    >>> from lsa_whisper.chat import utterance
    >>> found = innermost_kinds(utterance("PAR", "<the &-um dog> [//] the cat .").events(), 5)
    >>> [kind.value if kind else None for kind in found]
    ['revision', 'filled_pause', 'revision', None, None]
    """
    kinds: list[Disfluency | None] = [None] * words
    for event in sorted(events, key=lambda event: event.start - event.end):  # the longest first, the shortest last
        kinds[event.start : event.end] = [event.kind] * (event.end - event.start)
    return kinds


class Reading:
    """The words and events of one main tier, from one traversal of its tree.

    A word's *level* is the number of retraces around it; words outside retraces have level 0. A retrace at level n is
    repaired by the next words of level n or less.

    ``written`` has the fluent words as CHAT counts them: a compound such as ``all_of_a_sudden`` is one, and ``choo@o``
    is not ``choo``. ``joined`` is the number of words in ``verbatim`` that such compounds add.
    """

    __slots__ = ("_copying", "_levels", "_retraces", "events", "fluent", "joined", "kinds", "verbatim", "written")

    def __init__(self, items: list[Item]):
        self.verbatim: list[str] = []
        self.fluent: list[str] = []
        self.written: list[str] = []
        self.joined = 0
        self.events: list[Event] = []
        self.kinds: set[WordKind] = set()
        self._levels: list[int] = []
        self._retraces: list[tuple[Disfluency, int, int, int]] = []
        self._copying = False
        self._walk(items, 0, False)
        if self._retraces:
            self._repair()
        if len(self.events) > 1:
            self.events.sort(key=_PLACE)

    def _walk(self, items: list[Item], level: int, mute: bool) -> None:
        for item in items:
            if isinstance(item, Word):
                if item.codes:
                    self._coded(item, level, mute)
                else:
                    self._word(read_word(item.text), level, mute)
            elif isinstance(item, Marker):
                if item.kind == "pause":
                    self.events.append(Event(Disfluency.PAUSE, len(self.verbatim), len(self.verbatim)))
            elif item.codes:
                self._coded(item, level, mute)
            else:
                self._walk(item.items, level, mute)

    def _word(self, reading: WordReading, level: int, mute: bool) -> None:
        kind, surface, verbatim, fluent, disfluencies, marker = reading
        at = len(self.verbatim)
        self.verbatim += verbatim
        if kind is _PLAIN:
            self._levels += (level,) if len(verbatim) == 1 else (level,) * len(verbatim)
        else:
            self.kinds.add(kind)
            aside = kind is WordKind.FILLER or kind is WordKind.FRAGMENT or kind is WordKind.NONWORD
            self._levels += [_ASIDE if aside else level] * len(verbatim)
            self.joined += len(verbatim) - 1 if aside and verbatim else 0
        if len(surface) > 1:
            self.joined += len(surface) - 1
        if fluent and not level and not mute:
            self.fluent += fluent
            self.written.append("_".join(fluent) + marker)
        for disfluency, start, end, iterations, repair in disfluencies:
            if repair:
                self.events.append(Event(disfluency, at + start, at + end, at + repair[0], at + repair[1], iterations))
                self._levels[at + start : at + end] = [_ASIDE] * (end - start)
            else:
                self.events.append(Event(disfluency, at + start, at + end, None, None, iterations))

    def _coded(self, item: Word | Group, level: int, mute: bool) -> None:
        """Read an item with codes: retraces, copies and replacements; other codes do not change words."""
        retrace = next((RETRACE_CODES[code] for code in item.codes if code in RETRACE_CODES), None)
        inside = level + (retrace is not None)
        start = len(self.verbatim)
        times = 1 if self._copying else copy_count(item.codes)
        if times > 1:
            self._copying = True  # copies of copies would multiply
            for _ in range(times - 1):
                begin = len(self.verbatim)
                self._once(item, inside + 1, True)
                if len(self.verbatim) > begin:
                    self._retraces.append((Disfluency.REPETITION, begin, len(self.verbatim), inside))
        self._once(item, inside, mute)
        if times > 1:
            self._copying = False
        if retrace is not None and len(self.verbatim) > start:
            self._retraces.append((retrace, start, len(self.verbatim), level))

    def _once(self, item: Word | Group, level: int, mute: bool) -> None:
        replacements = replacement(item.codes)
        if isinstance(item, Word):
            self._word(read_word(item.text), level, mute or replacements is not None)
        else:
            self._walk(item.items, level, mute or replacements is not None)
        if replacements is not None and not mute and not level:
            for words in replacements:
                self.fluent += words
                self.written.append("_".join(words))

    def _repair(self) -> None:
        """Find the repair of each retrace: the next words whose level is not higher."""
        levels = self._levels
        around = {level for *_, level in self._retraces}
        by_level = {level: [at for at, own in enumerate(levels) if own <= level] for level in around}
        for kind, start, end, level in self._retraces:
            count = max(levels[start:end].count(level + 1), 1)
            first = bisect_left(by_level[level], end)
            repair = by_level[level][first : first + count]
            span = (repair[0], repair[-1] + 1) if repair else (None, None)
            self.events.append(Event(kind, start, end, *span))


def replacement(codes: tuple[str, ...]) -> list[tuple[str, ...]] | None:
    """Return the parts of each written word of ``[: ...]`` or ``[:: ...]`` among ``codes``; ``None`` without one."""
    for code in codes:
        if match := _REPLACEMENT.fullmatch(code):
            return [words for part in match.group(1).split() if (words := read_word(part).fluent)]
    return None


def copy_count(codes: tuple[str, ...]) -> int:
    """Return how many copies an item with these codes stands for: 3 for the obsolete ``[x 3]``, otherwise 1."""
    for code in codes:
        if match := _COPIES.fullmatch(code):
            times = int(match.group(1))
            return times if 1 <= times <= MAX_COPIES else 1
    return 1
