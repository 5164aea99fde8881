"""The constraint for one window: the clean text in order, and what may be inserted before each of its items."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from lsa_whisper.chat.filled_pauses import UNMARKED_FILLERS, fillers
from lsa_whisper.labels.notation import label_to_chat
from lsa_whisper.verbatimize.clean_text import CleanItem, CleanText, Insertion, write_label
from lsa_whisper.verbatimize.vocabulary import Vocabulary, is_consonants

_PAUSES = ("(.)", "(..)", "(...)")
FILLER_COST = 3
"""Of the room at one place, which is 6: at most two fillers stand there."""
_MAX_COPY_LENGTH = 4
_MAX_PART_WORDS = 3
_MAX_PART_LENGTH = 4


@dataclass(frozen=True)
class Arc:
    """Tokens that may come next.

    Attributes:
        tokens: All of them, in order.
        advances: Whether they are the clean text of the slot; otherwise they are inserted before it.
        insertions: What they mean in the main tier.
        cost: How much of the room at one place they take.
        begins: The highest level at which they may begin. Signs that belong to a word stand directly before it, in the
            order block, part-word repetition, prolongation; after one of them, the level is higher than 0.
        ends: The level behind them.
    """

    tokens: tuple[int, ...]
    advances: bool
    insertions: tuple[Insertion, ...] = ()
    begins: int = 0
    ends: int = 0
    cost: int = 1


@dataclass(frozen=True)
class Slot:
    """An item of the clean text and the place before it.

    Attributes:
        utterance: Number of the utterance in the window.
        arcs: What may come here.
        offset: Where insertions go.
        free: Whether other words may be inserted, which the speaker took back.
        cuts: Whether a cut-off word of a few consonants may be inserted.
        stamp: Whether a timestamp comes here, of any time; then there are no arcs.
    """

    utterance: int
    arcs: tuple[Arc, ...] = ()
    offset: int = 0
    free: bool = False
    cuts: bool = False
    stamp: bool = False

    def only(self, inserted: Collection[tuple[int, Insertion]]) -> Slot:
        """Return the slot before which nothing else may be inserted than ``inserted``, each with its utterance."""
        arcs = tuple(
            arc
            for arc in self.arcs
            if arc.advances or all((self.utterance, insertion) in inserted for insertion in arc.insertions)
        )
        listed = {insertion for arc in self.arcs for insertion in arc.insertions}
        extras = [
            own for at, own in inserted if at == self.utterance and own.offset == self.offset and own not in listed
        ]
        return replace(self, arcs=arcs, free=self.free and bool(extras), cuts=self.cuts and bool(extras))

    @property
    def shortest(self) -> int:
        """The number of tokens of the clean text."""
        return min((len(arc.tokens) for arc in self.arcs if arc.advances), default=1)


def window_slots(
    texts: Sequence[CleanText], speakers: Sequence[str], vocabulary: Vocabulary, *, language: str, stamps: bool
) -> list[Slot]:
    """Return the slots of the utterances of a window.

    ``texts`` and ``speakers`` have the clean text of each utterance and its speaker code, which models with roles
    write. ``language`` (ISO 639-3) decides the fillers; with ``stamps`` the model writes timestamps around each
    utterance.
    """
    slots: list[Slot] = []
    anywhere = _Anywhere(vocabulary, language)
    for number, (text, speaker) in enumerate(zip(texts, speakers, strict=True)):
        slots += [Slot(number, stamp=True)] * stamps
        if vocabulary.labels.roles:
            slots.append(Slot(number, (Arc(vocabulary.encode(f"*{speaker}:"), True),)))
        for at, item in enumerate(text.items):
            following = text.items[at:]
            arcs = (
                *anywhere.arcs(item.offset),
                *_word_arcs(item, vocabulary),
                *_copies(following, vocabulary),
                *_cut_offs(following, vocabulary),
            )
            free = bool(vocabulary.retraces)
            slots.append(Slot(number, arcs, item.offset, free, vocabulary.cut is not None))
        endings = _ending_arcs(text, vocabulary)
        slots.append(Slot(number, (*anywhere.arcs(text.end), *endings), text.end, False, vocabulary.cut is not None))
        slots += [Slot(number, stamp=True)] * stamps
    return slots


class _Anywhere:
    """Insertions that may stand before any item: fillers and pauses."""

    def __init__(self, vocabulary: Vocabulary, language: str):
        sounds = dict.fromkeys((*UNMARKED_FILLERS[:2], *sorted(fillers(language))))
        costs = {**{f"&-{word}": FILLER_COST for word in sounds}, **dict.fromkeys(_PAUSES, 1)}
        labels = ((piece, write_label(piece, vocabulary.labels), cost) for piece, cost in costs.items())
        self._pieces = [(f"{piece} ", vocabulary.encode(label), cost) for piece, label, cost in labels if label]

    def arcs(self, offset: int) -> list[Arc]:
        return [Arc(tokens, False, (Insertion(offset, text),), cost=cost) for text, tokens, cost in self._pieces]


def _ending_arcs(text: CleanText, vocabulary: Vocabulary) -> Iterator[Arc]:
    """Yield the terminator; it follows the last word directly, and a pause after a space."""
    ending = text.ending.strip()
    yield Arc(vocabulary.encode(ending, space=text.ending.startswith(" ")), True)
    if vocabulary.labels.style == "chat":
        yield Arc(vocabulary.encode(ending), True)


def _word_arcs(item: CleanItem, vocabulary: Vocabulary) -> Iterator[Arc]:
    """Yield the item itself, and the signs of a block, part-word repetitions and prolonged sounds of a plain word."""
    yield Arc(vocabulary.encode(item.label), True, begins=3)
    word, labels = item.word, vocabulary.labels
    if not word or labels.style != "chat":
        yield from _part_words(item, vocabulary) if word else ()
        return
    yield from _inside(item, vocabulary)
    if labels.version == 1:
        return
    yield Arc(vocabulary.encode("="), False, (Insertion(item.offset, "≠"),), 0, 1)
    if len(word) > 1:
        yield from _part_words(item, vocabulary)
        yield Arc(vocabulary.encode(":"), False, (Insertion(item.offset + 1, ":"),), 2, 3)
        if labels.version > 3:
            yield from _captioned(item, vocabulary)


def _inside(item: CleanItem, vocabulary: Vocabulary) -> Iterator[Arc]:
    """Yield the word with one sound prolonged, as the notation writes it in one piece."""
    for at in range(1 if vocabulary.labels.version == 1 else 2, len(item.word) + 1):
        text = f"{item.word[:at]}:{item.word[at:]}"
        yield Arc(vocabulary.encode(text), True, (Insertion(item.offset + at, ":"),), 2)
    if vocabulary.labels.version == 1:
        yield Arc(vocabulary.encode(f"≠{item.word}"), True, (Insertion(item.offset, "≠"),))


def _captioned(item: CleanItem, vocabulary: Vocabulary) -> Iterator[Arc]:
    """Yield a prolonged first sound as captions spell it: ``sss snake``, ``sss- snake`` and ``sssnake``."""
    sound, insertion = 3 * item.word[0], (Insertion(item.offset + 1, ":"),)
    if label_to_chat(sound + item.word[1:], vocabulary.labels.version) != f"{item.word[0]}:{item.word[1:]}":
        return  # xxx, yyy and www are codes
    for text in (sound, f"{sound}-"):
        yield Arc(vocabulary.encode(text), False, insertion, 2, 3)
    yield Arc(vocabulary.encode(sound + item.word[1:]), True, insertion, 2)


def _part_words(item: CleanItem, vocabulary: Vocabulary) -> Iterator[Arc]:
    """Yield one to three copies of the first sounds of a word."""
    for length in range(1, min(_MAX_PART_LENGTH, len(item.word) - 1) + 1):
        for times in range(1, _MAX_PART_WORDS + 1):
            sounds = "-".join([item.word[:length]] * times)
            label = write_label(f"↫{sounds}↫{item.word}", vocabulary.labels).removesuffix(item.word).strip()
            if label and item.word[0] not in "'":
                yield Arc(vocabulary.encode(label), False, (Insertion(item.offset, f"↫{sounds}↫"),), 1, 2)


def _cut_offs(items: Sequence[CleanItem], vocabulary: Vocabulary) -> Iterator[Arc]:
    """Yield the beginnings of the next words, cut off; a few consonants may be any (see :func:`is_consonants`)."""
    if vocabulary.cut is None:
        return
    words = dict.fromkeys(item.word for item in items[:_MAX_COPY_LENGTH] if item.word)
    starts = (word[:length] for word in words for length in range(1, len(word)))
    for start in dict.fromkeys(start for start in starts if start.isalpha() and not is_consonants(start)):
        piece = f"&+{start}"
        if label := write_label(piece, vocabulary.labels):
            yield Arc(vocabulary.encode(label), False, (Insertion(items[0].offset, f"{piece} "),))


def _copies(items: Sequence[CleanItem], vocabulary: Vocabulary) -> Iterator[Arc]:
    """Yield the next words said once more before they are said, with and without the sign of a repetition."""
    words = []
    for item in items[:_MAX_COPY_LENGTH]:
        if not item.word:
            return
        words.append(item.word)
        text, is_single = " ".join(words), len(words) == 1
        chat = f"{text} [/] " if is_single else f"<{text}> [/] "
        insertion = (Insertion(items[0].offset, chat),)
        if vocabulary.labels.version > 2 or vocabulary.labels.style != "chat":
            yield Arc(vocabulary.encode(text), False, insertion)
        if vocabulary.labels.style == "chat":
            yield Arc(vocabulary.encode(write_label(chat, vocabulary.labels)), False, insertion)
