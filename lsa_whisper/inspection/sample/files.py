"""The transcripts of a language sample, each with its recording and its speakers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.chat import Participant, Transcript
from lsa_whisper.corpus import discover, find_card, speaker_ids
from lsa_whisper.errors import CorpusError
from lsa_whisper.inspection.measures import SpeakerMeasures, measure_speakers

_AGE = re.compile(r"(\d+);(?:(\d+)(?:\.(\d+)?)?)?")


@dataclass(frozen=True)
class SampleSpeaker:
    """One speaker of one transcript.

    ``person`` is the same in all sessions; ``age`` is as CHAT writes it (``2;06.15``), empty if unknown.
    """

    code: str
    person: str
    role: str
    age: str
    measures: SpeakerMeasures

    @property
    def age_years(self) -> float | None:
        """The age; ``None`` if unknown."""
        return age_in_years(self.age)


@dataclass(frozen=True)
class SampleFile:
    """One transcript, its name, its recording if there is one, and its speakers in order of appearance."""

    name: str
    transcript: Transcript
    recording: Path | None
    speakers: Sequence[SampleSpeaker]


def age_in_years(age: str) -> float | None:
    """Return an age in years, or ``None`` if it is unknown.

    >>> age_in_years("2;06."), age_in_years("2;06.00"), age_in_years("10;"), age_in_years("")
    (2.5, 2.5, 10.0, None)
    """
    match = _AGE.match(age)
    if match is None:
        return None
    years, months, days = (int(part or 0) for part in match.groups())
    return years + months / 12 + days / 365.25


def sample_files(path: Path, transcripts: Sequence[tuple[str, Transcript]], mode: str) -> list[SampleFile]:
    """Return the transcripts at ``path`` with their recordings, speakers and measures."""
    root = path if path.is_dir() else path.parent
    card, recordings = find_card(root), _recordings(path)
    files = []
    for file, transcript in transcripts:
        name = Path(file).relative_to(root).with_suffix("").as_posix()
        ids, measures = speaker_ids(transcript, name, card), measure_speakers(transcript, mode)
        people = ((transcript.participants.get(code, Participant(code, "")), own) for code, own in measures.items())
        speakers = [
            SampleSpeaker(who.code, ids[who.code].rpartition("-")[0], who.role, who.age, own) for who, own in people
        ]
        files.append(SampleFile(name, transcript, recordings.get(file), speakers))
    return files


def _recordings(path: Path) -> Mapping[str, Path]:
    """Return the recordings of transcripts, by path of the transcript; a transcript may have none."""
    try:
        sessions, _ = discover(path)
    except CorpusError:  # no transcript has what training needs; the page needs none of it
        return {}
    return {str(session.path): session.recording.path for session in sessions}
