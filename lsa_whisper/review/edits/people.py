"""Edits of who speaks: a participant is added, described otherwise, renamed, or merged into another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lsa_whisper.chat import Line, Participant, Transcript, Utterance
from lsa_whisper.chat.checks.participants import is_age, role_fault, speaker_code_fault
from lsa_whisper.chat.codes import PARTICIPANT_HEADERS, SEXES
from lsa_whisper.chat.fix import repair_age
from lsa_whisper.chat.serialize import UNNAMED_CORPUS
from lsa_whisper.formats.reading.speakers import ROLES
from lsa_whisper.review.edits.change import Block, EditError
from lsa_whisper.review.edits.utterances import set_speaker, with_speaker

_CODE, _AGE, _SEX, _ROLE, _FIELDS = 2, 3, 4, 7, 10
"""Places of fields in ``@ID``, and their number."""
_NAMING = ("@Participants", "@ID")


def describe_person(transcript: Transcript, code: str, person: Participant) -> Transcript:
    """Return the transcript with a participant described as ``person``: code, name, role, age and sex.

    ``code`` is the participant's so far; empty for a new participant.

    Raises:
        EditError: There is no such participant, another one has the new code, or a value is not one of CHAT's.
    """
    people = transcript.participants
    if code and code not in people:
        raise EditError(f"speaker {code!r} is not in @Participants; reload the page")
    if person.code in people and person.code != code:
        raise EditError(
            f"speaker {person.code} is there already; give it the utterances of {code or 'another'} instead"
        )
    person = replace(person, age=repair_age(person.age))
    fault = speaker_code_fault(person.code) or role_fault(person.role)
    if not fault and person.age and not is_age(person.age):
        fault = f"the age {person.age!r} is not like 4;11.03 (years;months.days)"
    if not fault and person.sex not in ("", *SEXES):
        fault = f"the sex {person.sex!r} is neither female nor male"
    if fault:
        raise EditError(f"{fault}; correct it")
    entries = {key: _described(other, person) if key == code else other for key, other in people.items()}
    if not code:
        first = next(iter(people.values()), Participant("", "", language=(transcript.languages or ["eng"])[0]))
        entries[person.code] = _described(Participant("", "", language=first.language, corpus=first.corpus), person)
    return _with_people(transcript, entries, {code: person.code})


def assign_speaker(transcript: Transcript, number: int, code: str) -> Transcript:
    """Return the transcript with another speaker of utterance ``number``.

    A speaker who is not in ``@Participants`` is added if the code implies a role, as ``CHI`` does.

    Raises:
        EditError: The speaker is neither in ``@Participants`` nor has such a code.
    """
    if code not in transcript.participants and code in ROLES:
        transcript = describe_person(transcript, "", Participant(code, ROLES[code]))
    return set_speaker(transcript, number, code)


def merge_people(transcript: Transcript, code: str, other: str) -> Transcript:
    """Return the transcript with all utterances of ``code`` given to ``other``, and without the participant ``code``.

    Raises:
        EditError: One of them is not in ``@Participants``, or they are the same.
    """
    people = transcript.participants
    if code not in people or other not in people or code == other:
        raise EditError(f"{code} and {other} are not two speakers of @Participants ({', '.join(people)}); choose two")
    return _with_people(transcript, {key: person for key, person in people.items() if key != code}, {code: other})


def name_transcribers(transcript: Transcript, names: Sequence[str], remark: str) -> Transcript:
    """Return the transcript with the names of its transcribers in ``@Transcriber``, and a remark in a comment.

    Raises:
        EditError: A name is missing.
    """
    plain = [" ".join(name.replace(",", " ").split()) for name in names]
    if not all(plain):
        raise EditError("a settled transcript has the names of both transcribers; give both")
    blocks = [block for block in transcript.blocks if not (isinstance(block, Line) and block.name == "@Transcriber")]
    headers = [at for at, block in enumerate(blocks) if isinstance(block, Line) and block.name in (*_NAMING, "@Media")]
    if not headers:
        raise EditError("the transcript has no @Participants; add the line in a text editor first")
    end = _line_end(blocks[headers[-1]]) or "\n"
    lines = [Line(f"@Transcriber:\t{', '.join(plain)}{end}", 0), Line(f"@Comment:\t{' '.join(remark.split())}{end}", 0)]
    blocks[headers[-1] + 1 : headers[-1] + 1] = lines
    return replace(transcript, blocks=blocks)


def _described(old: Participant, new: Participant) -> Participant:
    name = "_".join(new.name.replace(",", " ").split())
    return replace(old, code=new.code, role=new.role, name=name, age=new.age, sex=new.sex)


def _with_people(transcript: Transcript, people: dict[str, Participant], speakers: dict[str, str]) -> Transcript:
    """Return the transcript with other participants.

    ``people`` has each participant who stays, by the code so far, and new ones by their own code; ``speakers`` the new
    code of each speaker whose utterances get one.
    """
    blocks: list[Block] = []
    for block in transcript.blocks:
        if isinstance(block, Utterance):
            new = speakers.get(block.speaker, block.speaker)
            blocks.append(block if new == block.speaker else with_speaker(block, new))
        elif (line := _header(block, people)) is not None:
            blocks.append(line)
    places = [at for at, block in enumerate(blocks) if isinstance(block, Line) and block.name in _NAMING]
    if not places:
        raise EditError("the transcript has no @Participants; add the line in a text editor first")
    described = {_code_of(block) for block in transcript.headers if block.name == "@ID"}
    end = _line_end(blocks[places[-1]])
    language = (transcript.languages or ["eng"])[0]
    lines = [
        _identity(person, [language if person.language not in transcript.languages else ""], end or "\n", 0)
        for code, person in people.items()
        if code not in described
    ]
    blocks[places[-1] + 1 : places[-1] + 1] = lines
    return replace(transcript, blocks=blocks)


def _header(line: Line, people: dict[str, Participant]) -> Line | None:
    """Return a header as it should be; ``None`` if it is about a participant who is no longer there."""
    if line.name == "@Participants":
        entries = ", ".join(" ".join(filter(None, (who.code, who.name, who.role))) for who in people.values())
        return line if line.value == entries else Line(f"@Participants:\t{entries}{_line_end(line)}", line.number)
    if line.name == "@ID":
        fields, person = [part.strip() for part in line.value.split("|")], people.get(_code_of(line))
        return _identity(person, fields, _line_end(line), line.number) if person else None
    for base in PARTICIPANT_HEADERS:
        if line.name.startswith(f"{base} "):
            person = people.get(line.name.removeprefix(f"{base} "))
            return Line(line.raw.replace(line.name, f"{base} {person.code}", 1), line.number) if person else None
    return line


def _identity(person: Participant, fields: Sequence[str], end: str, number: int) -> Line:
    """Return an ``@ID`` line with what is known of a person; the other fields stay."""
    values = [*fields, *[""] * _FIELDS][:_FIELDS]
    values[0], values[1] = values[0] or person.language, values[1] or person.corpus or UNNAMED_CORPUS
    values[_CODE], values[_AGE], values[_SEX], values[_ROLE] = person.code, person.age, person.sex, person.role
    return Line(f"@ID:\t{'|'.join(values)}|{end}", number)


def _code_of(line: Line) -> str:
    return [*line.value.split("|"), "", "", ""][_CODE].strip()


def _line_end(block: Block) -> str:
    raw = block.raw if isinstance(block, Line) else ""
    return raw[len(raw.rstrip("\r\n")) :]
