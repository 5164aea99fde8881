"""What a person has corrected in a draft: words and disfluencies of each class, utterance by utterance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.decoding.confidences import ScoredUtterance
from lsa_whisper.review.estimate import word_changes
from lsa_whisper.timespan import TimeSpan

WORDS = "words"
"""The name under which changed words are counted, beside the classes of disfluencies."""


class Corrections:
    """Counts of what differs from the draft, kept up to date with the edits; an undone edit is not counted.

    An utterance is compared with the draft at the same time of the recording. One that was moved, divided or joined has
    no such draft and is not counted.
    """

    def __init__(self, drafts: Mapping[TimeSpan | None, ScoredUtterance], utterances: Iterable[Utterance]):
        """Compare the transcript as it is with its draft."""
        self._drafts = drafts
        self._counts: Counter[str] = Counter()
        self.replace((), [each for each in utterances if each.span])

    def replace(self, removed: Sequence[Utterance], added: Sequence[Utterance]) -> None:
        """Count the utterances that an edit has put in, and no longer those that it has taken out."""
        for each in added:
            self._counts.update(self._differences(each))
        for each in removed:
            self._counts.subtract(self._differences(each))

    def as_dict(self) -> dict[str, int]:
        """Return the counts by class, the largest first."""
        return {kind: count for kind, count in self._counts.most_common() if count > 0}

    def _differences(self, each: Utterance) -> Counter[str]:
        draft = self._drafts.get(each.span) if each.span else None
        if draft is None or draft.text == each.text:
            return Counter()
        old, new = _classes(utterance(each.speaker, draft.text)), _classes(each)
        found = (old - new) + (new - old)
        found[WORDS] = word_changes(draft.words, each.reading.verbatim)
        return found


def _classes(each: Utterance) -> Counter[str]:
    return Counter(event.kind.value for event in each.reading.events)
