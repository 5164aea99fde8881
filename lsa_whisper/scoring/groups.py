"""Verbatim word errors by properties of the utterance: role and age of its speaker, and its length.

Conventions: role and age are those of ``@ID`` in the reference; ``wer`` defines the utterance of an inserted word. The
length of an utterance is its number of spoken words. Ages are whole years up to nine, then bands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lsa_whisper.chat import Participant, Utterance
from lsa_whisper.scoring.align import UNALIGNED, Alignment
from lsa_whisper.scoring.counts import ByLabel, WordErrors
from lsa_whisper.scoring.words import FileWords

_LENGTHS = ((1, "1 word"), (3, "2 to 3 words"), (6, "4 to 6 words"), (10, "7 to 10 words"), (20, "11 to 20 words"))
_AGE = re.compile(r"(\d+);")
_ROLE_UNKNOWN = "no role given"

Participants = Mapping[str, Participant]


class ParsedTranscript(NamedTuple):
    """One transcript: its utterances, and its participants by code.

    ``from_words`` marks an utterance of a system from its words alone; ``language`` is ISO 639-3.
    """

    utterances: Sequence[Utterance]
    participants: Participants
    from_words: Callable[[Utterance], Utterance] | None = None
    language: str = "eng"


def errors_by_group(
    alignment: Alignment, reference: FileWords, participants: Participants, utterances: NDArray[np.int64]
) -> ByLabel[ByLabel[WordErrors]]:
    """Return the verbatim errors of one file by ``role``, ``age`` and ``length``.

    ``utterances`` is :func:`lsa_whisper.scoring.wer.utterance_of_columns`. Speakers without an age are in no age band.
    """
    lengths = np.bincount(reference.utterance_of, minlength=len(reference.utterances)).tolist()
    labels = {
        "role": [speaker_role(utterance.speaker, participants) for utterance in reference.utterances],
        "age": [age_band(_age(utterance.speaker, participants)) for utterance in reference.utterances],
        "length": [length_band(length) for length in lengths],
    }
    return ByLabel((name, errors_by(alignment, bands, utterances)) for name, bands in labels.items())


def errors_by(alignment: Alignment, labels: Sequence[str], utterances: NDArray[np.int64]) -> ByLabel[WordErrors]:
    """Return the verbatim errors of one file by the label of each utterance; those of an empty label are left out."""
    names = [name for name in dict.fromkeys(labels) if name]
    numbers = np.array([names.index(label) if label else UNALIGNED for label in labels] + [UNALIGNED])
    group = numbers[utterances]  # an utterance of -1 has no group: it is the entry added at the end
    return ByLabel((name, alignment.errors_where(group == number)) for number, name in enumerate(names))


def same_role(
    reference: FileWords,
    hypothesis: FileWords,
    alignment: Alignment,
    reference_participants: Participants,
    hypothesis_participants: Participants,
) -> tuple[int, int]:
    """Return the number of aligned words whose speakers have the same role, and the number scored.

    Nothing is scored if the reference has several roles and the hypothesis only one.
    """
    reference_roles = [speaker_role(u.speaker, reference_participants) for u in reference.utterances]
    hypothesis_roles = [speaker_role(u.speaker, hypothesis_participants) for u in hypothesis.utterances]
    if len(set(reference_roles)) > 1 and len(set(hypothesis_roles)) < 2:
        return 0, 0
    pairs = alignment.pairs[(alignment.pairs != UNALIGNED).all(axis=1) & ~alignment.excluded]
    of, by = reference.utterance_of[pairs[:, 0]].tolist(), hypothesis.utterance_of[pairs[:, 1]].tolist()
    return sum(reference_roles[r] == hypothesis_roles[h] for r, h in zip(of, by, strict=True)), len(pairs)


def speaker_role(code: str, participants: Participants) -> str:
    """Return the role of a speaker, as CHAT spells it but with spaces.

    >>> speaker_role("CHI", {"CHI": Participant("CHI", "Target_Child")}), speaker_role("XYZ", {})
    ('Target Child', 'no role given')
    """
    person = participants.get(code)
    return person.role.replace("_", " ") if person is not None and person.role else _ROLE_UNKNOWN


def _age(code: str, participants: Participants) -> str:
    return participants[code].age if code in participants else ""


def age_band(age: str) -> str:
    """Return the band of an age as CHAT writes it (years;months.days); empty where there is none.

    >>> age_band("4;06.12"), age_band("13;"), age_band("67;"), age_band("")
    ('4 years', '10 to 17 years', '60 to 69 years', '')
    """
    match = _AGE.match(age)
    if match is None:
        return ""
    years = int(match.group(1))
    if years < 18:
        return "10 to 17 years" if years >= 10 else f"{years} year{'s' * (years != 1)}"
    return "18 to 29 years" if years < 30 else f"{years // 10 * 10} to {years // 10 * 10 + 9} years"


def length_band(words: int) -> str:
    """Return the band of an utterance of ``words`` spoken words; empty for none.

    >>> [length_band(n) for n in (0, 1, 5, 40)]
    ['', '1 word', '4 to 6 words', '21 words or more']
    """
    if not words:
        return ""
    return next((name for most, name in _LENGTHS if words <= most), "21 words or more")


def band_sort_key(label: str) -> tuple[int, str]:
    """Return the sort key of a band: its first number, then its label."""
    match = re.match(r"\d+", label)
    return (int(match.group()) if match else 0), label
