"""Decode the speech inside a window that the model skipped.

Where a speaker says something twice, a model may jump from the first time to the second: of "I still think it's, I
think this is" only the end is written, with a high probability. The text shows nothing of it, but the times of its
words do: between two of them lies speech that no word covers. Such speech is decoded as a window of its own, and the
words whose middle lies in it are added to the text, if the model is as sure of them as of the rest. A model that omits
disfluencies is surer of its text than of what it would write for these.

A model without timestamps may also leave out a whole passage, or all that follows it, and be sure of the rest. So much
speech is searched by default, and what is found there need only be nearly right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from lsa_whisper.audio.speech_energy import FRAME_S, silence_of
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.text_limits import NEARLY_RIGHT_LOGPROB
from lsa_whisper.labels import in_speaker_code
from lsa_whisper.labels.canonical import LABEL_TERMINATORS
from lsa_whisper.transcription.long_form.repair import Accepted, Parts, Sound, WindowPart
from lsa_whisper.transcription.long_form.repetition import min_speaking_s, speech_between_s
from lsa_whisper.transcription.long_form.timed_words import PlacedWord, timed_words
from lsa_whisper.transcription.long_form.unspoken import DOUBTFUL_NO_SPEECH

_MIN_SPEECH_S = 0.8
"""Less speech between two words may be the error of their times, and what is found in it is often there already."""
_PASSAGE_S = 2.5
"""Speech without words that is taken for a passage. In half an hour of real English (meetings, children, an interview;
whisper-base, int8), two windows have so much although the model is sure of them, and nothing is found. Of 48 recordings
in which a phrase returns (``benchmarks/true_repetitions.py``), eleven lack all its copies, three of them the sentence
that follows, too; four of the eleven get them back, and all three the sentence."""
_SURE_LOGPROB = -0.4
"""Mean log-probability of a window below which its speech is hard to understand. In the same half hour, less sure
windows have 22 more such passages, where the model writes "Okay." or an improbable sentence."""
_MARGIN_S = 0.1
_TOLERANCE_S = 0.05
"""Error of the time of a word that is found."""


_EDGE = PlacedWord(-1, 0, 0, 0.0, 0.0)
"""The start of a window."""


@dataclass(frozen=True, kw_only=True)
class Gap(WindowPart):
    """Speech between two words of a window, or between a word and an edge; its sound has a margin on both sides."""

    before: PlacedWord
    after: PlacedWord


def find_gaps(result: DecodedWindow, sound: Sound) -> Sequence[Gap]:
    """Return where much speech of a window is without words; nothing without token times."""
    return _gaps(result, sound, _MIN_SPEECH_S)


def accept_gaps(result: DecodedWindow, _: Sound, parts: Parts[Gap]) -> Accepted[Gap]:
    """Return the window with the words of its gaps."""
    return _filled(result, parts, max(NEARLY_RIGHT_LOGPROB, result.avg_logprob)), ()


def find_passages(result: DecodedWindow, sound: Sound) -> Sequence[Gap]:
    """Return where a window without timestamps lacks a passage, although the model is sure of the rest."""
    if result.avg_logprob < _SURE_LOGPROB or not result.segments or any(each.closed for each in result.segments):
        return ()
    words = [word for segment in result.segments for word in timed_words(segment)]
    if sum(word.end_s - word.start_s for word in words) < min_speaking_s(result.text):
        return ()  # the times are wrong: the words may well be those of the speech that seems to have none
    return _gaps(result, sound, _PASSAGE_S)


def accept_passages(result: DecodedWindow, _: Sound, parts: Parts[Gap]) -> Accepted[Gap]:
    """Return the window with the passages that are nearly right, complete, in its language, and surely speech."""
    sure = [
        (gap, passage)
        for gap, passage in parts
        if passage.complete and passage.language == result.language and passage.no_speech_prob <= DOUBTFUL_NO_SPEECH
    ]
    return _filled(result, sure, NEARLY_RIGHT_LOGPROB), ()


def _gaps(result: DecodedWindow, sound: Sound, min_speech_s: float) -> Sequence[Gap]:
    if result.silent or not any(segment.timed for segment in result.segments):
        return ()
    length_s, gaps = sound.duration_s, []
    words = chain.from_iterable(timed_words(segment, number) for number, segment in enumerate(result.segments))
    for before, after in pairwise((_EDGE, *words, PlacedWord(len(result.segments), 0, 0, length_s, length_s))):
        start_s, end_s = before.end_s, after.start_s
        if speech_between_s(sound.speech or (), start_s, end_s) < min_speech_s:
            continue
        # A detector of speech does not leave out short pauses.
        silence = silence_of(sound.samples, sound.rate_hz)[round(start_s / FRAME_S) : round(end_s / FRAME_S)]
        if float((1 - silence).sum() * FRAME_S) >= _MIN_SPEECH_S:
            first_s, last_s = max(0.0, start_s - _MARGIN_S), min(length_s, end_s + _MARGIN_S)
            gaps.append(Gap(first_s, last_s, before=before, after=after))
    return gaps


def _filled(result: DecodedWindow, parts: Parts[Gap], least_logprob: float) -> DecodedWindow:
    # The last gap comes first, so that the places of the others stay as they are.
    for gap, window in reversed(parts):
        if segments := _words_in(gap, window, least_logprob):
            result = replace(result, segments=_with_added(result.segments, gap, segments))
    return result


def without_token_times(result: DecodedWindow) -> DecodedWindow:
    """Return a window without the times of its tokens."""
    return replace(result, segments=tuple(replace(segment, timed=()) for segment in result.segments))


def _words_in(gap: Gap, window: DecodedWindow, least_logprob: float) -> list[DecodedSegment]:
    """Return what was decoded in a gap, the words alone whose middle lies in it; nothing if it is less probable."""
    if window.truncated or window.avg_logprob < least_logprob:
        return []
    earliest_s, latest_s = gap.before.end_s - _TOLERANCE_S, gap.after.start_s + _TOLERANCE_S
    parts = []
    for segment in (part.shifted(gap.start_s) for part in window.segments if part.timed):
        inside = [word for word in timed_words(segment) if earliest_s <= (word.start_s + word.end_s) / 2 <= latest_s]
        if inside and segment.avg_logprob >= NEARLY_RIGHT_LOGPROB:
            start_s = max(segment.start_s, gap.before.end_s)
            end_s = max(start_s, min(segment.end_s, gap.after.start_s))
            tokens = [at for word in inside for at in range(word.first, word.end)]
            parts.append(replace(segment.with_tokens(tokens), start_s=start_s, end_s=end_s))
    return parts


def _with_added(
    segments: Sequence[DecodedSegment], gap: Gap, added: Sequence[DecodedSegment]
) -> tuple[DecodedSegment, ...]:
    """Return the segments of a window with those of a gap: between two of them, or as a part of the one around it."""
    left, right = gap.before.segment, gap.after.segment
    if left < right:
        before, after = list(segments[: left + 1]), list(segments[right:])
        if before:
            before[-1] = replace(before[-1], end_s=min(before[-1].end_s, added[0].start_s))
        if after:
            after[0] = replace(after[0], start_s=max(after[0].start_s, added[-1].end_s))
        return (*before, *added, *after)
    whole, cut = segments[left], gap.after.first
    parts = [
        whole.with_tokens(range(cut)),
        *map(_unframed, added),
        whole.with_tokens(range(cut, len(whole.timed))),
    ]
    timed = tuple(token for part in parts for token in part.timed)
    text = "".join(token.text for token in timed).strip()
    # The log-probabilities of an engine that has none for some part are left out.
    logprobs = tuple(pair for part in parts for pair in part.logprobs) if all(part.logprobs for part in parts) else ()
    return (*segments[:left], replace(whole, text=text, timed=timed, logprobs=logprobs), *segments[left + 1 :])


def _unframed(segment: DecodedSegment) -> DecodedSegment:
    """Return a segment as the part of another one: without a speaker code, and without the end of its utterance."""
    texts = [token.text for token in segment.timed]
    indices = [at for at, is_code in enumerate(in_speaker_code(texts)) if not is_code]
    while indices and texts[indices[-1]].strip() in LABEL_TERMINATORS:
        indices.pop()
    return segment.with_tokens(indices)
