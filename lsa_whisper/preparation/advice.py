"""What a careful colleague would say about a corpus before hours are spent on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lsa_whisper.chat import Participant
from lsa_whisper.corpus import Session
from lsa_whisper.corpus.bullets import count_typed_bullets
from lsa_whisper.corpus.recording_check import recording_problems
from lsa_whisper.corpus.speaker_groups import pattern_for, propose_groups
from lsa_whisper.preparation.screening import NO_BULLET

_NAMED = 3
_MIN_SESSIONS = 4


def grouping_notes(sessions: Sequence[Session]) -> list[str]:
    """Return a note for each corpus whose files count as one person each, although their names say otherwise."""
    notes = []
    for corpus in sorted({session.corpus for session in sessions}):
        unnamed = {session.name: session for session in sessions if session.corpus == corpus and not session.named}
        if len(unnamed) < _MIN_SESSIONS:
            continue
        groups = propose_groups(sorted(unnamed)) or _same_pid(unnamed)
        people = {_person(session) for session in unnamed.values()}
        if not groups or len(groups) >= len(people):
            continue
        listed = "; ".join(
            f"{person}: {len(members)} files{_ages([unnamed[name] for name in members])}"
            for person, members in list(groups.items())[:_NAMED]
        )
        notes.append(
            f"{len(people)} persons are assumed in {len(unnamed)} files of {corpus}, for nothing identifies them; the "
            f"names suggest {len(groups)} ({listed}). One person in train and test makes scores too good: give "
            f"--speaker-from '{pattern_for(groups)}', or the person as the last field of @ID"
        )
    return notes


def _person(session: Session) -> str:
    return min(session.speakers.values(), default=session.name).rpartition("-")[0]


def _same_pid(sessions: Mapping[str, Session]) -> dict[str, list[str]]:
    """Return the sessions that share a persistent identifier (``@PID``), where several identifiers occur twice."""
    found: dict[str, list[str]] = {}
    for name, session in sessions.items():
        if pid := session.transcript.header("@PID"):
            found.setdefault(pid, []).append(name)
    several = {pid: names for pid, names in found.items() if len(names) > 1}
    return several if len(several) > 1 else {}


def _ages(sessions: Sequence[Session]) -> str:
    """Return the ages of the target child in some sessions, such as ``, 3;01 to 3;09``."""
    ages = sorted({age for session in sessions for age in _child_ages(session.transcript.participants.values())})
    return f", {ages[0]} to {ages[-1]}" if len(ages) > 1 else f", {ages[0]}" if ages else ""


def _child_ages(people: Iterable[Participant]) -> Iterator[str]:
    for person in people:
        if person.age and person.role in ("Target_Child", "Child", "Participant"):
            yield person.age.rstrip(".")


def recording_notes(sessions: Sequence[Session]) -> list[str]:
    """Return a note for each recording with a problem, named by its path."""
    found = {session.recording.path: session.recording for session in sessions}
    return [f"{path}: {problem}" for path, recording in found.items() for problem in recording_problems(recording)]


def bullet_hint(sessions: Sequence[Session], reasons: Mapping[str, Mapping[str, float]]) -> str:
    """Return what to do about utterances without bullets, if the times stand there without their control characters."""
    missing = int(reasons.get(NO_BULLET, {}).get("utterances", 0))
    if not missing:
        return ""
    typed = 0
    for session in sessions:
        typed += count_typed_bullets(session.transcript)
        if typed >= 1000:
            break
    if typed:
        return (
            f"{typed} utterances{' or more' if typed >= 1000 else ''} end in times that lost their control characters, "
            "such as 'dog . 500_900'; add --repair-bullets to use them"
        )
    return f"{missing} utterances have no times; 'lsa-whisper align' finds them"
