"""The confidences of the words of an open transcript, and which words are flagged as doubtful.

The confidences are those of the draft, carried along while words are edited. A word's confidence is that of its model,
and a part of that of the words around it, because errors come in runs. The first word of an utterance gets some more:
it is written with a capital letter or without, which divides its probability. Flagged are the worst words of the
recording, whatever its model is like.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from lsa_whisper.chat import Utterance
from lsa_whisper.decoding.confidences import Calibration, Confidences, ScoredUtterance
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.review.edits.times import carried

WordConfidences = tuple[float | None, ...]
"""Confidence of each spoken word; ``None`` where no model wrote it: a person did, or it is unknown."""


NEIGHBORS = 2
"""Words before and after a word that count."""
OWN_SHARE = 0.7
"""Of the log-odds; the rest is the mean of the neighbors'. The average precision of finding the wrong words of
whisper-base by confidence rises from .41 to .44 in ten clips of meetings, and from .65 to .75 in four other recordings.
With the bonus of first words, it is .47 and .74."""
FIRST_WORD_BONUS = 0.5
"""Added to the log-odds of the first word of an utterance."""


class ConfidenceTable:
    """Confidences by utterance, found by the text of the main tier, so that undo finds them again."""

    def __init__(
        self, utterances: Sequence[Utterance], scores: Confidences | None, calibration: Calibration | None = None
    ):
        """Assign the confidences of a draft to the utterances of a transcript that may be corrected since.

        ``scores`` are ``None`` if there are no confidences; ``calibration`` overrides the one that was stored with
        them.
        """
        self.known = scores is not None
        self.of_drafts: list[WordConfidences] = []
        self._by_main: dict[str, WordConfidences] = {}
        if scores is None:
            return
        self.of_drafts = draft_confidences(scores.utterances, calibration or scores.calibration)
        by_text: dict[str, deque[tuple[ScoredUtterance, WordConfidences]]] = defaultdict(deque)
        for draft, confidences in zip(scores.utterances, self.of_drafts, strict=True):
            by_text[draft.text].append((draft, confidences))
        for utterance in utterances:
            if by_text.get(utterance.text):
                self._by_main[utterance.main] = by_text[utterance.text].popleft()[1]
        spare = [draft for drafts in by_text.values() for draft in drafts]
        for utterance in utterances:
            if utterance.main not in self._by_main:
                near = [own for own in spare if utterance.span and own[0].span and utterance.span & own[0].span]
                words = [word for draft, _ in near for word in draft.words]
                values = [value for _, confidences in near for value in confidences]
                self._by_main[utterance.main] = tuple(carried(values, words, utterance.reading.verbatim))

    def of(self, utterance: Utterance) -> WordConfidences:
        """Return the confidences of an utterance's words."""
        values = self._by_main.get(utterance.main, ())
        count = len(utterance.reading.verbatim)
        return values if len(values) == count else (None,) * count

    def carry(self, removed: Sequence[Utterance], added: Sequence[Utterance]) -> None:
        """Give new utterances the confidences of the words that they share with those they replace."""
        if not self.known or all(utterance.main in self._by_main for utterance in added):
            return
        if len(removed) == len(added) > 1:
            for pair in zip(removed, added, strict=True):
                self.carry(pair[:1], pair[1:])
            return
        words = [word for utterance in removed for word in utterance.reading.verbatim]
        values = [value for utterance in removed for value in self.of(utterance)]
        new = [word for utterance in added for word in utterance.reading.verbatim]
        new_values, at = _same_words(values, words, new), 0
        for utterance in added:
            count = len(utterance.reading.verbatim)
            self._by_main[utterance.main] = tuple(new_values[at : at + count])
            at += count


def draft_confidences(drafts: Sequence[ScoredUtterance], calibration: Calibration) -> list[WordConfidences]:
    """Return the confidence of every word of utterances in order; ``None`` where the model gave none.

    >>> one = ScoredUtterance("PAR", "a b .", None, ("a", "b"), (math.log(0.5), math.log(0.5)), (None, None))
    >>> [[round(value or 0, 2) for value in words] for words in draft_confidences([one], Calibration())]
    [[0.62, 0.5]]
    """
    own = [[None if score is None else calibration.odds(score) for score in draft.scores] for draft in drafts]
    all_odds = [odds for words in own for odds in words if odds is not None]
    table, at = [], 0
    for words in own:
        confidences: list[float | None] = []
        for number, odds in enumerate(words):
            if odds is None:
                confidences.append(None)
                continue
            near = all_odds[max(0, at - NEIGHBORS) : at] + all_odds[at + 1 : at + 1 + NEIGHBORS]
            around = sum(near) / len(near) if near else odds
            log_odds = OWN_SHARE * odds + (1 - OWN_SHARE) * around + FIRST_WORD_BONUS * (number == 0)
            confidences.append(1 / (1 + math.exp(-log_odds)))
            at += 1
        table.append(tuple(confidences))
    return table


def _same_words(values: Sequence[float | None], old: Sequence[str], new: Sequence[str]) -> list[float | None]:
    """Return the confidences of words that are still the same; a changed word has none."""
    pairs = carried(list(enumerate(values)), old, new)
    same = [
        old[pair[0]].strip("-").lower() == word.strip("-").lower() if pair else False
        for pair, word in zip(pairs, new, strict=True)
    ]
    return [pair[1] if pair and equal else None for pair, equal in zip(pairs, same, strict=True)]


DEFAULT_SHARE = "10%"
LIKELY_WRONG = 0.53
"""Words below this confidence are flagged in any case: in a bad recording more than the worst tenth is wrong.

Of 379 words that whisper-base wrote of ten clips of meetings, 51 were wrong. With these limits, which were chosen on
them, 8 % of the words are flagged, 37 % of the wrong ones among them, with a precision of 66 %; with 0.4 and 0.9, and
the confidence of each word alone, it was 14 %, 45 % and 43 %.
"""
MAYBE_RIGHT = 0.57
"""Words above this confidence are flagged only if more than the default share is asked for."""
LIKELY_RIGHT = 0.9
"""Words above this confidence are never flagged, even if they are among the worst."""


def parse_share(text: str) -> float:
    """Return a share of the words, given in percent.

    >>> parse_share("10%"), parse_share("2.5")
    (0.1, 0.025)

    Raises:
        LsaWhisperError: It is not a percentage.
    """
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise LsaWhisperError(f"`flag={text}`: is not a share of the words; give a percentage such as {DEFAULT_SHARE}")
    return share


def flag_limit(confidences: Iterable[float], share: float) -> float:
    """Return the confidence below which words are flagged: a ``share`` of a recording's words, and those likely wrong.

    Args:
        confidences: Of all words of the recording that have one.
        share: At most so many of the words, apart from those below :data:`LIKELY_WRONG`.

    >>> flag_limit([0.5, 0.6, 0.7, 0.8, 0.95], 0.4), flag_limit([0.97, 0.98, 0.99], 0.5), flag_limit([0.1, 0.2], 0.1)
    (0.7, 0.9, 0.53)
    >>> flag_limit([0.8, 0.9, 0.95, 0.99], 0.1), flag_limit([0.8, 0.9, 0.95, 0.99], 0.3)
    (0.57, 0.9)
    """
    values = sorted(confidences)
    worst = values[int(len(values) * share)] if int(len(values) * share) < len(values) else 1.0
    right = LIKELY_RIGHT if share > parse_share(DEFAULT_SHARE) else MAYBE_RIGHT
    return max(LIKELY_WRONG, min(worst, right))
