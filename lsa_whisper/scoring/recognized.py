"""Disfluencies that a system transcribed in words but did not mark, judged mark by mark.

Conventions:

- Fillers, cut-off words and exact repeats can be recognized from the words. Of a system without any marks, all of them
  are (:func:`lsa_whisper.scoring.words.mark_from_words`), right or wrong.
- Of a system that writes marks, such a disfluency counts as found where the reference has it at the same words and no
  mark of the system covers them. Nothing else is inferred: an unmarked repeat that the reference does not mark either
  is not a false alarm. So a correct mark more never makes another disfluency missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from lsa_whisper.chat import Disfluency, Event, Utterance
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.disfluency import INFERRED_FROM_WORDS, matched_events
from lsa_whisper.scoring.words import FileWords, file_words, moved, normalized_fluent


def with_recognized(
    reference: FileWords,
    hypothesis: FileWords,
    alignment: Alignment,
    from_words: Callable[[Utterance], Utterance] | None,
) -> FileWords:
    """Return the hypothesis with the unmarked disfluencies that the reference has at the same words.

    Args:
        reference: the words and events of the reference.
        hypothesis: those of the system, with its own marks only.
        alignment: of the spoken words of both.
        from_words: marks an utterance from its words; ``None`` if nothing is to be recognized.
    """
    if from_words is None:
        return hypothesis
    missed = {kind: _missed(reference, hypothesis, alignment, kind) for kind in INFERRED_FROM_WORDS}
    candidates = _candidates(hypothesis, _utterances(hypothesis, alignment, missed.values()), from_words)
    accepted: list[Event] = []
    for kind, expected in missed.items():
        others = [event for event in candidates if event.kind is kind]
        pairs = matched_events(reference, hypothesis, alignment, kind, expected, others)
        accepted += [others[number] for number in sorted({number for _, number in pairs})]
    if not accepted:
        return hypothesis
    events = sorted((*hypothesis.events, *accepted), key=lambda event: (event.start, event.end))
    marked = replace(hypothesis, events=tuple(events))
    return replace(marked, fluent=tuple(_fluent(marked, accepted)))


def _missed(reference: FileWords, hypothesis: FileWords, alignment: Alignment, kind: Disfluency) -> list[Event]:
    """Return the events of a class in the reference that no mark of the hypothesis matches."""
    expected, own = ([event for event in side.events if event.kind is kind] for side in (reference, hypothesis))
    found = {number for number, _ in matched_events(reference, hypothesis, alignment, kind, expected, own)}
    return [event for number, event in enumerate(expected) if number not in found]


def _utterances(hypothesis: FileWords, alignment: Alignment, missed: Iterable[Sequence[Event]]) -> list[int]:
    """Return the utterances of the hypothesis at the words of the missed events."""
    words = [alignment.to_hypothesis[event.start : event.end] for events in missed for event in events]
    aligned = np.concatenate(words) if words else np.zeros(0, dtype=np.int64)
    return sorted(set(hypothesis.utterance_of[aligned[aligned != UNALIGNED]].tolist()))


def _candidates(
    hypothesis: FileWords, utterances: Sequence[int], from_words: Callable[[Utterance], Utterance]
) -> list[Event]:
    """Return the events recognized from the words of some utterances, in places that no mark of the system covers."""
    marked, found = hypothesis.disfluent, []
    starts = np.searchsorted(hypothesis.utterance_of, utterances).tolist()
    ends = np.searchsorted(hypothesis.utterance_of, utterances, side="right").tolist()
    for number, start, end in zip(utterances, starts, ends, strict=True):
        own = file_words([from_words(hypothesis.utterances[number])], keep_unintelligible=False)
        if len(own.words) == end - start:
            found += [moved(event, start) for event in own.events if event.kind in INFERRED_FROM_WORDS]
    return [event for event in found if not marked[event.start : event.end].any()]


def _fluent(marked: FileWords, accepted: Sequence[Event]) -> list[str]:
    """Return the words without disfluencies; in utterances without ``accepted`` events they are as they were."""
    changed = {int(marked.utterance_of[event.start]) for event in accepted}
    starts = np.searchsorted(marked.utterance_of, np.arange(len(marked.utterances) + 1)).tolist()
    words: list[str] = []
    for number, utterance in enumerate(marked.utterances):
        if number in changed:
            own = range(starts[number], starts[number + 1])
            words += [marked.words[at] for at in own if not marked.disfluent[at]]
        else:
            words += normalized_fluent(utterance, keep_unintelligible=False)
    return words
