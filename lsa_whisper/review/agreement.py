"""Two transcripts of one recording side by side, and the agreement of their transcribers.

Agreement is symmetric: of words, twice the matching words divided by the words of both; of a class of disfluencies,
twice the matching ones divided by those of both (the F1 of one as the reference of the other).
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from lsa_whisper.chat import Transcript, Utterance
from lsa_whisper.scoring.align import UNALIGNED
from lsa_whisper.scoring.disfluency import score_disfluencies
from lsa_whisper.scoring.wer import align_verbatim
from lsa_whisper.scoring.words import FileWords, file_words


def compare_transcripts(left: Transcript, right: Transcript) -> dict[str, Any]:
    """Return pairs of utterances with their differences, and the agreement by word and by class."""
    first, second = file_words(left.utterances), file_words(right.utterances)
    alignment = align_verbatim(first, second)
    hits = alignment.errors.hits
    total = len(first.words) + len(second.words)
    scores = score_disfluencies(first, second, alignment)
    classes = {
        kind.value: {
            "left": found.reference_events,
            "right": found.true_positives + found.false_positives,
            "agreement": round(found.f1, 3) if found.f1 is not None else None,
        }
        for kind, found in scores.by_class.items()
        if found.reference_events + found.false_positives
    }
    pairs = _pairs(first, second, alignment.to_hypothesis.tolist())
    return {
        "rows": [_row(left.utterances, right.utterances, a, b) for a, b in pairs],
        "words": {"left": len(first.words), "right": len(second.words), "agreement": round(2 * hits / total, 4)}
        if total
        else None,
        "classes": classes,
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
        best = max(votes.get(number, {}).items(), key=lambda each: each[1], default=None)
        if best is None or best[0] < at:
            pairs.append((number, None))
            continue
        pairs += [(None, other) for other in range(at, best[0])]
        pairs.append((number, best[0]))
        at = best[0] + 1
    return [*pairs, *((None, other) for other in range(at, len(second.utterances)))]


def _row(left: list[Utterance], right: list[Utterance], a: int | None, b: int | None) -> dict[str, Any]:
    one, other = left[a] if a is not None else None, right[b] if b is not None else None
    words = [each.text.split() if each else [] for each in (one, other)]
    differs = SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes()
    changed = [[part[1:3], part[3:5]] for part in differs if part[0] != "equal"]
    return {
        "left": a,
        "right": b,
        "words": words,
        "changed": changed,
        "speakers": [each.speaker if each else None for each in (one, other)],
        "start_ms": next((each.span.start_ms for each in (one, other) if each and each.span), None),
    }
