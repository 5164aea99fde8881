"""Disfluencies that a system transcribed in words but did not mark, judged mark by mark.

Conventions:

- Fillers, cut-off words and exact repeats can be recognized from the words. Of a system without any marks, all of them
  are (:func:`lsa_whisper.scoring.words.mark_from_words`), right or wrong.
- Of a system that writes marks, such a disfluency counts as found where the reference has it at the same words and no
  mark of the system covers them. Nothing else is inferred: an unmarked repeat that the reference does not mark either
  is not a false alarm. So a correct mark more never makes another disfluency missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lsa_whisper.chat import Event, Utterance
from lsa_whisper.scoring.align import Alignment
from lsa_whisper.scoring.disfluency import INFERRED_FROM_WORDS, SCORED, matched_events
from lsa_whisper.scoring.words import FileWords, file_words, fluent_words


def with_recognized(
    reference: FileWords, hypothesis: FileWords, alignment: Alignment, from_words: Sequence[Utterance]
) -> FileWords:
    """Return the hypothesis with the unmarked disfluencies that the reference has at the same words.

    Args:
        reference: the words and events of the reference.
        hypothesis: those of the system, with its own marks only.
        alignment: of the spoken words of both.
        from_words: the utterances of the system, marked from their words.
    """
    candidates = _candidates(hypothesis, from_words)
    if not candidates:
        return hypothesis
    accepted: list[Event] = []
    for kind in (kind for kind in SCORED if kind in INFERRED_FROM_WORDS):
        expected = [event for event in reference.events if event.kind is kind]
        own = [event for event in hypothesis.events if event.kind is kind]
        found = {number for number, _ in matched_events(reference, hypothesis, alignment, kind, expected, own)}
        missed = [event for number, event in enumerate(expected) if number not in found]
        others = [event for event in candidates if event.kind is kind]
        pairs = matched_events(reference, hypothesis, alignment, kind, missed, others)
        accepted += [others[number] for number in sorted({number for _, number in pairs})]
    if not accepted:
        return hypothesis
    events = sorted((*hypothesis.events, *accepted), key=lambda event: (event.start, event.end))
    marked = replace(hypothesis, events=tuple(events))
    return replace(marked, fluent=tuple(_fluent(marked, accepted)))


def _candidates(hypothesis: FileWords, from_words: Sequence[Utterance]) -> list[Event]:
    """Return the events recognized from words, in places that no mark of the system covers."""
    other = file_words(from_words, keep_unintelligible=False)
    if not np.array_equal(other.utterance_of, hypothesis.utterance_of):
        return []
    marked = hypothesis.disfluent
    return [
        event
        for event in other.events
        if event.kind in INFERRED_FROM_WORDS and not marked[event.start : event.end].any()
    ]


def _fluent(marked: FileWords, accepted: Sequence[Event]) -> list[str]:
    """Return the words without disfluencies; in utterances without ``accepted`` events they are as they were."""
    changed = {int(marked.utterance_of[event.start]) for event in accepted}
    words: list[str] = []
    for number, utterance in enumerate(marked.utterances):
        if number in changed:
            own = np.flatnonzero((marked.utterance_of == number) & ~marked.disfluent)
            words += [marked.words[at] for at in own]
        else:
            words += fluent_words(utterance, keep_unintelligible=False)
    return words
