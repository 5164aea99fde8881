"""What a person should look at: utterances that were not found or are uncertain, and words that differ from the sound.

Nothing is invented: an utterance that the model neither recognized nor finds probable gets no time. What "probable"
means depends on the model, so an utterance is compared with the median utterance of its transcript.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lsa_whisper.chat import Utterance
from lsa_whisper.scoring.align import UNALIGNED
from lsa_whisper.system.table import add_rows
from lsa_whisper.timespan import TimeSpan

if TYPE_CHECKING:
    from lsa_whisper.align.aligner import AlignedText, AlignedWord


NOT_FOUND_BELOW = 5.0
"""An utterance is not found if its words are this much less probable (natural logarithm per word) than the median."""
UNCERTAIN_BELOW = 2.5
_WRONG_BELOW = 3.0
_MIN_WORD_MS = 60

DOUBT_COLUMNS = ("file", "line", "start_ms", "end_ms", "speaker", "problem", "text", "recognized", "utterance")


@dataclass(frozen=True)
class Doubt:
    """One row of the review table.

    Attributes:
        line: Line of the transcript.
        span: Where to listen; ``None`` if nothing was found there.
        speaker: Code of the speaker.
        problem: ``not found``, ``uncertain``, ``wrong word``, ``not spoken``, ``missing word`` or ``no words``.
        text: The words of the transcript that it is about.
        recognized: What the model recognized in their place.
        utterance: The main tier.
    """

    line: int
    span: TimeSpan | None
    speaker: str
    problem: str
    text: str
    recognized: str
    utterance: str


@dataclass(frozen=True)
class TimedUtterance:
    """An utterance's time and the times of its words; no time if it was not found."""

    span: TimeSpan | None
    words: tuple[AlignedWord, ...] = ()


def judge(utterances: Sequence[Utterance], aligned: AlignedText) -> tuple[list[TimedUtterance], list[Doubt]]:
    """Return the time of each utterance and what is doubtful, in the order of the transcript."""
    indices: list[list[int]] = [[] for _ in utterances]
    for index, word in enumerate(aligned.words):
        indices[word.utterance].append(index)
    scores = [_score(own, aligned) for own in indices]
    values = [score for score in scores if score is not None]
    usual = float(np.median(values)) if values else 0.0
    timed: list[TimedUtterance] = []
    doubts: list[Doubt] = []
    for utterance, own, score in zip(utterances, indices, scores, strict=True):
        words = tuple(aligned.by_word[index] for index in own if index in aligned.by_word)
        problem = _problem(own, words, score, usual, aligned)
        if problem in ("not found", "no words"):
            words = ()
        span = TimeSpan(words[0].span.start_ms, max(word.span.end_ms for word in words)) if words else None
        timed.append(TimedUtterance(span, words))
        if problem:
            doubts.append(
                Doubt(utterance.line or 0, span or utterance.span, utterance.speaker, problem, "", "", utterance.text)
            )
    doubts += _word_doubts(utterances, aligned, timed, usual)
    return timed, sorted(doubts, key=lambda doubt: (doubt.line, doubt.span.start_ms if doubt.span else -1))


def _score(own: Sequence[int], aligned: AlignedText) -> float | None:
    logprobs = [aligned.by_word[index].logprob for index in own if index in aligned.by_word]
    return float(np.mean(logprobs)) if logprobs else None


def _problem(
    own: Sequence[int], words: Sequence[AlignedWord], score: float | None, usual: float, aligned: AlignedText
) -> str:
    if not own:
        return "no words"
    equal = sum(aligned.matches.recognized_at(index, aligned.words, aligned.decoded) >= 0 for index in own)
    below = NOT_FOUND_BELOW if aligned.matches.recognizes_most else 2 * NOT_FOUND_BELOW
    if score is None or (score < usual - below and not equal):
        return "not found"
    too_short = sum(word.span.duration_ms for word in words) < _MIN_WORD_MS * len(own)
    if len(words) < len(own) or too_short or (score < usual - UNCERTAIN_BELOW and 2 * equal < len(own)):
        return "uncertain"
    return ""


def _word_doubts(
    utterances: Sequence[Utterance], aligned: AlignedText, timed: Sequence[TimedUtterance], usual: float
) -> Iterator[Doubt]:
    """Yield the words that differ from the recognized ones between two words that do not."""
    alignment = aligned.matches.alignment
    columns = list(zip(alignment, alignment.equal.tolist(), strict=True))
    anchors = [-1, *(at for at, (_, equal) in enumerate(columns) if equal), len(columns)]
    for before, after in pairwise(anchors):
        between = [pair for pair, _ in columns[before + 1 : after]]
        if not between or len(between) > 4 or before < 0 or after == len(columns):
            continue
        words = [word for word, _ in between if word != UNALIGNED]
        decoded = [aligned.decoded[at] for _, at in between if at != UNALIGNED]
        recognized = " ".join(word.text for word in decoded)
        if not words:
            utterance = utterances[aligned.words[columns[before][0][0]].utterance]
            span = TimeSpan(decoded[0].span.start_ms, decoded[-1].span.end_ms)
            yield Doubt(utterance.line or 0, span, utterance.speaker, "missing word", "", recognized, utterance.text)
        for index in words:
            word, own = aligned.words[index], aligned.by_word.get(index)
            if timed[word.utterance].span is None or (own and own.logprob > usual - _WRONG_BELOW):
                continue
            if not decoded and word.disfluent:  # a model of fluent text leaves it out
                continue
            utterance, at = utterances[word.utterance], own.span if own else None
            problem = "wrong word" if decoded else "not spoken"
            yield Doubt(utterance.line or 0, at, utterance.speaker, problem, word.text, recognized, utterance.text)


def write_doubts(rows: Sequence[tuple[str, Doubt]], path: Path) -> None:
    """Add ``(file, doubt)`` rows to the table at ``path``; those of earlier calls stay.

    Raises:
        LsaWhisperError: The file is another table, or cannot be written.
    """
    add_rows(path, DOUBT_COLUMNS, [_row(file, doubt) for file, doubt in rows])


def _row(file: str, doubt: Doubt) -> list[object]:
    span = (doubt.span.start_ms, doubt.span.end_ms) if doubt.span else ("", "")
    return [file, doubt.line, *span, doubt.speaker, doubt.problem, doubt.text, doubt.recognized, doubt.utterance]


MIN_RECOGNIZED = 0.1
"""Share of the words of a transcript, recognized beside another of its words, below which it may be one of another
recording: single words are found in any. Of five real recordings, whisper-base recognized 23 to 90 % of their own
transcripts so, and at most 5 % of another one's."""
MIN_WORDS = 10
"""Fewer words without a bullet prove nothing. Nor does a text of less than five times as many, if fewer words than this
are heard: of overlapped speech, few are."""


def is_misfit(utterances: Sequence[Utterance], aligned: AlignedText) -> bool:
    """Return whether a transcript may be one of another recording: hardly a word without a bullet was recognized."""
    equal = np.pad(aligned.matches.alignment.equal, 1)
    recognized = int((equal[1:-1] & (equal[:-2] | equal[2:])).sum())
    sought = sum(utterances[word.utterance].span is None for word in aligned.words)
    enough = sought >= MIN_WORDS and (len(aligned.decoded) >= MIN_WORDS or sought >= 5 * MIN_WORDS)
    return enough and recognized < MIN_RECOGNIZED * sought
