"""Packing of utterances into windows of up to one context, with the original gaps.

Invariant: all speech in a window has its text in the window, and all text has its audio. Overlapping utterances
therefore stay together (an *overlap group*). A rejected utterance rejects its overlap group and ends the window. A
window starts and ends in silence, at most :data:`WINDOW_MARGIN_MS` from its words and never inside a neighbor.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lsa_whisper.checkpoint.whisper_constants import DECODER_POSITIONS, TIMESTAMP_STEP_MS, TIMESTAMP_STEP_S
from lsa_whisper.labels import tokens_at_most
from lsa_whisper.preparation.peak_levels import FRAME_MS, PeakLevels
from lsa_whisper.preparation.screening import OVERLAPS, TOO_LONG, TOO_MUCH_TEXT, Candidate, reject
from lsa_whisper.timespan import TimeSpan

WINDOW_MARGIN_MS = 200
"""Maximum silence before the first and after the last word of a window."""
OVERLAP_MS = 100
"""Neighboring bullets may overlap by this much and still count as consecutive."""
MAX_GAP_MS = 10_000
"""A longer gap ends a window, because it may contain speech that the transcriber left out."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of a recording and its accepted utterances, in order of time.

    ``follows`` is true if the window directly continues the previous one.
    """

    span: TimeSpan
    members: tuple[Candidate, ...]
    follows: bool = False

    def random(self, seed: int, purpose: str) -> random.Random:
        """Return a random generator seeded by the window's content, independent of order and path."""
        return seeded_rng(self.members, seed, purpose)

    def plain(self) -> str:
        """Return the labels joined by spaces."""
        return " ".join(member.text for member in self.members)

    def timestamped(self) -> str | None:
        """Return the labels between Whisper's timestamp tokens, or ``None`` if they would exceed the window.

        Whisper's timestamps never decrease. Utterances that overlap by more than :data:`OVERLAP_MS` have one pair
        of timestamps: with a pair each, nine words of one speaker would be taught to take the fifth of a second until
        the other begins. A smaller overlap is divided in its middle.
        """
        groups = list(_overlap_groups(self.members))
        steps = _steps([_cover(group) for group in groups], self.span)
        if steps is None:
            return None
        texts = (" ".join(member.text for member in group) for group in groups)
        return "".join(
            f"<|{start * TIMESTAMP_STEP_S:.2f}|>{text}<|{end * TIMESTAMP_STEP_S:.2f}|>"
            for (start, end), text in zip(steps, texts, strict=True)
        )


def _steps(spans: Sequence[TimeSpan], window: TimeSpan) -> list[tuple[int, int]] | None:
    """Return start and end of each span in timestamp steps from the window's start, never decreasing.

    >>> _steps([TimeSpan(100, 900), TimeSpan(860, 1500)], TimeSpan(100, 1600))
    [(0, 39), (39, 70)]
    """
    times = [[span.start_ms, span.end_ms] for span in spans]
    for before, after in itertools.pairwise(times):
        if before[1] > after[0]:
            before[1] = after[0] = (before[1] + after[0]) // 2
    steps, earliest = [], 0
    for start_ms, end_ms in times:
        start = max(earliest, round((start_ms - window.start_ms) / TIMESTAMP_STEP_MS))
        earliest = max(start + 1, round((end_ms - window.start_ms) / TIMESTAMP_STEP_MS))
        steps.append((start, earliest))
    return steps if earliest * TIMESTAMP_STEP_MS <= window.duration_ms + TIMESTAMP_STEP_MS // 2 else None


def reject_overlap_groups(candidates: Sequence[Candidate], *, context_ms: int) -> list[Candidate]:
    """Return ``candidates`` with those rejected that overlap rejected speech, or whose overlap group does not fit."""
    checked = []
    for overlap_group in _overlap_groups(candidates):
        if any(candidate.breaks for candidate in overlap_group):
            overlap_group = [reject(candidate, OVERLAPS) for candidate in overlap_group]
        elif _cover(overlap_group).duration_ms > context_ms:
            overlap_group = [reject(candidate, TOO_LONG) for candidate in overlap_group]
        elif (
            sum(tokens_at_most(candidate.text) for candidate in overlap_group if not candidate.reason)
            > DECODER_POSITIONS
        ):
            overlap_group = [reject(candidate, TOO_MUCH_TEXT) for candidate in overlap_group]
        checked.extend(overlap_group)
    return checked


def _overlap_groups(candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """Yield runs of candidates that overlap by more than :data:`OVERLAP_MS`, directly or through others."""
    overlap_group: list[Candidate] = []
    end_ms = 0
    for candidate in candidates:
        # A short utterance inside another one overlaps it by only a few milliseconds, whichever started first.
        overlapped = [
            earlier.span.duration_ms for earlier in overlap_group if earlier.span.end_ms > candidate.span.start_ms
        ]
        allowed = min([OVERLAP_MS, *(duration_ms // 2 for duration_ms in (candidate.span.duration_ms, *overlapped))])
        if overlap_group and end_ms - candidate.span.start_ms <= allowed:
            yield overlap_group
            overlap_group = []
        overlap_group.append(candidate)
        end_ms = max(end_ms, candidate.span.end_ms)
    if overlap_group:
        yield overlap_group


def _cover(overlap_group: Sequence[Candidate]) -> TimeSpan:
    return TimeSpan(overlap_group[0].span.start_ms, max(candidate.span.end_ms for candidate in overlap_group))


def pack(
    candidates: Sequence[Candidate],
    *,
    context_ms: int,
    duration_ms: int,
    one_utterance: bool,
    seed: int,
) -> list[Window]:
    """Return windows over the accepted ``candidates`` of :func:`reject_overlap_groups`, each filled as far as possible.

    With ``one_utterance``, each utterance (or overlap group) is its own window.
    """
    windows: list[Window] = []
    group: list[Candidate] = []
    previous_end = 0
    follows = False

    def close(next_start: int) -> None:
        nonlocal group, previous_end
        if group:
            windows.append(_window(group, TimeSpan(previous_end, next_start), context_ms, seed, follows))
            previous_end, group = _cover(group).end_ms, []

    for overlap_group in _overlap_groups(candidates):
        accepted = [candidate for candidate in overlap_group if candidate.reason is None]
        cover = _cover(overlap_group)
        if any(candidate.breaks for candidate in overlap_group):
            close(cover.start_ms)
            previous_end, follows = max(previous_end, cover.end_ms), False
        elif accepted:
            if group and (one_utterance or not _fits(group, accepted, context_ms)):
                close(cover.start_ms)
                follows = True
            group += accepted
    close(duration_ms)
    return windows


def _fits(group: Sequence[Candidate], overlap_group: Sequence[Candidate], context_ms: int) -> bool:
    group_cover, overlap_cover = _cover(group), _cover(overlap_group)
    if (group_cover | overlap_cover).duration_ms > context_ms:
        return False
    tokens = sum(tokens_at_most(member.text) for member in (*group, *overlap_group))
    return overlap_cover.start_ms - group_cover.end_ms <= MAX_GAP_MS and tokens <= DECODER_POSITIONS


def _window(group: list[Candidate], free: TimeSpan, context_ms: int, seed: int, follows: bool) -> Window:
    """Return the window over ``group``: its words and a margin of silence, within ``free``."""
    cover = _cover(group)
    rng = seeded_rng(group, seed, "margins")
    spare = context_ms - cover.duration_ms
    before = min(max(0, cover.start_ms - free.start_ms), WINDOW_MARGIN_MS, spare)
    lead = round(before * rng.random())
    after = min(max(0, free.end_ms - cover.end_ms), WINDOW_MARGIN_MS, spare - lead)
    trail = round(after * rng.random())
    return Window(TimeSpan(cover.start_ms - lead, cover.end_ms + trail), tuple(group), follows)


def seeded_rng(members: Sequence[Candidate], seed: int, purpose: str) -> random.Random:
    """Return a random generator seeded by the times and texts of ``members``, ``seed`` and ``purpose``."""
    content = "\n".join(f"{member.span.start_ms} {member.span.end_ms} {member.text}" for member in members)
    return random.Random(hashlib.sha256(f"{seed} {purpose}\n{content}".encode()).digest())


MIN_DURATION_MS = 2_000
"""Shorter silences are pauses within speech, which windows with words contain."""
GUARD_MS = 500
"""Distance from each bullet, because speech may start before its bullet and end after it."""
QUIET = 0.1
"""Maximum peak of a silent window relative to the median frame peak of accepted speech: -20 dB."""


def non_speech_windows(
    candidates: Sequence[Candidate],
    windows: Sequence[Window],
    levels: PeakLevels,
    *,
    share: float,
    context_ms: int,
    seed: int,
) -> list[Window]:
    """Return silent windows in order of time: ``share`` of all windows, or fewer if silence is scarce.

    Their text is empty, which trains a model not to hallucinate. Untranscribed audio may still be speech: they are
    taken only between the first and the last utterance, away from all bullets (also of rejected utterances), and where
    the recording is much quieter than its speech.
    """
    rng = seeded_rng([member for window in windows for member in window.members], seed, "non-speech")
    # Random rounding: with a share of 1 %, a session of ten windows gets a silent window one time in ten.
    count = int(len(windows) * share / (1 - share) + rng.random())
    places = _places(candidates, levels, context_ms) if count else []
    chosen = sorted(rng.sample(places, min(count, len(places))))
    return [Window(_within(place, rng, context_ms), ()) for place in chosen]


def _places(candidates: Sequence[Candidate], levels: PeakLevels, context_ms: int) -> list[TimeSpan]:
    """Return spans without speech, none longer than the context."""
    accepted = [levels.peaks_in(candidate.span) for candidate in candidates if candidate.reason is None]
    loud = levels.peaks > QUIET * np.median(np.concatenate(accepted))
    spans = [candidate.span for candidate in candidates]
    for span in (
        TimeSpan(0, min(span.start_ms for span in spans)),
        TimeSpan(max(span.end_ms for span in spans), levels.duration_ms),
        *(TimeSpan(span.start_ms - GUARD_MS, span.end_ms + GUARD_MS) for span in spans),
    ):
        loud[levels.frames(span)] = True
    edges = np.flatnonzero(np.diff(loud, prepend=True, append=True)) * FRAME_MS
    return [
        TimeSpan(start_ms, min(end_ms, start_ms + context_ms))
        for begin_ms, end_ms in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        for start_ms in range(begin_ms, end_ms - min(MIN_DURATION_MS, context_ms) + 1, context_ms)
    ]


def _within(place: TimeSpan, rng: random.Random, context_ms: int) -> TimeSpan:
    """Return a span of random length in ``place``, because a model must expect all lengths."""
    length_ms = rng.randint(min(MIN_DURATION_MS, context_ms), place.duration_ms)
    start_ms = rng.randint(place.start_ms, place.end_ms - length_ms)
    return TimeSpan(start_ms, start_ms + length_ms)
