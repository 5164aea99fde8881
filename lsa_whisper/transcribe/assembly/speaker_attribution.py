"""Utterances -> utterances whose speakers are those whose turns they fall into, cut where the turn clearly changes."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from lsa_whisper import chat
from lsa_whisper.chat import Participant, Utterance, compose, utterance
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcribe.assembly.speaker_turns import SpeakerTurns

_NEAR_MS = 500  # diarizers are that wrong about where a turn begins; beyond it a gap is a gap
_CLEAR_MS = 400  # a shorter stretch of words in another's turn is a border that lies a word too early or too late
_CODE = "PAR"


class SpeakerLookup:
    """Answers who speaks in a span."""

    def __init__(self, turns: SpeakerTurns, default: str):
        """Ask ``turns``; where nobody has one within half a second, the code ``default`` speaks."""
        self._turns, self._default = turns.spans, default
        self._latest_ends = list(accumulate((span.end_ms for _, span in turns.spans), max))

    def who(self, span: TimeSpan) -> str | None:
        """Return the code that speaks longest in a span; of two the one who began, ``None`` where nobody does."""
        shared: dict[str, int] = defaultdict(int)
        for code, turn in self._around(span):
            shared[code] += max(0, min(turn.end_ms, span.end_ms) - max(turn.start_ms, span.start_ms))
        heard = {code: length_ms for code, length_ms in shared.items() if length_ms}
        return max(heard, key=heard.__getitem__) if heard else None

    def near(self, span: TimeSpan) -> str:
        """Return who speaks in a span, or nearest to it."""
        if found := self.who(span):
            return found
        wide = TimeSpan(span.start_ms - _NEAR_MS, span.end_ms + _NEAR_MS)
        distances = [
            (max(turn.start_ms - span.end_ms, span.start_ms - turn.end_ms), code) for code, turn in self._around(wide)
        ]
        return min((each for each in distances if each[0] <= _NEAR_MS), default=(0, self._default))[1]

    def _around(self, span: TimeSpan) -> Sequence[tuple[str, TimeSpan]]:
        # Turns are in order of their begin; those before the first whose running end reaches the span are over.
        first = bisect_left(self._latest_ends, span.start_ms)
        last = bisect_left(self._turns, span.end_ms, key=lambda one: one[1].start_ms)
        return self._turns[first:last]


def attribute_speakers(draft: Utterance, speakers: SpeakerLookup) -> list[Utterance]:
    """Return the utterance under its speaker's code; in parts where the words' times show that the turn changes.

    Args:
        draft: with its time, and the times of its words where it may be cut.
        speakers: who speaks when.
    """
    if draft.span is None:
        return [draft]
    times = word_spans(draft)
    runs = _runs(times, speakers)
    parts = [draft]
    for at, _ in runs[:0:-1]:  # from the last cut to the first, so that counts of words stay true
        if cut := _cut(parts[0], times, at):
            parts[:1] = cut
            times = times[:at]
    return [_named(part, speakers.near(part.span or draft.span)) for part in parts]


def word_spans(draft: Utterance) -> list[TimeSpan | None]:
    """Return the time of each word of ``verbatim()``, ``None`` where ``%wor`` has none.

    >>> word_spans(utterance("PAR", "I see .", TimeSpan(0, 900), [("see", TimeSpan(300, 900))]))
    [None, TimeSpan(start_ms=300, end_ms=900)]
    """
    known = list(draft.word_times)
    return [known.pop(0)[1] if known and known[0][0] == word else None for word in draft.verbatim()]


def _runs(times: Sequence[TimeSpan | None], speakers: SpeakerLookup) -> list[tuple[int, str]]:
    """Return the index of each word at which another speaker clearly goes on, the first word's among them."""
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
        if end_ms - start_ms >= _CLEAR_MS and (not clear or clear[-1][1] != code):
            clear.append((at, code))
    return clear


def _cut(whole: Utterance, times: Sequence[TimeSpan | None], at: int) -> list[Utterance] | None:
    """Return an utterance in two, the second beginning with the word ``at``; ``None`` where marks hold it together.

    A cut must not lose a word or a disfluency, and both parts must be CHAT: nothing is cut out of ``<I want> [/]``.
    """
    begin, span = times[at], whole.span
    if begin is None or span is None:
        return None
    before = [each.end_ms for each in times[:at] if each]
    cut_ms = min(max(begin.start_ms, span.start_ms + 1), span.end_ms - 1)
    first_span = TimeSpan(span.start_ms, max(span.start_ms + 1, min([cut_ms, *before[-1:]])))
    text = whole.text
    for place in (index for index, character in enumerate(text) if character == " "):
        first, second = utterance(_CODE, f"{text[:place]} ."), utterance(_CODE, text[place:])
        if len(first.verbatim()) == at and _nothing_lost(whole, first, second):
            known = whole.word_times
            count = sum(each is not None for each in times[:at])
            return [
                utterance(whole.speaker, first.text, first_span, known[:count]),
                utterance(whole.speaker, second.text, TimeSpan(cut_ms, span.end_ms), known[count:]),
            ]
    return None


def _nothing_lost(whole: Utterance, first: Utterance, second: Utterance) -> bool:
    if first.verbatim() + second.verbatim() != whole.verbatim():
        return False
    if len(first.events()) + len(second.events()) != len(whole.events()):
        return False
    people = [Participant(_CODE, "Participant")]
    return not chat.check(compose(languages=["eng"], participants=people, utterances=[first, second]))


def _named(part: Utterance, speaker: str) -> Utterance:
    return utterance(speaker, part.text, part.span, part.word_times)
