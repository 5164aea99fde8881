"""One disfluency more: what is written, and which sounds stand for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsa_whisper.chat import Disfluency
from lsa_whisper.splice.profile import DisfluencyProfile
from lsa_whisper.splice.speech import SourceUtterance, SpeakerSounds, WordPlace

_VOWELS = "aeiouy"
_STOPS = "bdgptkc"
_DIGRAPHS = ("sh", "th", "ch", "wh", "kn", "ph", "wr", "ps", "gn")
_HELD = "smnlfvzr"
"""First letters whose sound can be held."""
_SILENCE_MS = (90, 170, 300)
"""Quartiles of the silence after a broken-off word, where a corpus has no word times."""
_PAUSES_MS: Mapping[str, tuple[int, ...]] = {"(.)": (250, 400, 600), "(..)": (800, 1000, 1400)}


@dataclass(frozen=True, slots=True)
class SoundClip:
    """The sound of ``words``: words ``start`` to ``end`` of an utterance, or the first ``share`` of the last one."""

    utterance: int
    start: int
    end: int
    words: tuple[str, ...]
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Silence:
    """The noise of the room, with the speaker's creak in it if ``creak``."""

    length_ms: int
    creak: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """A disfluency at word ``at``.

    Attributes:
        kind: Its class.
        at: The word that it precedes, or is in.
        end: The word after the last one that must stay as it is.
        before: Written before the word; may be empty.
        written: Written in place of the word, if not ``None``.
        parts: The sounds before the word.
        hold_ms: Length of the word's first sound, if that is held.
        events: How many disfluencies of the class this is.
    """

    kind: Disfluency
    at: int
    end: int
    before: str = ""
    written: str | None = None
    parts: tuple[SoundClip | Silence, ...] = ()
    hold_ms: int = 0
    events: int = 1


@dataclass(frozen=True)
class EditContext:
    """What an edit of utterance ``number`` can draw on."""

    utterances: Sequence[SourceUtterance]
    number: int
    sounds: SpeakerSounds
    profile: DisfluencyProfile
    rng: random.Random

    @property
    def target(self) -> SourceUtterance:
        """The utterance."""
        return self.utterances[self.number]

    def text(self, at: int) -> str:
        """Return word ``at`` of the utterance."""
        return self.target.words[at].text

    def word_at(self, place: WordPlace) -> str:
        """Return the word at ``place``."""
        return self.utterances[place.utterance].words[place.word].text

    def clip(self, place: WordPlace, count: int = 1) -> SoundClip:
        """Return ``count`` words from ``place`` on."""
        words = self.utterances[place.utterance].words[place.word : place.word + count]
        return SoundClip(place.utterance, place.word, place.word + count, tuple(word.text for word in words))

    def silence(self, kind: Disfluency) -> Silence:
        """Return a silence as long as those after disfluencies of this class, at least 50 ms."""
        row = self.profile.classes.get(kind.value)
        return Silence(self.draw_ms((row and row.silence_ms) or _SILENCE_MS))

    def draw_ms(self, quartiles: Sequence[int]) -> int:
        """Return a length between the first and the third quartile."""
        return max(50, round(self.rng.uniform(quartiles[0], quartiles[-1])))


def make_edit(kind: Disfluency, at: int, context: EditContext) -> Edit | None:
    """Return a disfluency of class ``kind`` at plain word ``at``, or ``None`` if there is none that fits there."""
    return _MAKERS[kind.row.splice.edit](at, context) if kind.row.splice else None


def _filled_pause(at: int, context: EditContext) -> Edit | None:
    places = [place for place in context.sounds.fillers if place.utterance != context.number]
    if not places:
        return None
    place = context.rng.choice(places)
    text = context.utterances[place.utterance].words[place.word].filler
    parts: list[SoundClip | Silence] = [context.clip(place), context.silence(Disfluency.FILLED_PAUSE)]
    if at and context.rng.random() < 0.5:
        parts.insert(0, Silence(context.rng.randint(60, 200)))
    return Edit(Disfluency.FILLED_PAUSE, at, at + 1, text, parts=tuple(parts))


def _repetition(at: int, context: EditContext) -> Edit | None:
    row = context.profile.classes.get(Disfluency.REPETITION.value)
    phrase = context.rng.random() < min(0.5, (row.words if row else 1.0) - 1)
    count = 2 if phrase and context.target.is_plain(at, at + 2) else 1
    words = " ".join(context.text(at + more) for more in range(count))
    copies = 2 if count == 1 and context.rng.random() < 0.2 else 1
    parts = [context.clip(_token(at, context) if count == 1 else WordPlace(context.number, at), count)]
    parts *= copies
    text = " ".join([f"<{words}> [/]" if count > 1 else f"{words} [/]"] * copies)
    sound = tuple(piece for part in parts for piece in (part, context.silence(Disfluency.REPETITION)))
    return Edit(Disfluency.REPETITION, at, at + count, text, parts=sound, events=copies)


def _token(at: int, context: EditContext) -> WordPlace:
    """Return another token of word ``at`` with the same spelling, half of the time, or the word itself."""
    places = [
        place
        for place in context.sounds.words.get(context.text(at).casefold(), ())
        if place.utterance != context.number and context.word_at(place) == context.text(at)
    ]
    itself = not places or context.rng.random() < 0.5
    return WordPlace(context.number, at) if itself else context.rng.choice(places)


def _onset(word: str) -> str:
    """Return the letters up to the first vowel and that vowel; empty if the word is not a plain consonant onset.

    >>> _onset("story"), _onset("apple"), _onset("hmm")
    ('sto', '', '')
    """
    at = next((at for at, letter in enumerate(word) if letter in _VOWELS), 0)
    return word[: at + 1] if word.isalpha() and word.islower() and at and word[0] not in "yq" else ""


def _fragment(at: int, context: EditContext) -> Edit | None:
    place, word = WordPlace(context.number, at), context.text(at)
    if context.rng.random() < 0.3:  # the beginning of another word
        wrong = _wrong_word(at, context)
        if wrong is not None:
            place = wrong
            word = context.word_at(place)
    letters = _onset(word)
    if not letters or len(word) <= len(letters):
        return None
    clip = SoundClip(place.utterance, place.word, place.word + 1, (f"{letters}-",), (len(letters) + 0.2) / len(word))
    parts = (clip, context.silence(Disfluency.FRAGMENT))
    return Edit(Disfluency.FRAGMENT, at, at + 1, f"&+{letters}", parts=parts)


def _part_word(at: int, context: EditContext) -> Edit | None:
    word = context.text(at)
    letters = _onset(word)
    if len(word) < 3 or not letters or word.startswith(_DIGRAPHS):
        return None
    copies = 2 + (context.rng.random() < 0.3)
    clip = SoundClip(context.number, at, at + 1, (f"{word[0]}-",), (len(letters) + 0.2) / len(word))
    parts = tuple(piece for _ in range(copies) for piece in (clip, Silence(context.rng.randint(50, 130))))
    text = f"↫{'-'.join([word[0]] * copies)}↫{word}"
    return Edit(Disfluency.PART_WORD_REPETITION, at, at + 1, written=text, parts=parts)


def _wrong_word(at: int, context: EditContext) -> WordPlace | None:
    """Return a word that the speaker used in another phrase after the same word."""
    if not context.target.is_plain(at - 1, at + 1):
        return None
    before, word = context.text(at - 1).casefold(), context.text(at).casefold()
    places = [
        place
        for place in context.sounds.after.get(before, ())
        if context.word_at(place).casefold() not in (word, before)
    ]
    return context.rng.choice(places) if places else None


def _revision(at: int, context: EditContext) -> Edit | None:
    wrong = _wrong_word(at, context)
    if wrong is None:
        return None
    phrase = context.rng.random() < 0.4 and at > 0
    clip = context.clip(WordPlace(wrong.utterance, wrong.word - phrase), 1 + phrase)
    words = " ".join(clip.words)
    text, first = (f"<{words}> [//]", at - 1) if phrase else (f"{words} [//]", at)
    return Edit(Disfluency.REVISION, first, at + 1, text, parts=(clip, context.silence(Disfluency.REVISION)))


def _false_start(at: int, context: EditContext) -> Edit | None:
    first = context.text(at).casefold()
    numbers = [
        number
        for number in context.sounds.starts
        if number != context.number and context.utterances[number].words[0].text.casefold() != first
    ]
    if at or not numbers:
        return None
    number = context.rng.choice(numbers)
    count = 3 if context.utterances[number].is_plain(0, 4) and context.rng.random() < 0.5 else 2
    clip = context.clip(WordPlace(number, 0), count)
    parts = (clip, context.silence(Disfluency.FALSE_START))
    return Edit(Disfluency.FALSE_START, 0, 1, f"<{' '.join(clip.words)}> [/-]", parts=parts)


def _prolongation(at: int, context: EditContext) -> Edit | None:
    word = context.text(at)
    if word[0] not in _HELD or word.startswith(_DIGRAPHS) or len(word) < 3 or not word.isalpha():
        return None
    text = f"{word[0]}:{word[1:]}"
    return Edit(Disfluency.PROLONGATION, at, at + 1, written=text, hold_ms=context.rng.randint(350, 700))


def _block(at: int, context: EditContext) -> Edit | None:
    word = context.text(at)
    if word[0] not in _STOPS or word.startswith(_DIGRAPHS):
        return None
    silence = Silence(context.rng.randint(300, 700), creak=context.rng.random() < 0.6)
    return Edit(Disfluency.BLOCK, at, at + 1, written=f"≠{word}", parts=(silence,))


def _pause(at: int, context: EditContext) -> Edit | None:
    if not at:
        return None
    lengths = context.profile.pauses or _PAUSES_MS
    mark = context.rng.choice(sorted(lengths))
    return Edit(Disfluency.PAUSE, at, at + 1, mark, parts=(Silence(context.draw_ms(lengths[mark])),))


_MAKERS: dict[str, Callable[[int, EditContext], Edit | None]] = {
    "filled_pause": _filled_pause,
    "repetition": _repetition,
    "part_word": _part_word,
    "fragment": _fragment,
    "revision": _revision,
    "false_start": _false_start,
    "prolongation": _prolongation,
    "block": _block,
    "pause": _pause,
}
