"""Speaker-attributed word error rates: cpWER and tcpWER, by meeteval (the ``speakers`` extra).

Conventions:

- Words are those of the verbatim word error rate; ``xxx`` is left out on both sides, because meeteval has no wildcards.
- cpWER (concatenated minimum permutation): the words of each speaker are concatenated, and hypothesis speakers are
  assigned to reference speakers so that the number of errors is smallest. Speaker codes do not matter.
- ORC-WER (optimal reference combination): each utterance of the reference is assigned to the hypothesis speaker whose
  words it fits best, so that wrong speakers do not count. Files of more than :data:`MAX_ORC_STREAMS` hypothesis
  speakers have none, because the time it takes grows with the power of their number.
- tcpWER: the same as cpWER, but words may only be paired within :data:`COLLAR_S` of each other. Word times are
  meeteval's estimate from the utterance's. Files with an utterance without times have no tcpWER.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsa_whisper.chat import Utterance
from lsa_whisper.chat.codes import UNTRANSCRIBED
from lsa_whisper.errors import MissingExtraError
from lsa_whisper.scoring.counts import Additive, ratio
from lsa_whisper.scoring.normalize import normalize

MAX_ORC_STREAMS = 3
_UNSORTED = {"reference_sort": False, "hypothesis_sort": False}
COLLAR_S = 5.0
"""The collar of meeteval's documentation and the CHiME challenges."""


@dataclass(frozen=True, slots=True)
class SpeakerErrors(Additive):
    """Word errors, including those of words attributed to the wrong speaker."""

    cp_errors: int = 0
    cp_words: int = 0
    tcp_errors: int = 0
    tcp_words: int = 0
    orc_errors: int = 0
    orc_words: int = 0

    @property
    def cp(self) -> float | None:
        """CpWER; ``None`` without reference words."""
        return ratio(self.cp_errors, self.cp_words)

    @property
    def orc(self) -> float | None:
        """ORC-WER; ``None`` without reference words."""
        return ratio(self.orc_errors, self.orc_words)

    @property
    def tcp(self) -> float | None:
        """TcpWER; ``None`` without reference words that have times."""
        return ratio(self.tcp_errors, self.tcp_words)


def speaker_errors(reference: Sequence[Utterance], hypothesis: Sequence[Utterance]) -> SpeakerErrors:
    """Return the errors of one file."""
    wer = require_meeteval()
    expected, actual = _segments(reference), _segments(hypothesis)
    count = sum(len(segment["words"].split()) for segment in expected)
    if not expected or not actual:  # meeteval requires words on both sides
        errors = sum(len(segment["words"].split()) for segment in (*expected, *actual))
        return SpeakerErrors(errors, count, errors, count, errors, count)
    cp = wer.cp_word_error_rate(_streams(expected), _streams(actual), **_UNSORTED)
    orc = _orc(wer, expected, _streams(actual))
    if any(segment["start_time"] is None for segment in (*expected, *actual)):
        return SpeakerErrors(cp.errors, cp.length, 0, 0, *orc)
    tcp = wer.time_constrained_minimum_permutation_word_error_rate(
        expected,
        actual,
        reference_pseudo_word_level_timing="character_based",
        hypothesis_pseudo_word_level_timing="character_based_points",
        collar=COLLAR_S,
    )
    return SpeakerErrors(cp.errors, cp.length, tcp.errors, tcp.length, *orc)


def _orc(wer: Any, reference: Sequence[dict[str, Any]], streams: dict[str, str]) -> tuple[int, int]:
    if len(streams) > MAX_ORC_STREAMS:
        return 0, 0
    rate = wer.orc_word_error_rate([segment["words"] for segment in reference], list(streams.values()), **_UNSORTED)
    return int(rate.errors), int(rate.length)


def _segments(utterances: Sequence[Utterance]) -> list[dict[str, Any]]:
    """Return the utterances with words as meeteval's segments, in order of time where all have times."""
    segments: list[dict[str, Any]] = []
    for utterance in utterances:
        words = [word for word in normalize(utterance.verbatim()) if word not in UNTRANSCRIBED]
        if words:
            span = utterance.span
            times = (None, None) if span is None else (span.start_ms / 1000, span.end_ms / 1000)
            facts = {"session_id": "file", "speaker": utterance.speaker, "words": " ".join(words)}
            segments.append({**facts, "start_time": times[0], "end_time": times[1]})
    if all(segment["start_time"] is not None for segment in segments):
        segments.sort(key=lambda segment: segment["start_time"])
    return segments


def _streams(segments: Sequence[dict[str, Any]]) -> dict[str, str]:
    streams: dict[str, list[str]] = {}
    for segment in segments:
        streams.setdefault(segment["speaker"], []).append(segment["words"])
    return {speaker: " ".join(words) for speaker, words in streams.items()}


def require_meeteval() -> Any:
    """Return meeteval's module of word error rates.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        from meeteval import wer
    except ImportError:
        raise MissingExtraError("`speaker_errors=True`", "meeteval", "speakers") from None
    return wer
