"""Which tokens may come next, so that what remains without the insertions is the clean text.

A token sequence can often be read in several ways: *the* may be the word itself or a copy of it. All readings are
followed at once, as the states of an automaton; of two that end alike, that with fewer insertions counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from lsa_whisper.verbatimize.clean_text import Insertion
from lsa_whisper.verbatimize.slots import Arc, Slot
from lsa_whisper.verbatimize.vocabulary import Vocabulary

MAX_INSERTIONS = 6
"""At one place."""
_FREE_COUNTS = 3
"""Words that are neither fillers nor copies count this many times: a model that does not understand invents some."""
_MAX_FREE_TOKENS = 16
_RESERVE = _MAX_FREE_TOKENS + 16
"""Tokens that an insertion may take; none begins where the clean text would no longer fit behind it."""


class Free(IntEnum):
    """Where a reading is in words that are not those of the clean text."""

    NO = 0
    OPENED = 1
    WORD = 2
    WORD_IN_GROUP = 3
    CUT_IN_GROUP = 4
    CLOSED = 5


class State(NamedTuple):
    """A reading of the tokens so far.

    Attributes:
        slot: The slot that comes next, or is being read.
        level: See :class:`~lsa_whisper.verbatimize.slots.Arc`.
        spent: Insertions in this slot.
        arc: The arc that is being read, -1 between arcs.
        at: How many of its tokens were read.
        free: Whether other words are being read.
        begin: The position of their first token.
    """

    slot: int
    level: int = 0
    spent: int = 0
    arc: int = -1
    at: int = 0
    free: Free = Free.NO
    begin: int = 0


Inserted = tuple[tuple[int, Insertion], ...]
"""Insertions, each with the number of its utterance."""
States = Mapping[State, Inserted]
_Keep = Callable[[State, Inserted], None]


@dataclass
class Allowed:
    """The tokens that may come next: ``ids``, the classes of tokens with letters, any timestamp, the end of text."""

    ids: set[int] = field(default_factory=set)
    starts: bool = False
    parts: bool = False
    stamp: bool = False
    end: bool = False


class Constraint:
    """The automaton of one window."""

    def __init__(self, slots: Sequence[Slot], vocabulary: Vocabulary, limit: int):
        """Constrain the text of a window to ``slots`` and at most ``limit`` tokens, the end of text included."""
        self._slots, self._vocabulary, self._limit = slots, vocabulary, limit
        self._left = [1]
        for slot in reversed(slots):
            self._left.insert(0, self._left[0] + slot.shortest)
        self._starts, self._parts = frozenset(vocabulary.word_starts), frozenset(vocabulary.word_parts)
        self._short_starts = frozenset(vocabulary.short_starts)

    @property
    def fits(self) -> bool:
        """Whether the clean text fits the decoder."""
        return self._left[0] <= self._limit

    def progress(self, states: States) -> int:
        """Return how many tokens of the clean text were read, in the reading that has read most of them."""
        return max(self._read(state) for state in states)

    def _read(self, state: State) -> int:
        arc = self._slots[state.slot].arcs[state.arc] if state.arc >= 0 else None
        inside = min(state.at, self._slots[state.slot].shortest - 1) if arc and arc.advances else 0
        return self._left[0] - self._left[state.slot] + inside

    def is_complete(self, state: State) -> bool:
        """Return whether a reading has all of the clean text."""
        return state.slot == len(self._slots)

    def allowed(self, states: States, tokens: Sequence[int]) -> Allowed:
        """Return the tokens that may follow ``tokens``."""
        options, length = Allowed(), len(tokens)
        for state in states:
            if self.is_complete(state):
                options.end = True
            elif self._slots[state.slot].stamp:
                options.stamp = True
            elif state.arc >= 0:
                options.ids.add(self._slots[state.slot].arcs[state.arc].tokens[state.at])
            elif state.free:
                self._allow_free(state, tokens, options)
            else:
                self._allow_next(state, length, options)
        return options

    def _allow_next(self, state: State, length: int, options: Allowed) -> None:
        slot, room = self._slots[state.slot], self._has_room(state, length)
        options.ids.update(arc.tokens[0] for arc in slot.arcs if _may_begin(arc, state, room))
        if self._may_be_free(state, length):
            options.starts |= slot.free
            options.ids.update(self._vocabulary.short_starts if slot.cuts and not slot.free else ())
            options.ids.update(self._opening(slot))

    def _has_room(self, state: State, length: int) -> bool:
        return state.spent < MAX_INSERTIONS and length + _RESERVE + self._left[state.slot] <= self._limit

    def _may_be_free(self, state: State, length: int) -> bool:
        return not state.level and self._has_room(state._replace(spent=state.spent + _FREE_COUNTS - 1), length)

    def _opening(self, slot: Slot) -> set[int]:
        vocab = self._vocabulary
        return {vocab.opening} if slot.free and vocab.opening is not None and vocab.closing is not None else set()

    def _allow_free(self, state: State, tokens: Sequence[int], options: Allowed) -> None:
        vocab, slot, short = self._vocabulary, self._slots[state.slot], len(tokens) - state.begin < _MAX_FREE_TOKENS
        in_word = state.free in (Free.WORD, Free.WORD_IN_GROUP)
        in_group = state.free in (Free.WORD_IN_GROUP, Free.CUT_IN_GROUP)
        options.parts |= in_word and short and (slot.free or in_group)
        options.starts |= state.free is Free.OPENED or (in_group and short)
        if vocab.cut is not None and ((in_word and in_group) or self._may_cut(state, tokens)):
            options.ids.add(vocab.cut)
        if in_group and vocab.closing is not None:
            options.ids.add(vocab.closing)
        if state.free is Free.CLOSED or (state.free is Free.WORD and slot.free):
            options.ids.update(vocab.retraces)

    def advance(self, states: States, tokens: Sequence[int]) -> dict[State, Inserted]:
        """Return the states after the last of ``tokens``."""
        shortest: dict[State, Inserted] = {}

        def keep(state: State, inserted: Inserted) -> None:
            if state not in shortest or len(inserted) < len(shortest[state]):
                shortest[state] = inserted

        for state, inserted in states.items():
            if self.is_complete(state):
                continue
            if self._slots[state.slot].stamp:
                keep(State(state.slot + 1), inserted)
            elif state.arc >= 0:
                self._read_arc(state, inserted, tokens[-1], keep)
            elif state.free:
                self._read_free(state, inserted, tokens, keep)
            else:
                self._read_next(state, inserted, tokens, keep)
        return shortest

    def _read_next(self, state: State, inserted: Inserted, tokens: Sequence[int], keep: _Keep) -> None:
        slot, room = self._slots[state.slot], self._has_room(state, len(tokens) - 1)
        for number, arc in enumerate(slot.arcs):
            if arc.tokens[0] == tokens[-1] and _may_begin(arc, state, room):
                self._read_arc(state._replace(arc=number), inserted, tokens[-1], keep)
        if self._may_be_free(state, len(tokens) - 1):
            start = state._replace(begin=len(tokens) - 1)
            if tokens[-1] in (self._starts if slot.free else self._short_starts if slot.cuts else ()):
                keep(start._replace(free=Free.WORD), inserted)
            if tokens[-1] in self._opening(slot):
                keep(start._replace(free=Free.OPENED), inserted)

    def _read_arc(self, state: State, inserted: Inserted, token: int, keep: _Keep) -> None:
        slot = self._slots[state.slot]
        arc = slot.arcs[state.arc]
        if arc.tokens[state.at] != token:
            return
        if state.at + 1 < len(arc.tokens):
            keep(state._replace(at=state.at + 1), inserted)
            return
        inserted = (*inserted, *((slot.utterance, insertion) for insertion in arc.insertions))
        keep(State(state.slot + 1) if arc.advances else State(state.slot, arc.ends, state.spent + arc.cost), inserted)

    def _read_free(self, state: State, inserted: Inserted, tokens: Sequence[int], keep: _Keep) -> None:
        token, vocab = tokens[-1], self._vocabulary
        in_word = state.free in (Free.WORD, Free.WORD_IN_GROUP)
        in_group = state.free in (Free.WORD_IN_GROUP, Free.CUT_IN_GROUP)
        if in_word and token in self._parts and (in_group or self._slots[state.slot].free):
            keep(state, inserted)
        elif token in self._starts and (state.free is Free.OPENED or in_group):
            keep(state._replace(free=Free.WORD_IN_GROUP), inserted)
        elif in_word and in_group and token == vocab.cut:
            keep(state._replace(free=Free.CUT_IN_GROUP), inserted)
        elif in_group and token == vocab.closing:
            keep(state._replace(free=Free.CLOSED), inserted)
        elif self._ends_free(state, tokens):
            self._end_free(state, inserted, tokens, keep)

    def _may_cut(self, state: State, tokens: Sequence[int]) -> bool:
        """Return whether the single free word that ends ``tokens`` may be cut off: it is one short token."""
        alone = state.free is Free.WORD and self._slots[state.slot].cuts
        return alone and len(tokens) == state.begin + 1 and tokens[-1] in self._short_starts

    def _ends_free(self, state: State, tokens: Sequence[int]) -> bool:
        """Return whether the last of ``tokens`` is the sign behind free words, or cuts a single one off."""
        slot, alone = self._slots[state.slot], state.free is Free.WORD
        if tokens[-1] in self._vocabulary.retraces:
            return state.free is Free.CLOSED or (alone and slot.free)
        return tokens[-1] == self._vocabulary.cut and self._may_cut(state, tokens[:-1])

    def _end_free(self, state: State, inserted: Inserted, tokens: Sequence[int], keep: _Keep) -> None:
        slot = self._slots[state.slot]
        insertion = Insertion(slot.offset, f"{self._vocabulary.chat(tuple(tokens[state.begin :]))} ")
        keep(State(state.slot, 0, state.spent + _FREE_COUNTS), (*inserted, (slot.utterance, insertion)))


def _may_begin(arc: Arc, state: State, room: bool) -> bool:
    """Return whether an arc may begin: signs of a word stand in their order, insertions need room."""
    if arc.advances and not arc.insertions:
        return state.level <= arc.begins
    return state.level <= arc.begins and room and state.spent + arc.cost <= MAX_INSERTIONS
