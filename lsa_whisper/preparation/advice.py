"""What a careful colleague would say about a corpus before hours are spent on it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile as sf

from lsa_whisper.audio import Recording
from lsa_whisper.chat import Disfluency, Transcript, Utterance
from lsa_whisper.chat.fix import count_typed_bullets
from lsa_whisper.corpus import Session
from lsa_whisper.corpus.speaker_groups import pattern_for, propose_groups
from lsa_whisper.labels.repeats import find_repeats
from lsa_whisper.preparation import screening
from lsa_whisper.preparation.peak_levels import SILENT_PEAK
from lsa_whisper.retraces import mark_retraces
from lsa_whisper.timespan import TimeSpan

_NAMED = 3
_MIN_SESSIONS = 4
_CHILDREN = ("Target_Child", "Child", "Participant")


def grouping_notes(sessions: Sequence[Session]) -> list[str]:
    """Return a note for each corpus whose files count as one person each, although their names say otherwise."""
    notes = []
    for corpus in sorted({session.corpus for session in sessions}):
        unnamed = {session.name: session for session in sessions if session.corpus == corpus and not session.named}
        if len(unnamed) < _MIN_SESSIONS:
            continue
        groups = propose_groups(sorted(unnamed)) or _same_pid(unnamed)
        speakers = (min(session.speakers.values(), default=session.name) for session in unnamed.values())
        people = {speaker.rpartition("-")[0] for speaker in speakers}
        if not groups or len(groups) >= len(people):
            continue
        listed = "; ".join(
            f"{person}: {len(members)} files{_ages([unnamed[name] for name in members])}"
            for person, members in list(groups.items())[:_NAMED]
        )
        notes.append(
            f"{len(people)} persons are assumed in {len(unnamed)} files of {corpus}, for nothing identifies them; the "
            f"names suggest {len(groups)} ({listed}). One person in train and test makes scores too good: give "
            f"`speaker_from='{pattern_for(groups)}'`, or the person as the last field of @ID"
        )
    return notes


def same_name_notes(sessions: Sequence[Session]) -> list[str]:
    """Return a note for each corpus name that several folders share, with transcripts of the same name in them.

    Such files count as one person; they may be visits of one, or two laboratories' first participants.
    """
    places: dict[str, dict[str, set[Path]]] = {}
    for session in sessions:
        if not session.named:
            places.setdefault(session.corpus, {}).setdefault(session.name, set()).add(session.path)
    notes = []
    for corpus, names in places.items():
        shared = [(name, sorted(paths)) for name, paths in names.items() if len(paths) > 1]
        if shared:
            (_, (first, second, *_)), more = shared[0], f" ({len(shared) - 1} more such names)" * (len(shared) > 1)
            notes.append(
                f"{first} and {second} count as one person{more}, because both are of a corpus {corpus!r}; if they "
                "are not, write a card.yaml with a 'name: ...' of its own into each corpus folder"
            )
    return notes


def _same_pid(sessions: Mapping[str, Session]) -> dict[str, list[str]]:
    """Return the sessions that share a persistent identifier (``@PID``), where several identifiers occur twice."""
    names_of: dict[str, list[str]] = {}
    for name, session in sessions.items():
        if pid := session.transcript.header("@PID"):
            names_of.setdefault(pid, []).append(name)
    several = {pid: names for pid, names in names_of.items() if len(names) > 1}
    return several if len(several) > 1 else {}


def _ages(sessions: Sequence[Session]) -> str:
    """Return the ages of the target child in some sessions, such as ``, 3;01 to 3;09``."""
    people = (person for session in sessions for person in session.transcript.participants.values())
    ages = sorted({person.age.rstrip(".") for person in people if person.age and person.role in _CHILDREN})
    return f", {ages[0]} to {ages[-1]}" if len(ages) > 1 else f", {ages[0]}" if ages else ""


def recording_notes(sessions: Sequence[Session]) -> list[str]:
    """Return a note for each recording with a problem, named by its path."""
    recordings = {session.recording.path: session.recording for session in sessions}
    return [f"{path}: {problem}" for path, recording in recordings.items() for problem in recording_problems(recording)]


def bullet_hint(sessions: Sequence[Session], reasons: Mapping[str, Mapping[str, float]]) -> str:
    """Return what to do about utterances without bullets, if the times stand there without their control characters."""
    missing = int(reasons.get(screening.NO_BULLET, {}).get("utterances", 0))
    if not missing:
        return ""
    typed = 0
    for session in sessions:
        typed += count_typed_bullets(session.transcript)
        if typed >= 1000:
            break
    if typed:
        return (
            f"utterances that end in times without their control characters: {typed}{' or more' * (typed >= 1000)}, "
            "such as 'dog . 500_900': 'lsa-whisper inspect TRANSCRIPTS --fix' repairs them, and `repair_bullets=True` "
            "of prepare uses them"
        )
    return f"utterances without times: {missing}; 'lsa-whisper align' finds them"


_TIMES = "the times are impossible, or of another recording: 'lsa-whisper align' replaces them"
_TEMPO = "'lsa-whisper align --check-times' says how far the times are off"
_SOUND = "listen whether it is the right recording"
_REMEDIES = {
    screening.EMPTY_SPAN: _TIMES,
    screening.PAST_END: _TIMES,
    screening.TOO_LONG: "'lsa-whisper align' adds word times (%wor), at which they are split",
    screening.TOO_FAST: _TEMPO,
    screening.TOO_SLOW: _TEMPO,
    screening.SILENT: _SOUND,
    screening.CLIPPED: _SOUND,
    screening.NOT_REVIEWED: "mark them in 'lsa-whisper review'",
}


def remedy_for(reasons: Mapping[str, Mapping[str, float]]) -> str:
    """Return what to do where every utterance is rejected, by the most frequent reason; nothing for some."""
    most = max(reasons, key=lambda reason: reasons[reason]["utterances"], default="")
    return _REMEDIES.get(most, "")


_EXCERPTS = 12
_EXCERPT_S = 2.0
_QUIET_RMS = 0.002
"""-54 dB in the loudest excerpt: speech is 30 dB below what a recorder gives at a usual level."""
_CLIPPED_SHARE = 0.01
_CLIPPED_LEVEL = 0.999


def recording_problems(recording: Recording) -> list[str]:
    """Return what is wrong with ``recording``, each in a sentence; an empty list if nothing is.

    Some excerpts of it are read, so that thousands of recordings are checked in minutes.
    """
    problems = [recording.remark] if recording.remark else []
    excerpts = list(_excerpts(recording))
    if not excerpts:
        return problems
    peak = max(float(np.abs(excerpt).max(initial=0.0)) for excerpt in excerpts)
    if peak < SILENT_PEAK:
        return [*problems, "it is silent; check the recorder's input, or the export"]
    if recording.cancels:
        problems.append("its two channels have opposite phases, so only the louder one is used")
    loudest = max(float(np.sqrt(np.mean(np.square(excerpt)))) for excerpt in excerpts)
    if loudest < _QUIET_RMS:
        problems.append(f"it is far too quiet ({20 * np.log10(loudest):.0f} dB in its loudest part); amplify it")
    clipped = float(np.mean(np.concatenate([np.abs(excerpt).max(axis=1) >= _CLIPPED_LEVEL for excerpt in excerpts])))
    if clipped > _CLIPPED_SHARE:
        problems.append(f"{clipped:.0%} of it is clipped; record it again at a lower level if you can")
    return problems


def _excerpts(recording: Recording) -> Iterator[npt.NDArray[np.float32]]:
    """Yield excerpts ``(frames, channels)`` that are spread over the recording."""
    if recording.decoder != "soundfile":
        for block in recording.stream(_EXCERPT_S):
            yield block[:, None]
        return
    frames, size = round(recording.duration_s * recording.rate_hz), round(_EXCERPT_S * recording.rate_hz)
    starts = np.linspace(0, max(0, frames - size), min(_EXCERPTS, max(1, frames // max(1, size)))).astype(int)
    try:
        with sf.SoundFile(recording.path if os.name == "nt" else os.fsencode(recording.path)) as file:
            for start in dict.fromkeys(starts.tolist()):
                file.seek(start)
                samples = np.nan_to_num(file.read(size, dtype="float32", always_2d=True))
                if len(samples):
                    yield samples
    except (sf.LibsndfileError, OSError):  # reported when it is read as a whole
        return


OVERLAPPING_S, SPEECH_S = "overlapping_s", "speech_s"
NOT_UNICODE = "not_unicode"
UNMARKED, MARKED = "unmarked_repetitions", "marked_repetitions"
_MIN_OVERLAP = 0.05
"""Share of the speech from which overlaps are told."""
_MIN_UNMARKED = 3
"""Places from which unmarked repetitions are told. Ten meeting clips without marks have 9 (a person marked 9 there),
and the same clips with marks 0."""


def session_facts(transcript: Transcript, language: str) -> dict[str, float]:
    """Return what labels do not show: seconds of overlapping speech, repetitions without ``[/]``, an old encoding."""
    utterances = transcript.utterances
    spans = sorted((utterance.span for utterance in utterances if utterance.span), key=lambda span: span.start_ms)
    events = [event.kind for utterance in utterances for event in utterance.events()]
    return {
        OVERLAPPING_S: _overlapping_ms(spans) / 1000,
        SPEECH_S: sum(span.duration_ms for span in spans) / 1000,
        UNMARKED: sum(_unmarked(utterance, language) for utterance in utterances if "[/" not in utterance.text),
        MARKED: events.count(Disfluency.REPETITION),
        NOT_UNICODE: not transcript.encoding.startswith("utf"),
    }


def session_notes(totals: Mapping[str, float]) -> list[str]:
    """Return notes on the summed facts of all sessions."""
    notes = []
    overlapping_s, speech_s = totals.get(OVERLAPPING_S, 0), totals.get(SPEECH_S, 0)
    if speech_s and overlapping_s > _MIN_OVERLAP * speech_s:
        notes.append(
            f"{overlapping_s:,.0f} of {speech_s:,.0f} seconds of speech overlap other speech: utterances that "
            "overlap have one pair of timestamps"
        )
    unmarked, marked = int(totals.get(UNMARKED, 0)), int(totals.get(MARKED, 0))
    if unmarked >= max(_MIN_UNMARKED, marked):
        notes.append(
            f"{unmarked} places repeat words without [/] (with it: {marked}), and a model would learn that these are "
            "not disfluencies; if they are, 'lsa-whisper mark' sets the codes"
        )
    if number := int(totals.get(NOT_UNICODE, 0)):
        notes.append(
            f"transcripts that are not UTF-8: {number}; letters and marks may be wrong in the labels: 'lsa-whisper "
            "inspect --check' names the files, to be saved as UTF-8"
        )
    return notes


def _overlapping_ms(spans: Sequence[TimeSpan]) -> int:
    """Return for how long two or more of ``spans``, in order of their start, overlap.

    >>> _overlapping_ms([TimeSpan(0, 1000), TimeSpan(200, 400), TimeSpan(900, 1500)])
    300
    """
    ends = itertools.accumulate((span.end_ms for span in spans), max)
    return sum(max(0, min(end, span.end_ms) - span.start_ms) for end, span in zip(ends, spans[1:], strict=False))


def _unmarked(utterance: Utterance, language: str) -> int:
    repeats = len(list(find_repeats(utterance.verbatim())))
    if not repeats or language != "eng":
        return repeats
    return sum(mark.code == "[/]" for mark in mark_retraces(utterance.text, language=language).marks)
