"""The confidences of the words of an open transcript: those of the draft, carried along while words are edited."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from lsa_whisper.chat import Utterance
from lsa_whisper.decoding.confidences import Calibration, Confidences, ScoredUtterance
from lsa_whisper.review.edits.times import carried

WordConfidences = tuple[float | None, ...]
"""Confidence of each spoken word; ``None`` where no model wrote it: a person did, or it is unknown."""


class ConfidenceTable:
    """Confidences by utterance, found by the text of the main tier, so that undo finds them again."""

    def __init__(
        self, utterances: Sequence[Utterance], found: Confidences | None, calibration: Calibration | None = None
    ):
        """Assign the confidences of a draft to the utterances of a transcript that may be corrected since.

        Args:
            utterances: the transcript as it is.
            found: the confidences of its draft; ``None`` if there are none.
            calibration: overrides the one that was stored with the draft.
        """
        self.known = found is not None
        self._by_main: dict[str, WordConfidences] = {}
        if found is None:
            return
        calibration = calibration or found.calibration
        by_text: dict[str, deque[ScoredUtterance]] = defaultdict(deque)
        for draft in found.utterances:
            by_text[draft.text].append(draft)
        for each in utterances:
            if by_text.get(each.text):
                draft = by_text[each.text].popleft()
                self._by_main[each.main] = _confidences(draft, calibration)
        left = [draft for drafts in by_text.values() for draft in drafts]
        for each in utterances:
            if each.main not in self._by_main:
                near = [draft for draft in left if _overlap(each, draft)]
                words = [word for draft in near for word in draft.words]
                values = [value for draft in near for value in _confidences(draft, calibration)]
                self._by_main[each.main] = tuple(carried(values, words, each.reading.verbatim))

    def of(self, utterance: Utterance) -> WordConfidences:
        """Return the confidences of an utterance's words."""
        found = self._by_main.get(utterance.main, ())
        count = len(utterance.reading.verbatim)
        return found if len(found) == count else (None,) * count

    def carry(self, removed: Sequence[Utterance], added: Sequence[Utterance]) -> None:
        """Give new utterances the confidences of the words that they share with those they replace."""
        if not self.known or all(each.main in self._by_main for each in added):
            return
        if len(removed) == len(added) > 1:
            for pair in zip(removed, added, strict=True):
                self.carry(pair[:1], pair[1:])
            return
        words = [word for each in removed for word in each.reading.verbatim]
        values = [value for each in removed for value in self.of(each)]
        new = [word for each in added for word in each.reading.verbatim]
        kept, at = _same_words(values, words, new), 0
        for each in added:
            count = len(each.reading.verbatim)
            self._by_main[each.main] = tuple(kept[at : at + count])
            at += count


def _same_words(values: Sequence[float | None], old: Sequence[str], new: Sequence[str]) -> list[float | None]:
    """Return the confidences of words that are still the same; a changed word has none."""
    pairs = carried(list(enumerate(values)), old, new)
    same = [
        old[pair[0]].strip("-").lower() == word.strip("-").lower() if pair else False
        for pair, word in zip(pairs, new, strict=True)
    ]
    return [pair[1] if pair and equal else None for pair, equal in zip(pairs, same, strict=True)]


def _confidences(draft: ScoredUtterance, calibration: Calibration) -> WordConfidences:
    return tuple(None if score is None else calibration(score) for score in draft.scores)


def _overlap(utterance: Utterance, draft: ScoredUtterance) -> bool:
    return bool(utterance.span and draft.span and utterance.span & draft.span)
