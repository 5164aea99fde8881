"""The cleaned text of an utterance: without its disfluencies, for readers, from the same decoding."""

from __future__ import annotations

from itertools import compress

from lsa_whisper.chat import Utterance, utterance
from lsa_whisper.decoding.confidences import WordScores


def cleaned(original: Utterance, scores: WordScores = ()) -> tuple[Utterance, WordScores] | None:
    """Return an utterance without its disfluencies, and the scores of the words that stay; ``None`` if none stays.

    The words that stay keep their times and scores, unless more or fewer words are left than were spoken, as where a
    replacement has several.

    >>> tier, scores = cleaned(utterance("PAR", "&-um I want [/] want it ."), (-2.0, -0.5, -0.1, -0.2, None))
    >>> tier.text, scores
    ('I want it .', (-0.5, -0.2, None))
    """
    words = original.fluent()
    if not words:
        return None
    kept = [not is_disfluent for is_disfluent in original.disfluent()]
    timed, logprobs = [], tuple(compress(scores, kept))
    if sum(kept) == len(words):
        spans = compress(original.word_spans(), kept)
        timed = [(word, span) for word, span in zip(words, spans, strict=True) if span]
    tier = utterance(original.speaker, f"{' '.join(words)} {original.terminator or '.'}", original.span, timed)
    return tier, logprobs if len(logprobs) == len(words) else (None,) * len(words)
