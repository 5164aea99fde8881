"""Who is the same person in several files: by a pattern of file names, or a proposal where nothing says it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from lsa_whisper.errors import CorpusError

_FIELD = re.compile(r"\{(\w+)\}")
_VISIT_NAME = re.compile(
    r"(?P<person>.*?[^\W_].*?)(?P<gap>[-_. ]*)(?P<visit>(?:visit|session|sess|time|wave|v|s|t|w)?[-_. ]?\d{1,3}[a-z]?)",
    re.IGNORECASE,
)


class SpeakerPattern:
    """A pattern of session names such as ``{speaker}_{visit}``, which says which sessions have the same speaker."""

    def __init__(self, pattern: str):
        """Read ``pattern``; ``{speaker}`` stands for the person, any other field and ``*`` for the rest.

        Raises:
            CorpusError: It has no ``{speaker}``, or has it twice.
        """
        if len(re.findall(r"\{speaker\}", pattern)) != 1:
            raise CorpusError(f"`speaker_from={pattern}`: needs {{speaker}} once, as in '{{speaker}}_{{visit}}'")
        parts = re.split(r"(\{\w+\}|\*)", pattern)
        self.pattern = pattern
        self._regex = re.compile("".join(map(_regex_of, parts)))

    def speaker(self, session: str) -> str:
        """Return the person of the session called ``session``: its path below the corpus, or its last part.

        >>> SpeakerPattern("{speaker}_{visit}").speaker("year1/anna_02")
        'anna'

        Raises:
            CorpusError: The name does not match.
        """
        for name in (session, session.rpartition("/")[2]):
            if match := self._regex.fullmatch(name):
                return match.group("speaker")
        raise CorpusError(f"`speaker_from={self.pattern}`: does not match {session!r}; correct the pattern")


def _regex_of(part: str) -> str:
    if part == "{speaker}":
        return r"(?P<speaker>[^/]+?)"
    return r"[^/]*?" if part == "*" or _FIELD.fullmatch(part) else re.escape(part)


def propose_groups(sessions: Sequence[str]) -> dict[str, list[str]]:
    """Return sessions of presumably one person by that person, if the names of most sessions say so; else nothing.

    >>> propose_groups(["ann_1", "ann_2", "ben_1", "ben_2"])
    {'ann': ['ann_1', 'ann_2'], 'ben': ['ben_1', 'ben_2']}
    >>> propose_groups(["s01", "s02", "s03"]), propose_groups(["test01", "test02"])
    ({}, {})
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for session in sessions:
        match = _VISIT_NAME.fullmatch(session.rpartition("/")[2])
        if match and match["person"][-1].isdigit() and not match["gap"] and match["visit"][0].isdigit():
            match = None  # one number, not two
        groups[match.group("person") if match else session].append(session)
    several = {person: members for person, members in groups.items() if len(members) > 1}
    total = sum(map(len, several.values()))
    return several if len(several) > 1 and 2 * total > len(sessions) else {}


def pattern_for(groups: dict[str, list[str]]) -> str:
    """Return the pattern of session names that makes ``groups``.

    >>> pattern_for({"ann": ["ann_1", "ann_2"]}), pattern_for({"07": ["07v1", "07v2"]})
    ('{speaker}_{visit}', '{speaker}v{visit}')
    """
    person, members = next(iter(groups.items()))
    rest = members[0].rpartition("/")[2].removeprefix(person)
    return "{speaker}" + re.sub(r"\d+[a-z]?$", "{visit}", rest)
