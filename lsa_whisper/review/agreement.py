"""Two transcripts of one recording side by side, and the agreement of their transcribers before anything is settled.

Reliability of two transcribers, as papers report it: agreement with intervals, and Cohen's kappa by word.

Agreement is symmetric: of words, twice the matching words divided by the words of both; of a class of disfluencies,
twice the matching ones divided by those of both (the F1 of one as the reference of the other). Its 95 % interval is
Wilson's for the share of matching ones among all that either has, of which agreement is a function.

Kappa is computed over the words of both: each transcriber assigns a word the class of the disfluency that it belongs
to, or none, or did not write it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.bootstrap import wilson_interval
from lsa_whisper.scoring.disfluency import score_disfluencies
from lsa_whisper.scoring.wer import align_verbatim
from lsa_whisper.scoring.words import FileWords, file_words

_ABSENT = "not written"


@dataclass(frozen=True)
class RaterAgreement:
    """How much of what one or the other transcriber has is the same; ``None`` where neither has anything."""

    matching: int
    left: int
    right: int

    @property
    def share(self) -> float | None:
        """Twice the matching ones divided by those of both.

        >>> RaterAgreement(6, 8, 10).share, RaterAgreement(0, 0, 0).share
        (0.6666666666666666, None)
        """
        return 2 * self.matching / (self.left + self.right) if self.left + self.right else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the share.

        >>> [round(end, 2) for end in RaterAgreement(6, 8, 10).interval or ()]
        [0.4, 0.85]
        """
        limits = wilson_interval(self.matching, self.left + self.right - self.matching)
        return (2 * limits.low / (1 + limits.low), 2 * limits.high / (1 + limits.high)) if limits else None


def kappa_by_word(first: FileWords, second: FileWords, alignment: Alignment) -> float | None:
    """Return Cohen's kappa of the classes of all words; ``None`` where chance alone would agree."""
    left, right = _classes(first), _classes(second)
    partners = alignment.to_hypothesis.tolist()
    pairs = [(left[at], right[other] if other != UNALIGNED else _ABSENT) for at, other in enumerate(partners)]
    partnered = {other for other in partners if other != UNALIGNED}
    return kappa([*pairs, *((_ABSENT, name) for other, name in enumerate(right) if other not in partnered)])


def kappa(pairs: list[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of pairs of categories (Cohen 1960).

    >>> kappa([("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15)
    0.4
    >>> kappa([("a", "a")])
    """
    if not pairs:
        return None
    left, right = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    observed = sum(a == b for a, b in pairs) / len(pairs)
    chance = sum(count * right[name] for name, count in left.items()) / len(pairs) ** 2
    return round((observed - chance) / (1 - chance), 10) if chance < 1 else None


def _classes(words: FileWords) -> list[str]:
    names = [""] * len(words.words)
    for event in words.events:
        for at in range(event.start, min(event.end, len(names))):
            names[at] = names[at] or event.kind.value
    return names


def compare_transcripts(left: Transcript, right: Transcript, original: Transcript | None = None) -> dict[str, Any]:
    """Return pairs of utterances with their differences, and the agreement by word and by class.

    The agreement is computed from ``original``, the left transcript before differences were settled.
    """
    first, second = file_words(left.utterances), file_words(right.utterances)
    pairs = _pairs(first, second, align_verbatim(first, second).to_hypothesis.tolist())
    return {
        "rows": [_row(left.utterances, right.utterances, a, b) for a, b in pairs],
        "names": [transcript.header("@Transcriber") or "" for transcript in (left, right)],
        **agreement_of(original or left, right),
    }


def agreement_of(left: Transcript, right: Transcript) -> dict[str, Any]:
    """Return the agreement of two transcripts by word, with Cohen's kappa, and by class of disfluency."""
    first, second = file_words(left.utterances), file_words(right.utterances)
    alignment = align_verbatim(first, second)
    words = RaterAgreement(alignment.errors.hits, len(first.words), len(second.words))
    scores = score_disfluencies(first, second, alignment).by_class
    classes = {
        kind.value: RaterAgreement(score.true_positives, score.reference_events, score.hypothesis_events)
        for kind, score in scores.items()
    }
    kappa = kappa_by_word(first, second, alignment)
    return {
        "words": {**_as_dict(words), "kappa": kappa and round(kappa, 3)} if words.share is not None else None,
        "classes": {kind: _as_dict(own) for kind, own in classes.items() if own.left + own.right},
    }


def _as_dict(result: RaterAgreement) -> dict[str, Any]:
    share, interval = result.share, result.interval
    return {
        "left": result.left,
        "right": result.right,
        "agreement": None if share is None else round(share, 4),
        "interval": [round(end, 4) for end in interval] if interval else None,
    }


def _pairs(first: FileWords, second: FileWords, partners: list[int]) -> list[tuple[int | None, int | None]]:
    """Pair each utterance with the one that has most of its words; the others stand alone, in order."""
    votes: dict[int, dict[int, int]] = {}
    for word, partner in enumerate(partners):
        if partner != UNALIGNED:
            own, other = int(first.utterance_of[word]), int(second.utterance_of[partner])
            votes.setdefault(own, {}).setdefault(other, 0)
            votes[own][other] += 1
    pairs: list[tuple[int | None, int | None]] = []
    at = 0
    for number in range(len(first.utterances)):
        best = max(votes.get(number, {}).items(), key=lambda vote: vote[1], default=None)
        if best is None or best[0] < at:
            pairs.append((number, None))
            continue
        pairs += [(None, other) for other in range(at, best[0])]
        pairs.append((number, best[0]))
        at = best[0] + 1
    return [*pairs, *((None, other) for other in range(at, len(second.utterances)))]


def _row(left: list[Utterance], right: list[Utterance], a: int | None, b: int | None) -> dict[str, Any]:
    first, second = left[a] if a is not None else None, right[b] if b is not None else None
    words = [side.text.split() if side else [] for side in (first, second)]
    differs = SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes()
    changed = [[part[1:3], part[3:5]] for part in differs if part[0] != "equal"]
    return {
        "left": a,
        "right": b,
        "words": words,
        "changed": changed,
        "speakers": [side.speaker if side else None for side in (first, second)],
        "start_ms": next((side.span.start_ms for side in (first, second) if side and side.span), None),
    }
