"""The sound of a planned utterance, and the time of each word in it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lsa_whisper.audio import SAMPLE_RATE_HZ, Samples
from lsa_whisper.splice.edits import Edit, Silence, SoundClip
from lsa_whisper.splice.plan import SplicePlan
from lsa_whisper.splice.sound import FADE, RoomNoise, creak, cross_fade, hold, match_voice, quiet_place, sharpness
from lsa_whisper.splice.speech import SourceUtterance
from lsa_whisper.timespan import TimeSpan

PER_MS = SAMPLE_RATE_HZ // 1000
_EDGE = FADE // 2
"""Each piece brings this many samples before and after its content, which its cross-fades use up."""
_REACH = 30 * PER_MS
"""How far a cut may be inside a word: word times are not exact."""
_KEPT_SILENCE = 60 * PER_MS
"""Silence that a clip keeps on either side."""
_FIRST_SOUND = (50 * PER_MS, 110 * PER_MS)
_MEASURED = 60
"""Utterances whose sharpness is measured."""
_NATURAL = 98.0
_ONSET = (70 * PER_MS, 260 * PER_MS)

Marked = tuple[str, int, int]
"""A word with its first and last sample in a piece."""


@dataclass(frozen=True)
class RenderedUtterance:
    """A spliced utterance: its sound, each word with its time from the start, and the middle of each cross-fade."""

    samples: Samples
    words: tuple[tuple[str, TimeSpan], ...]
    joins: tuple[int, ...]


@dataclass(frozen=True)
class _Piece:
    """Sound with :data:`_EDGE` samples around its content.

    Attributes:
        samples: The sound.
        start: First sample of its content in the original utterance; ``None`` for inserted sound.
        end: End of its content there.
        words: The words of inserted sound.
    """

    samples: Samples
    start: int | None = None
    end: int = 0
    words: tuple[Marked, ...] = ()

    @property
    def scale(self) -> float:
        """Samples of the content per sample of the original."""
        return (len(self.samples) - 2 * _EDGE) / max(1, self.end - (self.start or 0))


@dataclass(frozen=True)
class _Sound:
    """An utterance's samples, and the first and last sample of each word."""

    samples: Samples
    words: list[tuple[int, int]]

    def cut_before(self, at: int) -> int:
        """Return where to cut before word ``at``; after the last word if there is no such word."""
        low = self.words[at - 1][1] - min(_REACH, (self.words[at - 1][1] - self.words[at - 1][0]) // 3) if at else 0
        if at == len(self.words):
            return quiet_place(self.samples, low, len(self.samples))
        start, end = self.words[at]
        return quiet_place(self.samples, low, start + min(_REACH, (end - start) // 3))

    def content(self, start: int, end: int) -> Samples:
        """Return the samples with :data:`_EDGE` more on either side, zeros outside the utterance."""
        low, high = start - _EDGE, end + _EDGE
        inside = self.samples[max(0, low) : high]
        return np.pad(inside, (max(0, -low), max(0, high - max(0, low) - len(inside))))


@dataclass
class Renderer:
    """Renders planned utterances of one recording.

    ``load`` cuts a span out of the recording, and ``noise`` is that of its room.
    """

    utterances: Sequence[SourceUtterance]
    load: Callable[[TimeSpan], Samples]
    noise: RoomNoise
    rng: random.Random
    _sounds: dict[int, _Sound] = field(default_factory=dict)

    @cached_property
    def sharpest(self) -> float:
        """The sharpness that few milliseconds of natural speech exceed: joins must not."""
        spread = self.utterances[:: max(1, len(self.utterances) // _MEASURED)]
        levels = []
        for source in spread:
            samples = self.load(source.free)
            levels.append(sharpness(samples, range(PER_MS, len(samples), 2 * PER_MS), PER_MS))
        return float(np.percentile(np.concatenate(levels), _NATURAL)) if levels else 0.0

    def clicks(self, output: RenderedUtterance) -> bool:
        """Return whether a join of ``output`` is sharper than natural speech."""
        places = [join + shift for join in output.joins for shift in range(-_EDGE, _EDGE + 1, PER_MS)]
        return bool((sharpness(output.samples, places, PER_MS) > self.sharpest).any())

    def render(self, number: int, plan: SplicePlan) -> RenderedUtterance:
        """Return the sound of utterance ``number`` with the edits of ``plan``."""
        sound, at = self._sound(number), 0
        words = list(sound.words)
        pieces: list[_Piece] = []
        for edit in plan.edits:
            cut = sound.cut_before(edit.at)
            words[edit.at] = (max(cut, words[edit.at][0]), words[edit.at][1])
            if edit.at:
                words[edit.at - 1] = (words[edit.at - 1][0], min(cut, words[edit.at - 1][1]))
            onset = _first_sound(words[edit.at], len(plan.words[edit.at])) if edit.hold_ms else None
            stop = onset[0] if onset else cut
            if stop - at > FADE:
                pieces.append(_Piece(sound.content(at, stop), at, stop))
            at = stop
            pieces += [self._inserted(part, number, edit) for part in edit.parts]
            if onset:
                at = onset[1]
                pieces.append(_Piece(hold(sound.content(*onset), edit.hold_ms * PER_MS + FADE), *onset))
        pieces.append(_Piece(sound.content(at, len(sound.samples)), at, len(sound.samples)))
        return _joined(pieces, words, plan)

    def _sound(self, number: int) -> _Sound:
        if number not in self._sounds:
            if len(self._sounds) > 64:
                self._sounds.clear()
            source = self.utterances[number]
            begin = source.free.start_ms
            spans = [((w.span.start_ms - begin) * PER_MS, (w.span.end_ms - begin) * PER_MS) for w in source.words]
            self._sounds[number] = _Sound(self.load(source.free), spans)
        return self._sounds[number]

    def _inserted(self, part: SoundClip | Silence, number: int, edit: Edit) -> _Piece:
        if isinstance(part, SoundClip):
            return self._clip(part, number)
        length = part.length_ms * PER_MS + FADE
        silence = self.noise.draw(length, self.rng)
        if part.creak:
            start, end = self._sound(number).words[edit.at]
            voice = creak(self._sound(number).samples[start:end], length - 2 * FADE, self.rng)
            silence[FADE:-FADE] += voice
        return _Piece(silence)

    def _clip(self, clip: SoundClip, number: int) -> _Piece:
        """Return the sound of a clip, matched in level and pitch if it is of another utterance."""
        source = self._sound(clip.utterance)
        spans = source.words[clip.start : clip.end]
        start = max(source.cut_before(clip.start), spans[0][0] - _KEPT_SILENCE)
        end = min(source.cut_before(clip.end), spans[-1][1] + _KEPT_SILENCE)
        if clip.share < 1:
            first, last = spans[-1]
            length = min(max(round((last - first) * clip.share), _ONSET[0]), _ONSET[1], last - first)
            end = quiet_place(source.samples, first + length - 10 * PER_MS, first + length + 10 * PER_MS)
        end = max(end, start + 2 * FADE)
        samples = source.content(start, end)
        if clip.utterance != number:
            samples = match_voice(samples, self._sound(number).samples, source.samples)
        ratio = len(samples) / (end - start + 2 * _EDGE)
        limits = [(max(start, a), max(max(start, a) + 1, min(end, b))) for a, b in spans]
        words = [(text, a, b) for text, (a, b) in zip(clip.words, limits, strict=True)]
        marks = tuple((text, round((a - start) * ratio), round((b - start) * ratio)) for text, a, b in words)
        return _Piece(samples, words=marks)


def _first_sound(word: tuple[int, int], letters: int) -> tuple[int, int]:
    """Return the part of a word that is held: within its first sound, as letters and time are spread evenly."""
    start, end = word
    length = min(max((end - start) // max(1, letters), _FIRST_SOUND[0]), _FIRST_SOUND[1], (end - start) // 2)
    return start + length // 6, start + length


def _joined(pieces: Sequence[_Piece], words: Sequence[tuple[int, int]], plan: SplicePlan) -> RenderedUtterance:
    """Return the pieces joined, with all words in order of time."""
    samples, starts = cross_fade([piece.samples for piece in pieces])
    contents = [start + _EDGE for start in starts]
    original = [(piece, at) for piece, at in zip(pieces, contents, strict=True) if piece.start is not None]
    spans = [(_place(original, start, False), _place(original, end, True)) for start, end in words]
    inserts = [
        (at + start, at + end) for piece, at in zip(pieces, contents, strict=True) for _, start, end in piece.words
    ]
    order = sorted([*spans, *inserts])
    timed = [
        (text, TimeSpan(start // PER_MS, max(start // PER_MS + 1, end // PER_MS)))
        for text, (start, end) in zip(plan.words, order, strict=True)
    ]
    return RenderedUtterance(samples, tuple(timed), tuple(start + _EDGE for start in starts[1:]))


def _place(pieces: Sequence[tuple[_Piece, int]], sample: int, is_end: bool) -> int:
    """Return where a sample of the original is in the joined sound."""
    for piece, at in pieces:
        start = piece.start or 0
        if sample < piece.end or (is_end and sample == piece.end):
            return at + round(max(0, sample - start) * piece.scale)
    piece, at = pieces[-1]
    return at + round((piece.end - (piece.start or 0)) * piece.scale)
