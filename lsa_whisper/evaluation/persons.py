"""Which recordings are of one person, because they are resampled together.

A person is known by the name in ``@Participants`` (with the corpus in ``@ID``) of the speakers whom the recording is
of: the target children if there are any, else all but examiners, parents and the like. Recordings that share such a
speaker are of one person. Where no speaker of any recording has a name, the recordings of one folder are of one person,
if there are enough folders to resample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.chat import Transcript
from lsa_whisper.scoring.bootstrap import MIN_UNITS

GROUPINGS = ("auto", "name", "folder", "file")
_TARGET = "Target_Child"
_OTHER_ROLES = """
    Investigator Therapist Teacher Interviewer Clinician Doctor Nurse Narrator Observer Media Environment Mother Father
    Grandmother Grandfather Caretaker Babysitter Nursery_Teacher Playmate Visitor Sister Brother Sibling Unidentified
    Group Assistant Experimenter Examiner Host Student_Clinician Toy Camera_Operator Technician Guest Relative Family
"""
_OTHERS = frozenset(_OTHER_ROLES.split())
"""The roles of speakers who may be in recordings of several persons."""


def people_in(transcript: Transcript) -> frozenset[tuple[str, str]]:
    """Return the persons a recording is of, each by corpus and name; empty where none has a name."""
    speakers = {utterance.speaker for utterance in transcript.utterances}
    people = [person for code, person in transcript.participants.items() if code in speakers and person.name]
    targets = [person for person in people if person.role == _TARGET]
    subjects = targets or [person for person in people if person.role not in _OTHERS]
    return frozenset((person.corpus, person.name.casefold()) for person in subjects)


def persons_of(people: Mapping[str, frozenset[tuple[str, str]]], group: str = "auto") -> tuple[NDArray[np.int64], str]:
    """Return the person of each recording as a number from 0 on, and how it is known: ``name``, ``folder``, ``file``.

    ``people`` has the result of :func:`people_in` by the key of each recording, in order.
    """
    keys = list(people)
    if group == "name" or (group == "auto" and any(people.values())):
        labels = _connected(people)
        how = "name"
    else:
        folders = [key.rpartition("/")[0] for key in keys]
        counts = Counter(folders)
        several = len(counts) >= MIN_UNITS and len(counts) < len(keys)
        how = "folder" if group == "folder" or (group == "auto" and several) else "file"
        labels = folders if how == "folder" else keys
    numbers: dict[str, int] = {}
    units = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    return units, how if len(numbers) < len(keys) else "file"


def _connected(people: Mapping[str, frozenset[tuple[str, str]]]) -> Sequence[str]:
    """Return a label of each recording that all recordings share which are linked by a person."""
    from scipy.cluster.hierarchy import DisjointSet  # half a second to load

    groups = DisjointSet(people)
    holder: dict[tuple[str, str], str] = {}
    for key, own in people.items():
        for person in own:
            groups.merge(key, holder.setdefault(person, key))
    return [groups[key] for key in people]
