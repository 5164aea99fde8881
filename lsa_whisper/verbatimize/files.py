"""The verbatim transcript: how it is made of the clean one, and what is reported about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lsa_whisper.chat import Line, Transcript, Utterance
from lsa_whisper.system.files import FailedFile, WithFailures
from lsa_whisper.system.terminal import counted

VERBATIM_FOLDER = "verbatim"
"""Name of the folder next to a transcript that its result is written to by default."""


def fluent_words(transcript: Transcript) -> list[tuple[str, list[str]]]:
    """Return the speaker and the fluent words of each utterance, which the verbatim transcript keeps."""
    return [(utterance.speaker, utterance.fluent()) for utterance in transcript.utterances]


def with_bodies(source: Transcript, bodies: Mapping[int, str], comment: str) -> Transcript:
    """Return ``source`` with other main tiers, by the number of the utterance, and a comment on their origin.

    Changed utterances lose ``%wor``, which lacks the new words; all other tiers are about words that stay.
    """
    utterances = [
        replace(utterance.with_body(body), tiers=utterance.tiers_but("%wor")) if body != utterance.body else utterance
        for utterance, body in ((own, bodies.get(at, own.body)) for at, own in enumerate(source.utterances))
    ]
    blocks = source.with_utterances(utterances).blocks
    first = next((at for at, block in enumerate(blocks) if isinstance(block, Utterance)), None)
    if first is not None:
        ending = "\r\n" if source.utterances[0].main.endswith("\r\n") else "\n"
        blocks.insert(first, Line(f"@Comment:\t{comment}{ending}", 0))
    return replace(source, blocks=blocks)


def count_changes(source: Transcript, written: Transcript) -> tuple[int, int, int]:
    """Return the number of utterances, of those that changed, and of disfluencies that were added."""
    pairs = list(zip(source.utterances, written.utterances, strict=True))
    changed = sum(before.body != after.body for before, after in pairs)
    return len(pairs), changed, sum(len(after.events()) - len(before.events()) for before, after in pairs)


@dataclass(frozen=True)
class VerbatimFile:
    """A transcript of what was spoken.

    ``changed`` is how many utterances have more disfluencies than before, ``inserted`` the number of these. ``left``
    has the lines of the utterances that were left as they are: they have no times, no known words, or are too long.
    ``skipped``: it was there before.
    """

    transcript: Path
    target: Path
    skipped: bool = False
    utterances: int = 0
    changed: int = 0
    inserted: int = 0
    left: tuple[int, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield what is reported about the file."""
        if self.skipped:
            yield f"kept    {self.target}"
            return
        inserted, utterances = counted(self.inserted, "disfluency"), counted(self.utterances, "utterance")
        yield f"written {self.target}: {inserted} in {self.changed} of {utterances}"
        if self.left:
            numbers = ", ".join(map(str, self.left[:10])) + (", ..." if len(self.left) > 10 else "")
            yield f"  left as they are, without times or known words, overlapped, or too long: lines {numbers}"


@dataclass(frozen=True)
class VerbatimSummary(WithFailures):
    """The result for every transcript, in the order of the inputs."""

    done: tuple[VerbatimFile, ...] = ()
    failed: tuple[FailedFile, ...] = ()

    def table(self) -> str:
        """Return what is printed: the files, and a last line that counts.

        >>> print(VerbatimSummary((VerbatimFile(Path("a.cha"), Path("b/a.cha"), False, 9, 2, 3),)).table())
        written b/a.cha: 3 disfluencies in 2 of 9 utterances
        1 written, 0 kept, 0 failed
        """
        lines = [line for file in self.done for line in file.lines()]
        lines += [f"failed  {failure.reason}" for failure in self.failed]
        skips = sum(file.skipped for file in self.done)
        return "\n".join([*lines, f"{len(self.done) - skips} written, {skips} kept, {len(self.failed)} failed"])
