"""Leave out text without speech under it: what one sign makes doubtful goes if a second one agrees.

A model writes "Thank you." in applause and music. No single sign tells such text from soft, quick or overlapping
speech: the probability of no speech belongs to a whole window, a second detector misses soft voices, and right text
can be improbable. So text goes only by two of them, and :data:`PAIRS` is the list of those that count.

The thresholds were chosen with OpenAI's base on the text of real recordings (meetings, families, broadcasts, read
speech) with and without a prompt, and of sounds without speech (``benchmarks/invented_speech.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lsa_whisper.audio.speech_energy import SpeechActivity
from lsa_whisper.checkpoint.whisper_constants import LOGPROB_THRESHOLD
from lsa_whisper.decoding.decoder import DecodedSegment, DecodedWindow
from lsa_whisper.decoding.partial import WindowResult
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.long_form.repetition import MAX_COMPRESSION, compression_ratio, speech_between_s

DOUBTFUL_NO_SPEECH = 0.25
"""Probability of no speech of a window above which its text is doubtful. Of 41 real windows, right ones had up to 0.18
(cut-off words), and one "Yeah." 0.28; in sounds without speech, most had 0.34 to 0.62."""
_SUSPECTED_NO_SPEECH = 0.05
"""The same for slow or very improbable text; half of the real windows have less than a fifth of it."""
_FAILED_LOGPROB = -0.8
_FAILED_WINDOW_LOGPROB = -0.9
"""Mean log-probabilities of a segment or its window below which doubtful text goes: of 12 such
words in ten meetings, two were right."""
_VERY_IMPROBABLE_LOGPROB = -2.0
"""Lowest log-probability of a right segment: -1.9. A telephone that rings gave "you" at -2.4 to -3.8."""
_MIN_VOICE = 0.05
"""Share of a segment with a voice below which a second detector heard none. Silero's model gave 0.00 in a right
sentence (log-probability -0.80) and a right "Okay." (-0.09), so the text has to be improbable, too."""
_SLOW_WORDS_PER_S = 0.6
_SLOW_FROM_S = 4.0
_SLOW_LOGPROB = -0.9
"""Few words in a long segment are slow below this: right ones, such as "Okay." in seven seconds, had -0.89 and more."""
_FAINT_DB = -15.0
"""Level of a segment against that of the recording's speech below which improbable text goes. A crowd 40 dB below a
speaker gave sentences at -20 dB (log-probability -1.2); of the soft ones that people said there, one at -25 dB, the
least probable had -0.85."""
_MIN_COPIES = 3
_SAME_LENGTH_S = 0.3


@dataclass(frozen=True)
class Evidence:
    """What is known of a segment.

    Attributes:
        segment: Its text, times and log-probability.
        window: The window that it belongs to.
        copies: How many neighboring segments have its text and length, each surer than the one before; 1 if alone.
        voiced: Share of the segment in which a second detector heard a voice; ``None`` if none listened.
        level_db: Its level, compared with that of the speech in the recording.
    """

    segment: DecodedSegment
    window: DecodedWindow
    copies: int = 1
    voiced: float | None = None
    level_db: float = 0.0


Sign = Callable[[Evidence], bool]


def doubtful(evidence: Evidence) -> bool:
    """The window may be without speech."""
    return evidence.window.no_speech_prob > DOUBTFUL_NO_SPEECH


def suspected(evidence: Evidence) -> bool:
    """The window has some probability of no speech."""
    return evidence.window.no_speech_prob > _SUSPECTED_NO_SPEECH


def without_voice(evidence: Evidence) -> bool:
    """A second detector listened, and heard no voice."""
    return evidence.voiced is not None and evidence.voiced < _MIN_VOICE


def failed(evidence: Evidence) -> bool:
    """The text is improbable, or that of its window is."""
    return evidence.segment.avg_logprob < _FAILED_LOGPROB or evidence.window.avg_logprob < _FAILED_WINDOW_LOGPROB


def improbable(evidence: Evidence) -> bool:
    """The text is as improbable as that of a window which Whisper's own program decodes again."""
    return evidence.segment.avg_logprob < LOGPROB_THRESHOLD


def very_improbable(evidence: Evidence) -> bool:
    """The text is less probable than any right one that was seen."""
    return evidence.segment.avg_logprob < _VERY_IMPROBABLE_LOGPROB


def slow(evidence: Evidence) -> bool:
    """The segment has much time for few words, and they are improbable."""
    duration_s = evidence.segment.end_s - evidence.segment.start_s
    is_slow = duration_s >= _SLOW_FROM_S and len(_words(evidence.segment)) < _SLOW_WORDS_PER_S * duration_s
    return is_slow and evidence.segment.avg_logprob < _SLOW_LOGPROB


def faint(evidence: Evidence) -> bool:
    """The segment is far below the level of speech."""
    return evidence.level_db < _FAINT_DB


def copied(evidence: Evidence) -> bool:
    """The segment is one of several copies of one length, each surer than the one before: the model reads itself."""
    return evidence.copies >= _MIN_COPIES


def compressed(evidence: Evidence) -> bool:
    """The text of the window repeats itself."""
    return compression_ratio(evidence.window.text) > MAX_COMPRESSION


PAIRS: tuple[tuple[Sign, Sign], ...] = (
    (doubtful, failed),
    (doubtful, without_voice),
    (doubtful, copied),
    (doubtful, compressed),
    (without_voice, improbable),
    (without_voice, slow),
    (suspected, slow),
    (suspected, very_improbable),
    (slow, improbable),
    (faint, improbable),
)


def without_unspoken(windows: Sequence[WindowResult], speech: SpeechActivity) -> list[WindowResult]:
    """Return the windows of a recording without text that has no speech under it; each names what was left out."""
    return [(span, _spoken(span, window, speech)) for span, window in windows]


def _spoken(span: TimeSpan, window: DecodedWindow, speech: SpeechActivity) -> DecodedWindow:
    copies, voiced = _copies(window.segments), speech.voiced_within(span)
    cases = [
        Evidence(segment, window, count, _share(segment, voiced), speech.relative_db(_place(span, segment)))
        for segment, count in zip(window.segments, copies, strict=True)
    ]
    verdicts = [(case.segment, any(doubt(case) and witness(case) for doubt, witness in PAIRS)) for case in cases]
    gone = tuple(segment.text for segment, unspoken in verdicts if unspoken)
    if not gone:
        return window
    rest = tuple(segment for segment, unspoken in verdicts if not unspoken)
    return replace(window, segments=rest, unspoken=gone, silent=not rest)


def _copies(segments: Sequence[DecodedSegment]) -> list[int]:
    """Return for each segment how many neighbors, itself included, are its copies, each surer than the one before.

    >>> said = [("no .", -0.5), ("I see .", -0.9), ("I see .", -0.4), ("I see .", -0.1)]
    >>> _copies([DecodedSegment(text, at, at + 2, logprob) for at, (text, logprob) in enumerate(said)])
    [1, 3, 3, 3]
    """
    runs: list[list[DecodedSegment]] = []
    for segment in segments:
        if runs and _is_next_copy(runs[-1][-1], segment):
            runs[-1].append(segment)
        else:
            runs.append([segment])
    return [len(run) for run in runs for _ in run]


def _is_next_copy(before: DecodedSegment, segment: DecodedSegment) -> bool:
    lengths = [part.end_s - part.start_s for part in (before, segment)]
    same = _words(before) == _words(segment) and abs(lengths[0] - lengths[1]) <= _SAME_LENGTH_S
    return same and segment.avg_logprob > before.avg_logprob


def _share(segment: DecodedSegment, voiced: Sequence[tuple[float, float]] | None) -> float | None:
    """Return the share of a segment with a voice; ``None`` without a second detector, or without length."""
    length_s = segment.end_s - segment.start_s
    if voiced is None or length_s <= 0:
        return None
    return speech_between_s(voiced, segment.start_s, segment.end_s) / length_s


def _place(span: TimeSpan, segment: DecodedSegment) -> TimeSpan:
    start_ms, end_ms = (span.start_ms + round(1000 * at_s) for at_s in (segment.start_s, segment.end_s))
    return TimeSpan(start_ms, max(start_ms, end_ms))


def _words(segment: DecodedSegment) -> list[str]:
    return re.findall(r"[^\W_]+", segment.text.lower())
