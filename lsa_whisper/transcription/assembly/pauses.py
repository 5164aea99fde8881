"""The parts of a segment between the pauses that end utterances, for models that write no timestamps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from lsa_whisper.decoding.decoder import DecodedSegment
from lsa_whisper.labels.segments import runs_between_pauses
from lsa_whisper.labels.token_words import begins_word
from lsa_whisper.timespan import TimeSpan

_PLAIN = frozenset(" .,?!'-")


def between_pauses(segment: DecodedSegment, language: str) -> list[DecodedSegment]:
    """Return the parts of a segment between pauses that end an utterance; all of it if token times are not known.

    Behind a sign of the labels, such as one of a retrace, nothing is divided: it joins the words on both sides.

    Args:
        segment: text whose tokens have times.
        language: ISO 639-3.
    """
    tokens = segment.timed
    starts = [at for at, begins in enumerate(begins_word([token.text for token in tokens])) if begins]
    edges = [0, *starts[1:], len(tokens)] if tokens else []
    words = ["".join(token.text for token in tokens[first:last]).strip() for first, last in pairwise(edges)]
    spans = [
        TimeSpan(round(1000 * tokens[first].start_s), round(1000 * tokens[last - 1].end_s))
        for first, last in pairwise(edges)
    ]
    runs = runs_between_pauses(list(zip(words, spans, strict=True)), language)[1:]
    cuts = [edges[run.start] for run in runs if all(sign.isalnum() or sign in _PLAIN for sign in words[run.start - 1])]
    return [_part(segment, *ends) for ends in pairwise([0, *cuts, len(tokens)])] if cuts else [segment]


def _part(segment: DecodedSegment, first: int, last: int) -> DecodedSegment:
    timed, logprobs = segment.timed[first:last], segment.logprobs[first:last]
    return replace(
        segment,
        text="".join(token.text for token in timed).strip(),
        start_s=timed[0].start_s,
        end_s=timed[-1].end_s,
        avg_logprob=sum(logprob for _, logprob in logprobs) / max(1, len(logprobs)),
        timed=timed,
        logprobs=logprobs,
    )
