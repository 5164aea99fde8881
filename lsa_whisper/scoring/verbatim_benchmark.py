"""Scores in the manner of the Nyra Verbatim Speech Benchmark, and character errors by class of disfluency.

What the README of CrisperWhisper 2 says of that benchmark: fillers, repetitions, cut-offs and vocal sounds are scored
as separate, typed metrics; its headline is the F1 of disfluencies. How words are matched and the types are averaged is
described elsewhere and could not be verified. Here:

- Every word of a filler, of a repeated copy, and every cut-off word counts, not the disfluency as a whole. The types
  are those of CHAT, which is a verbatim and an intended text in one: what the intended text lacks.
- A word is found if it is aligned with a word of the same type: any filler with any filler, a repeated word with the
  same word, a cut-off word with one that begins like it or that it begins.
- A vocal sound (``&=laughs``) is found if the same sound stands between the same words.
- The headline pools the counts of all four types (micro average).

Character errors by class (as reported for AphasiaBank by ETS Montreal, whose rules could not be verified, either): the
characters of the reference's words in disfluencies of each class, compared with the words that are aligned with them.
Inserted words belong to no class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lsa_whisper.chat import Disfluency
from lsa_whisper.chat.tree import Item, Word, walk
from lsa_whisper.chat.word import WordKind, read_word
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import ByLabel, Detections, WordErrors
from lsa_whisper.scoring.segmentation import compare_gaps
from lsa_whisper.scoring.wer import plain_character_errors
from lsa_whisper.scoring.words import FileWords

MODE = "nyra"
"""Its name for ``evaluate --as``."""
TYPES = ("fillers", "repetitions", "cut-offs", "vocal sounds")
TYPED_RULES = (
    "Typed F1 of fillers, repeated words, cut-off words and vocal sounds, word by word; all together pools their "
    "counts. After the description in CrisperWhisper's README; how that benchmark matches words and averages types "
    "could not be verified, and its recordings are others."
)
_KINDS = {"fillers": Disfluency.FILLED_PAUSE, "repetitions": Disfluency.REPETITION, "cut-offs": Disfluency.FRAGMENT}


def typed_detections(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> ByLabel[Detections]:
    """Return the detections of each of :data:`TYPES` in one file."""
    same: dict[str, Callable[[str, str], bool]] = {
        "fillers": lambda *_: True,
        "repetitions": lambda reference_word, word: reference_word == word,
        "cut-offs": _same_beginning,
    }
    by_type: ByLabel[Detections] = ByLabel()
    for name, kind in _KINDS.items():
        expected, actual = (_words_of(side, kind) for side in (reference, hypothesis))
        hits = sum(
            h in actual and same[name](reference.words[r], hypothesis.words[h])
            for r in expected
            if (h := int(alignment.to_hypothesis[r])) != UNALIGNED
        )
        by_type[name] = Detections(hits, len(actual) - hits, len(expected) - hits)
    by_type["vocal sounds"] = _vocal_sounds(reference, hypothesis, alignment)
    return by_type


def pooled(typed: ByLabel[Detections]) -> Detections:
    """Return the counts of all types together, whose F1 is the headline."""
    return sum(typed.values(), Detections())


def character_errors_by_class(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> ByLabel[WordErrors]:
    """Return the character errors in the words of each class of disfluency; a class without words is left out."""
    by_class: ByLabel[WordErrors] = ByLabel()
    for kind in Disfluency:
        for r in sorted(_words_of(reference, kind)):
            h = int(alignment.to_hypothesis[r])
            errors = plain_character_errors([reference.words[r]], [] if h == UNALIGNED else [hypothesis.words[h]])
            by_class[kind.value] = by_class.get(kind.value, WordErrors()) + errors
    return by_class


def _words_of(words: FileWords, kind: Disfluency) -> set[int]:
    return {at for event in words.events if event.kind is kind for at in range(event.start, event.end)}


def _same_beginning(reference_word: str, word: str) -> bool:
    first, second = reference_word.rstrip("-"), word.rstrip("-")
    return first.startswith(second) or second.startswith(first)


def _vocal_sounds(reference: FileWords, hypothesis: FileWords, alignment: Alignment) -> Detections:
    expected, actual = _sounds(reference), _sounds(hypothesis)
    by_name = (compare_gaps(expected.get(name, []), actual.get(name, []), alignment) for name in {*expected, *actual})
    return sum(by_name, Detections())


def _sounds(words: FileWords) -> dict[str, list[int]]:
    """Return, by sound, the number of words before each occurrence in the file."""
    by_sound: dict[str, list[int]] = {}
    before = 0
    counts = np.bincount(words.utterance_of, minlength=len(words.utterances)).tolist()
    for own, utterance in zip(counts, words.utterances, strict=True):
        for name, share in _sounds_in(utterance.tree.items):
            by_sound.setdefault(name, []).append(before + round(share * own))
        before += own
    return by_sound


def _sounds_in(items: Sequence[Item]) -> list[tuple[str, float]]:
    """Return the sounds of an utterance, each with the share of its words that stand before it."""
    words, sounds = 0, []
    for text in (item.text for item in walk(items) if isinstance(item, Word)):
        reading = read_word(text)
        if reading.kind is WordKind.EVENT and text.startswith("&="):
            sounds.append((text[2:].partition(":")[0].lower(), words))
        words += len(reading.verbatim)
    return [(name, at / max(words, 1)) for name, at in sounds]
