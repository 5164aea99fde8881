"""What an evaluation covers: recordings, speakers, languages and corpora, the models, and how it was made."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lsa_whisper.chat import Disfluency, Transcript
from lsa_whisper.labels import Coverage, is_draft, read_coverage
from lsa_whisper.languages import chat_code
from lsa_whisper.scoring.normalize import is_unspaced
from lsa_whisper.version import __version__

_PROVENANCE = "transcribed by "


@dataclass
class Material:
    """The facts about the evaluated transcripts, gathered file by file."""

    recordings: int = 0
    persons: int | None = None
    """The number of persons that are resampled; ``None`` where each recording is."""
    names: set[str] = field(default_factory=set)
    """The names of the speakers, where ``@Participants`` gives them."""
    unnamed: bool = False
    """Whether a speaker has no name, so that persons cannot be counted."""
    corpora: dict[str, None] = field(default_factory=dict)
    """In order of their first occurrence in ``@ID``."""
    languages: dict[str, None] = field(default_factory=dict)
    """Of the references, as CHAT codes."""
    written_in: dict[str, dict[str, None]] = field(default_factory=dict)
    """Per system, the languages of its transcripts."""
    models: dict[str, dict[str, None]] = field(default_factory=dict)
    """Per system, the comments in which its transcripts name their model."""
    most_speakers: dict[str, int] = field(default_factory=dict)
    """Per system, and of the references under an empty name, the largest number of speakers in one transcript."""
    coverage: dict[str, Coverage] = field(default_factory=dict)
    """Per system, what the models of its transcripts leave out."""
    drafts: list[str] = field(default_factory=list)
    """The references that a model wrote and no person has checked."""
    unspaced: Counter[bool] = field(default_factory=Counter)
    """How many utterances of the references are in a script without spaces, each character of which is a word."""
    command: str = ""
    """The command that makes this evaluation again."""
    date: str = field(default_factory=lambda: datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"))
    versions: str = f"lsa-whisper {__version__}, Python {platform.python_version()}"

    @property
    def speakers(self) -> int | None:
        """The number of persons; ``None`` where a speaker has no name, because codes are not persons."""
        return None if self.unnamed or not self.names else len(self.names)

    @property
    def unit(self) -> str:
        """What is counted as a word in most utterances."""
        return "character" if self.unspaced[True] > self.unspaced[False] else "word"

    def writes_speakers(self, system: str) -> bool:
        """Return whether a system tells speakers apart; true also where the references have one speaker only."""
        return self.most_speakers.get("", 0) < 2 or self.most_speakers.get(system, 0) > 1

    def left_out(self, system: str) -> frozenset[Disfluency]:
        """Return the classes that the model of a system does not write."""
        return self.coverage.get(system, Coverage()).left_out

    def add_reference(self, transcript: Transcript) -> None:
        """Add the facts of one reference."""
        self.recordings += 1
        if is_draft(transcript):
            self.drafts.append(Path(transcript.path or "").name)
        self._count_speakers("", transcript)
        for code in dict.fromkeys(utterance.speaker for utterance in transcript.utterances):
            person = transcript.participants.get(code)
            self.unnamed = self.unnamed or person is None or not person.name
            if person is not None and person.name:
                self.names.add(person.name)
            if person is not None and person.corpus:
                self.corpora[person.corpus] = None
        self.unspaced.update(is_unspaced(utterance.body) for utterance in transcript.utterances)
        self.languages |= dict.fromkeys(_languages(transcript))

    def add_hypothesis(self, system: str, transcript: Transcript) -> None:
        """Add the facts of one transcript of a system."""
        self._count_speakers(system, transcript)
        self.coverage[system] = self.coverage.get(system, Coverage()) | read_coverage(transcript)
        self.written_in.setdefault(system, {}).update(dict.fromkeys(_languages(transcript)))
        for line in transcript.headers:
            if line.name == "@Comment" and line.value.startswith(_PROVENANCE):
                self.models.setdefault(system, {})[line.value] = None

    def _count_speakers(self, system: str, transcript: Transcript) -> None:
        count = len({utterance.speaker for utterance in transcript.utterances})
        self.most_speakers[system] = max(count, self.most_speakers.get(system, 0))


def _languages(transcript: Transcript) -> list[str]:
    return [chat_code(code) for code in transcript.languages]
