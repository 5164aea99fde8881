"""Where utterances stand in time, and who speaks them.

Bullets start in order, lie inside the recording and never overlap. Speaker turns are assigned to utterances, which are
split where the turn clearly changes. For models that write no timestamps, segments are divided at the pauses that end
utterances.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from lsa_whisper import chat
from lsa_whisper.chat import Participant, Utterance, compose, utterance
from lsa_whisper.decoding.decoder import DecodedSegment
from lsa_whisper.decoding.word_times import fit_words
from lsa_whisper.labels.segments import runs_between_pauses
from lsa_whisper.labels.token_words import begins_word
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns


def place_utterances(drafts: Sequence[Utterance], duration_ms: int) -> list[Utterance]:
    """Return utterances whose bullets start in order, do not overlap within a speaker, and end in the recording.

    Words are always kept; an utterance without room loses its bullet. ``%wor`` moves with its utterance.

    >>> close = [utterance("PAR", "a .", TimeSpan(0, 900)), utterance("PAR", "b .", TimeSpan(800, 1200))]
    >>> [u.span for u in place_utterances(close, 1000)]
    [TimeSpan(start_ms=0, end_ms=900), TimeSpan(start_ms=900, end_ms=1000)]
    """
    spans = _pull_back(_push_on(drafts), drafts, duration_ms)
    return [
        utterance(draft.speaker, draft.text, span, fit_words(draft.word_times, span) if span else None)
        for draft, span in zip(drafts, spans, strict=True)
    ]


def _push_on(drafts: Sequence[Utterance]) -> list[TimeSpan]:
    """Return spans that start no earlier than the previous span, and than the end of the speaker's previous one."""
    spans: list[TimeSpan] = []
    free: dict[str, int] = {}
    latest = 0
    for draft in drafts:
        span = draft.span or TimeSpan(latest, latest)
        start = max(span.start_ms, latest, free.get(draft.speaker, 0))
        spans.append(TimeSpan(start, max(span.end_ms, start + 1)))
        latest, free[draft.speaker] = start, spans[-1].end_ms
    return spans


def _pull_back(spans: Sequence[TimeSpan], drafts: Sequence[Utterance], duration_ms: int) -> list[TimeSpan | None]:
    """Return spans that end inside the recording; earlier ones are shortened in favor of later ones."""
    places: list[TimeSpan | None] = []
    starts: dict[str, int] = {}
    next_start = duration_ms
    for span, draft in zip(reversed(spans), reversed(drafts), strict=True):
        end = min(span.end_ms, starts.get(draft.speaker, duration_ms))
        start = min(span.start_ms, end - 1, next_start)
        if start < 0:
            places.append(None)
            continue
        places.append(TimeSpan(start, end))
        next_start = starts[draft.speaker] = start
    return places[::-1]


_TOLERANCE_MS = 500  # typical error of a diarizer at the start of a turn
_MIN_RUN_MS = 400  # fewer words in another turn are an inexact turn boundary
_CODE = "PAR"


class SpeakerLookup:
    """Finds the speaker of a span."""

    def __init__(self, turns: SpeakerTurns, default: str):
        """Use ``turns``; without a turn within half a second, the speaker is ``default``."""
        self._turns, self._default = turns.spans, default
        self._latest_ends = list(accumulate((span.end_ms for _, span in turns.spans), max))

    def who(self, span: TimeSpan) -> str | None:
        """Return the speaker with the longest overlap (the earlier one if equal), or ``None`` without overlap."""
        shares: dict[str, int] = defaultdict(int)
        for code, turn in self._around(span):
            shares[code] += max(0, min(turn.end_ms, span.end_ms) - max(turn.start_ms, span.start_ms))
        overlaps = {code: length_ms for code, length_ms in shares.items() if length_ms}
        return max(overlaps, key=overlaps.__getitem__) if overlaps else None

    def near(self, span: TimeSpan) -> str:
        """Return the speaker in a span, or the nearest one."""
        if speaker := self.who(span):
            return speaker
        wide = TimeSpan(span.start_ms - _TOLERANCE_MS, span.end_ms + _TOLERANCE_MS)
        distances = [
            (max(turn.start_ms - span.end_ms, span.start_ms - turn.end_ms), code) for code, turn in self._around(wide)
        ]
        return min((pair for pair in distances if pair[0] <= _TOLERANCE_MS), default=(0, self._default))[1]

    def _around(self, span: TimeSpan) -> Sequence[tuple[str, TimeSpan]]:
        # Turns are sorted by start; those before the first whose running maximum end reaches the span have ended.
        first = bisect_left(self._latest_ends, span.start_ms)
        last = bisect_left(self._turns, span.end_ms, key=lambda turn: turn[1].start_ms)
        return self._turns[first:last]


def attribute_speakers(draft: Utterance, speakers: SpeakerLookup) -> list[Utterance]:
    """Return the utterance with its speaker, split where the word times show a change of turn.

    It can only be split if it has word times.
    """
    if draft.span is None:
        return [draft]
    times = draft.word_spans()
    runs = _runs(times, speakers)
    parts = [draft]
    for at, _ in runs[:0:-1]:  # from the last cut to the first, so that word indices stay valid
        if cut := _cut(parts[0], times, at):
            parts[:1] = cut
            times = times[:at]
    return [utterance(speakers.near(part.span or draft.span), part.text, part.span, part.word_times) for part in parts]


def _runs(times: Sequence[TimeSpan | None], speakers: SpeakerLookup) -> list[tuple[int, str]]:
    """Return the word indices at which another speaker clearly continues, including the first word."""
    runs: list[tuple[int, str, int, int]] = []
    for at, span in enumerate(times):
        if span is None or not (code := speakers.who(span)):
            continue
        if runs and runs[-1][1] == code:
            runs[-1] = (*runs[-1][:3], span.end_ms)
        else:
            runs.append((at, code, span.start_ms, span.end_ms))
    clear: list[tuple[int, str]] = []
    for at, code, start_ms, end_ms in runs:
        if end_ms - start_ms >= _MIN_RUN_MS and (not clear or clear[-1][1] != code):
            clear.append((at, code))
    return clear


def _cut(original: Utterance, times: Sequence[TimeSpan | None], at: int) -> list[Utterance] | None:
    """Return an utterance split before the word ``at``, or ``None`` if its marks do not allow that.

    Both parts must be valid CHAT with all words and disfluencies: ``<I want> [/]`` is never split.
    """
    begin, span = times[at], original.span
    if begin is None or span is None:
        return None
    before = [time.end_ms for time in times[:at] if time]
    cut_ms = min(max(begin.start_ms, span.start_ms + 1), span.end_ms - 1)
    first_span = TimeSpan(span.start_ms, max(span.start_ms + 1, min([cut_ms, *before[-1:]])))
    text = original.text
    for place in (index for index, character in enumerate(text) if character == " "):
        first, second = utterance(_CODE, f"{text[:place]} ."), utterance(_CODE, text[place:])
        if len(first.verbatim()) == at and _nothing_lost(original, first, second):
            words = original.word_times
            count = sum(time is not None for time in times[:at])
            return [
                utterance(original.speaker, first.text, first_span, words[:count]),
                utterance(original.speaker, second.text, TimeSpan(cut_ms, span.end_ms), words[count:]),
            ]
    return None


def _nothing_lost(original: Utterance, first: Utterance, second: Utterance) -> bool:
    if first.verbatim() + second.verbatim() != original.verbatim():
        return False
    if len(first.events()) + len(second.events()) != len(original.events()):
        return False
    people = [Participant(_CODE, "Participant")]
    return not chat.check(compose(languages=["eng"], participants=people, utterances=[first, second]))


_PLAIN = frozenset(" .,?!'-")


def between_pauses(segment: DecodedSegment, language: str) -> list[DecodedSegment]:
    """Return the parts of a segment between pauses that end an utterance; all of it if token times are not known.

    Behind a sign of the labels, such as one of a retrace, nothing is divided: it joins the words on both sides.
    ``language`` is ISO 639-3.
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
    part = segment.with_tokens(range(first, last))
    mean = sum(logprob for _, logprob in part.logprobs) / max(1, len(part.logprobs))
    return replace(part, start_s=part.timed[0].start_s, end_s=part.timed[-1].end_s, avg_logprob=mean)
