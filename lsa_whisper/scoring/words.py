"""A transcript as it is scored: its normalized words in order, and the positions of its disfluencies.

Positions in a :class:`FileWords` count normalized words through the whole file, so that two transcripts can be aligned
as a whole, however each is divided into utterances.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from lsa_whisper import chat
from lsa_whisper.chat import Disfluency, Event, Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.chat.disfluencies import Family, classes_of
from lsa_whisper.chat.tree import Marker, Word, walk
from lsa_whisper.chat.word import WordKind, read_word
from lsa_whisper.labels import Labels, decode
from lsa_whisper.scoring.normalize import normalize_word

MIN_EXCUSED = 3
"""``xxx`` stands for a word or a few; without a limit, one excused any number of invented words."""
_WORD_MS = 250
"""The time of a word at four words per second, as in lively speech."""

NON_WORDS = classes_of(Family.ASIDE)
_RETRACES = classes_of(Family.RETRACE)
_WRITTEN = re.compile(r"[^\s<>]+")
_REVISION = re.compile(r"(?:<([^<>]*)>|(\S+)) \[/(?:/{1,2}|-)\]")


@dataclass(frozen=True)
class FileWords:
    """The words and events of one transcript.

    ``words``, ``raw_words`` (fillers as spelled) and ``surface`` (as written) have one entry per normalized spoken
    word; ``fluent`` has the words without disfluencies. ``utterance_of`` gives the utterance of each spoken word.
    ``events`` are CHAT's, with positions in ``words``.
    """

    utterances: tuple[Utterance, ...]
    words: tuple[str, ...]
    raw_words: tuple[str, ...]
    surface: tuple[str, ...]
    utterance_of: NDArray[np.int64]
    fluent: tuple[str, ...]
    events: tuple[Event, ...]
    spoken_of: NDArray[np.int64]
    """Per word, the index within its utterance of the spoken word it comes from."""
    excused: tuple[int, ...] = ()
    """Per ``xxx`` of ``words``, how many hypothesis words may stand for it (:func:`excused_words`)."""
    fluent_excused: tuple[int, ...] = ()
    """The same per ``xxx`` of ``fluent``."""
    dropped: int = 0
    """The number of ``xxx``, ``yyy`` and ``www`` that were left out (a hypothesis gains nothing by writing them)."""

    @cached_property
    def unintelligible(self) -> NDArray[np.bool_]:
        """Per word, whether it stands for unintelligible speech."""
        return _is_unintelligible(self.words)

    @cached_property
    def fluent_unintelligible(self) -> NDArray[np.bool_]:
        """Per fluent word, whether it stands for unintelligible speech."""
        return _is_unintelligible(self.fluent)

    @cached_property
    def disfluent(self) -> NDArray[np.bool_]:
        """Per word, whether it is disfluent: a filled pause, a fragment, a nonword, or part of a retrace."""
        flags = np.zeros(len(self.words), dtype=np.bool_)
        for event in self.events:
            if event.kind in NON_WORDS or event.kind in _RETRACES:
                flags[event.start : event.end] = True
            elif event.kind is Disfluency.PART_WORD_REPETITION:
                for at in range(event.start, event.end):
                    flags[at] |= self.words[at].endswith("-")
        return flags


def file_words(utterances: Sequence[Utterance], *, keep_unintelligible: bool = True) -> FileWords:
    """Return the words of ``utterances`` (all of one file, in order).

    With ``keep_unintelligible``, ``xxx`` is a word (for a reference); otherwise it is left out (for a hypothesis).
    """
    words: list[str] = []
    raw_words: list[str] = []
    surface: list[str] = []
    spoken_of: list[int] = []
    fluent: list[str] = []
    events: list[Event] = []
    excused: list[int] = []
    fluent_excused: list[int] = []
    counts, dropped = [], 0
    for utterance in utterances:
        starts, own, before = [], utterance.events(), len(words)
        for number, (pieces, raw, display) in enumerate(_spelled(utterance.verbatim(), own)):
            starts.append(len(words))
            if not keep_unintelligible and not UNTRANSCRIBED.isdisjoint(pieces):
                is_word = [piece not in UNTRANSCRIBED for piece in pieces]  # of b-xxx the b
                dropped += is_word.count(False)
                pieces, raw, display = (list(compress(texts, is_word)) for texts in (pieces, raw, display))
            words += pieces
            raw_words += raw
            surface += display
            spoken_of += [number] * len(pieces)
        starts.append(len(words))
        counts.append(len(words) - before)
        events += [_moved(event, starts) for event in own]
        own_fluent = normalized_fluent(utterance, keep_unintelligible=keep_unintelligible)
        fluent += own_fluent
        unclear, fluent_unclear = (sum(word in UNTRANSCRIBED for word in part) for part in (words[before:], own_fluent))
        if unclear or fluent_unclear:  # a word of which only a part is xxx is one of the fluent words only
            excused += [excused_words(utterance)] * unclear
            fluent_excused += [excused_words(utterance)] * fluent_unclear
    return FileWords(
        utterances=tuple(utterances),
        words=tuple(words),
        raw_words=tuple(raw_words),
        surface=tuple(surface),
        utterance_of=np.repeat(np.arange(len(counts)), np.array(counts, dtype=np.int64)),
        fluent=tuple(fluent),
        events=tuple(events),
        spoken_of=np.array(spoken_of, dtype=np.int64),
        excused=tuple(excused),
        fluent_excused=tuple(fluent_excused),
        dropped=dropped,
    )


def excused_words(utterance: Utterance) -> int:
    """Return how many words of a hypothesis may stand for one ``xxx`` of the utterance without being errors.

    They are :data:`MIN_EXCUSED`, or as many as fit into the time that the other words of the utterance leave.

    >>> from lsa_whisper.timespan import TimeSpan
    >>> excused_words(chat.utterance("CHI", "xxx .")), excused_words(chat.utterance("CHI", "xxx .", TimeSpan(0, 4000)))
    (3, 16)
    """
    words = utterance.verbatim()
    unclear = sum(word in UNTRANSCRIBED for word in words)
    if utterance.span is None or not unclear:
        return MIN_EXCUSED
    left_ms = utterance.span.duration_ms - _WORD_MS * (len(words) - unclear)
    return max(MIN_EXCUSED, round(left_ms / _WORD_MS / unclear))


def normalized_fluent(utterance: Utterance, *, keep_unintelligible: bool) -> list[str]:
    """Return the normalized words of an utterance without its disfluencies."""
    words = [part for word in utterance.fluent() for part in normalize_word(word)]
    return words if keep_unintelligible else [word for word in words if word not in UNTRANSCRIBED]


def _spelled(
    verbatim: Sequence[str], events: Sequence[Event]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Yield, per spoken word, its normalized words, the same with fillers as spelled, and the text to display."""
    stuttered = {e.start for e in events if e.kind is Disfluency.PART_WORD_REPETITION and e.end - e.start == 1}
    for position, word in enumerate(verbatim):
        # A sound repeated INSIDE a word (ra-b-bbit) leaves it one word; elsewhere a hyphen separates two.
        spelling = word.replace("-", "") if position in stuttered and not word.endswith("-") else word
        pieces, raw = normalize_word(spelling), normalize_word(spelling, "raw")
        yield pieces, raw, (word,) if len(pieces) == 1 else raw


def events_at(events: Sequence[Event]) -> dict[int, list[int]]:
    """Return the events at each word that has any, as indices into ``events``."""
    at: dict[int, list[int]] = {}
    for number, event in enumerate(events):
        for position in range(event.start, event.end):
            at.setdefault(position, []).append(number)
    return at


def _is_unintelligible(words: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([word in UNTRANSCRIBED for word in words], dtype=np.bool_)


def _moved(event: Event, starts: Sequence[int]) -> Event:
    """Return ``event`` with positions in the file's normalized words instead of the utterance's spoken words."""
    first, last = (None if at is None else starts[at] for at in (event.repair_start, event.repair_end))
    return replace(event, start=starts[event.start], end=starts[event.end], repair_start=first, repair_end=last)


def has_disfluency_marks(utterances: Sequence[Utterance]) -> bool:
    """Return whether the transcript has any disfluency mark other than pauses."""
    return any(event.kind is not Disfluency.PAUSE for utterance in utterances for event in utterance.events())


def mark_from_words(utterance: Utterance, language: str = "eng") -> Utterance:
    """Return ``utterance`` with disfluency marks inferred from its words: fillers, exact repeats, cut-off words.

    This is for transcripts of systems that write no marks. Which words a revision takes back is a guess that no marked
    transcript has the benefit of: those are not inferred. An utterance without such words, or one whose words the
    marks would change, is returned unchanged.

    >>> mark_from_words(chat.utterance("PAR", "um the the dog fr- frog .")).text
    '&-um the [/] the dog &+fr frog .'
    """
    end = utterance.terminator or "."
    items = [item for item in walk(utterance.tree.items) if isinstance(item, Word)]
    codes = {item.text: [code for code in item.codes if code.startswith("[:")] for item in items}
    coded = {
        " ".join(read_word(text).verbatim): " ".join((text, *own)) for text, own in codes.items() if own or "(" in text
    }
    for words in (_as_written(utterance), utterance.verbatim()):  # only the latter has the copies of [x 3]
        text = " ".join((*words, end))
        utterances = decode(text, Labels("verbatim"), speaker=utterance.speaker, language=language).utterances
        if len(utterances) == 1 and _bare(utterances[0].verbatim()) == _bare(utterance.verbatim()):
            text = _REVISION.sub(r"\1\2", utterances[0].text)
            text = _WRITTEN.sub(lambda word: coded.get(word[0], word[0]), text) if coded else text
            marked = chat.utterance(utterance.speaker, text, utterance.span)
            return marked if has_disfluency_marks([marked]) else utterance
    return utterance


def _as_written(utterance: Utterance) -> Iterator[str]:
    """Yield the spoken words, those that are cut off with their hyphens, and the events and pauses between them."""
    for item in walk(utterance.tree.items):
        if isinstance(item, Marker):
            yield from [item.text] if item.kind == "pause" else ()
        elif isinstance(item, Word):
            reading = read_word(item.text)
            as_it_is = reading.kind is WordKind.EVENT or (reading.verbatim and item.text[-1] == "-")
            yield from [item.text] if as_it_is else reading.verbatim


def _bare(words: Sequence[str]) -> list[str]:
    return [normalize("NFC", word.rstrip("-").casefold()) for word in words]
