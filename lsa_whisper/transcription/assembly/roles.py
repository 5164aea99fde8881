"""Who is who among the speakers of a recording: a child has the highest voice, others are told by how long they speak.

Measured on 12 children of six to eight who read and on 27 recordings of adults: of all pairs of a child and an adult,
the child is found in 84 %, the adult is taken for the child in 3 %, and in 13 % the voices are too near to tell. With
an adult whose voice is high (170 Hz and more), it is found in 49 % and mistaken in 10 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lsa_whisper.audio import SAMPLE_RATE_HZ, Recording
from lsa_whisper.formats.reading.speakers import ROLES
from lsa_whisper.timespan import TimeSpan
from lsa_whisper.transcription.assembly.speaker_turns import SpeakerTurns, person_of

CHILD_ROLES = ("Target_Child", "Child", "Brother", "Sister", "Sibling")
MIN_RATIO = 1.2
"""How many times higher than the next adult a child's voice must be; three semitones."""
_HOP = 256
_MIN_VOICED = 60  # frames of 16 ms
_LISTENED_MS = 40_000
_TURN_MS = (300, 10_000)  # shorter turns are not heard, of longer ones the beginning


def assign_roles(turns: SpeakerTurns, codes: Sequence[str], recording: Recording) -> SpeakerTurns:
    """Return turns with the given codes in place of their own, and a note on how they were found.

    Where one of the codes is a child's, the highest voices are children. Otherwise, and among children or adults, the
    first code is that of the one who speaks longest. Where that cannot be told, the turns keep their codes. ``codes``
    are CHAT's, one for each speaker.
    """
    speakers = [person.code for person in turns.participants]
    if set(speakers) == set(codes):
        return turns
    if len(speakers) != len(codes):
        problem = f"{len(codes)} roles were named, but {len(speakers)} speakers found"
        return replace(turns, note=f"{problem}: say in review who is who")
    long_first = sorted(speakers, key=lambda code: -sum(span.duration_ms for who, span in turns.spans if who == code))
    children = [code for code in codes if ROLES.get(code) in CHILD_ROLES]
    if not children or len(children) == len(codes):
        return _renamed(turns, dict(zip(long_first, codes, strict=True)), "the time that each speaks")
    pitches = {code: median_pitch_hz(recording, _alone(turns, code)) for code in speakers}
    high_first = sorted(speakers, key=lambda code: -(pitches[code] or 0.0))
    high, low = (high_first[: len(children)], high_first[len(children) :])
    voices = ", ".join(f"{code} {pitch:.0f} Hz" if (pitch := pitches[code]) else f"{code} unknown" for code in speakers)
    if not all(pitches.values()) or (pitches[high[-1]] or 0.0) < MIN_RATIO * (pitches[low[0]] or 0.0):
        return replace(turns, note=f"the voices are too near to tell the child by pitch ({voices}): say it in review")
    names = dict(zip((code for code in long_first if code in high), children, strict=True))
    adults = (code for code in codes if code not in children)
    names |= dict(zip((code for code in long_first if code in low), adults, strict=True))
    voices = ", ".join(f"{names[code]} {pitches[code]:.0f} Hz" for code in speakers)
    return _renamed(turns, names, f"the pitch of their voices ({voices})")


def median_pitch_hz(recording: Recording, spans: Sequence[TimeSpan]) -> float | None:
    """Return the median pitch of the voiced sound in ``spans``; ``None`` if there is less than a second of it."""
    import librosa

    pitches, listened_ms = [], 0
    for span in sorted(spans, key=lambda turn: -turn.duration_ms):
        if span.duration_ms < _TURN_MS[0] or listened_ms >= _LISTENED_MS:
            break
        sample = TimeSpan(span.start_ms, min(span.end_ms, span.start_ms + _TURN_MS[1]))
        pitch, is_voiced, _ = librosa.pyin(
            recording.load(sample),
            fmin=65,
            fmax=600,
            sr=SAMPLE_RATE_HZ,
            frame_length=4 * _HOP,
            hop_length=_HOP,
            resolution=0.2,
        )
        pitches.append(pitch[is_voiced])
        listened_ms += sample.duration_ms
    values = np.concatenate([np.zeros(0), *pitches])
    return float(np.median(values)) if len(values) >= _MIN_VOICED else None


def _alone(turns: SpeakerTurns, code: str) -> list[TimeSpan]:
    """Return the turns of a speaker in which no other speaks; all of them if there is none."""
    own = [span for who, span in turns.spans if who == code]
    rest = [span for who, span in turns.spans if who != code]
    return [span for span in own if not any(span & other for other in rest)] or own


def _renamed(turns: SpeakerTurns, names: Mapping[str, str], reason: str) -> SpeakerTurns:
    return SpeakerTurns(
        tuple((names[who], span) for who, span in turns.spans),
        tuple(person_of(names[person.code]) for person in turns.participants),
        f"who is who was found by {reason}: check it in review",
    )
