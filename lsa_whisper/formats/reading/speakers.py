"""Speakers of other formats as CHAT participants: a three-letter code and a role for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lsa_whisper.chat import Participant

ROLES = {
    "CHI": "Target_Child",
    "ADU": "Adult",
    "MOT": "Mother",
    "FAT": "Father",
    "INV": "Investigator",
    "PAR": "Participant",
    "EXA": "Investigator",
    "SIB": "Sibling",
    "BRO": "Brother",
    "SIS": "Sister",
    "TEA": "Teacher",
    "STU": "Student",
    "THE": "Therapist",
    "OCH": "Child",
    "FEM": "Female",
    "MAL": "Male",
}
"""The role of each code that implies one."""

_WORDS = {
    "CHI": "child, target child, client, kind, niño, niña, enfant",
    "INV": "examiner, interviewer, investigator, experimenter, clinician, untersucher, untersucherin, examinador",
    "MOT": "mother, mom, mum, mutter, mama, madre, mamá, mère, maman",
    "FAT": "father, dad, vater, papa, padre, papá, père",
    "TEA": "teacher, lehrer, lehrerin, maestro, maestra",
    "STU": "student",
    "THE": "therapist, therapeut, therapeutin, logopäde, logopädin, terapeuta, logopeda, orthophoniste",
    "PAR": "participant, patient, subject, patientin, paciente",
    "ADU": "adult",
    "SIB": "sibling",
    "BRO": "brother, bruder, hermano, frère",
    "SIS": "sister, schwester, hermana, sœur",
}
_CODES = {word: code for code, words in _WORDS.items() for word in words.split(", ")}
"""The code of each common word for a speaker."""
ROLE_WORDS = frozenset(_CODES)

_CODE = re.compile(r"[A-Z][A-Z0-9]{1,6}")


def participants_of(
    names: Iterable[str], *, roles: Mapping[str, str], codes: Mapping[str, str], language: str, speaker: str = "PAR"
) -> dict[str, Participant]:
    """Return the participant of each speaker name, in order.

    CHAT codes stay; words such as ``Mother`` get their code; any other name becomes ``PAR0``, ``PAR1`` ... and is kept
    as the participant's name. The names, empty for an unnamed speaker, are in order of appearance. ``roles`` has what
    the file says about a name (``{"C": "Child"}``), ``codes`` what the user says (``{"Kid": "CHI Target_Child"}``);
    ``speaker`` is the code of an unnamed speaker.

    >>> people = participants_of(["C", "SPEAKER_00"], roles={"C": "Child"}, codes={}, language="eng")
    >>> [(person.code, person.role, person.name) for person in people.values()]
    [('CHI', 'Target_Child', ''), ('PAR0', 'Participant', 'SPEAKER_00')]
    """
    people: dict[str, Participant] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        code, role, full_name = _described(name, roles.get(name, ""), codes.get(name, ""), speaker)
        if not code or (code in taken and not codes.get(name)):
            base = code or "PAR"
            code = next(candidate for number in range(10_000) if (candidate := f"{base[:4]}{number}") not in taken)
        taken.add(code)
        people[name] = Participant(code, role or ROLES.get(code, "Participant"), full_name, language)
    return people


def _described(name: str, role: str, entry: str, speaker: str) -> tuple[str, str, str]:
    """Return code (empty if there is none), role and name of one speaker."""
    if entry:
        code, _, own_role = entry.partition(" ")
        return code, own_role.strip().replace(" ", "_"), name if name != code else ""
    if not name:
        return speaker, "", ""
    word = (role or name).replace("_", " ").strip().casefold()
    if word in _CODES:
        return _CODES[word], "", "" if name.casefold() == word or len(name) == 1 else name
    if role:
        word = re.sub(r"\s*\d+$", "", word)
        return _CODES.get(word, ""), "", role
    return (name, "", "") if _CODE.fullmatch(name) else ("", "", name)
