"""The results of a run: what was written, what was left as it was, and what failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.system.failed_files import FailedFile, failure_exit_code


@dataclass(frozen=True)
class VerbatimFile:
    """A transcript of what was spoken.

    Attributes:
        transcript: the clean transcript.
        target: the CHAT file with the disfluencies.
        skipped: whether it was there before.
        utterances: number of utterances.
        changed: how many of them have more disfluencies than before.
        inserted: number of disfluencies that were inserted.
        left: lines of the utterances that were left as they are: they have no times, no known words, or are too long.
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
        yield (f"written {self.target}: {self.inserted} disfluencies in {self.changed} of {self.utterances} utterances")
        if self.left:
            named = ", ".join(map(str, self.left[:10])) + (", ..." if len(self.left) > 10 else "")
            yield f"  left as they are, without times or known words, overlapped, or too long: lines {named}"


@dataclass(frozen=True)
class VerbatimSummary:
    """The result for every transcript, in the order of the inputs."""

    done: tuple[VerbatimFile, ...] = ()
    failed: tuple[FailedFile, ...] = ()

    @property
    def exit_code(self) -> int:
        """The number of transcripts that failed, at most 100."""
        return failure_exit_code(self.failed)

    def table(self) -> str:
        """Return what is printed: the files, and a last line that counts.

        >>> print(VerbatimSummary((VerbatimFile(Path("a.cha"), Path("b/a.cha"), False, 9, 2, 3),)).table())
        written b/a.cha: 3 disfluencies in 2 of 9 utterances
        1 written, 0 kept, 0 failed
        """
        lines = [line for each in self.done for line in each.lines()]
        lines += [f"failed  {each.reason}" for each in self.failed]
        kept = sum(each.skipped for each in self.done)
        return "\n".join([*lines, f"{len(self.done) - kept} written, {kept} kept, {len(self.failed)} failed"])
