"""What became of each recording of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class TranscribedFile:
    """A recording with its transcript.

    Attributes:
        audio: the recording.
        transcript: the CHAT file.
        skipped: whether the transcript was there already.
        counts: its utterances and words.
        note: what decoding met with that a reader should know.
        took_s: how long somebody worked on it.
    """

    audio: Path
    transcript: Path
    skipped: bool = False
    counts: tuple[int, int] = (0, 0)
    note: str = ""
    took_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class FailedFile:
    """A recording without a transcript, why, and how long somebody worked on it."""

    audio: Path
    reason: str
    took_s: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class TranscriptionSummary:
    """What became of every recording, in the order of the inputs.

    Attributes:
        done: those with a transcript.
        failed: those without.
        without_review: transcripts of which a review was asked and confidences are not known.
    """

    done: tuple[TranscribedFile, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    without_review: tuple[Path, ...] = ()

    @property
    def exit_code(self) -> int:
        """How many recordings failed, as far as an exit code can count."""
        return min(len(self.failed), 100)

    def table(self) -> str:
        """Return one line per recording and a last line that counts them.

        >>> transcribed = TranscribedFile(Path("a.wav"), Path("a.cha"))
        >>> failed = FailedFile(Path("b.wav"), "b.wav: empty")
        >>> print(TranscriptionSummary((transcribed,), (failed,)).table())
        done   a.cha
        failed b.wav: empty
        1 transcribed, 0 kept, 1 failed
        """
        lines = [f"{'kept' if each.skipped else 'done'}   {each.transcript}" for each in self.done]
        lines += [f"failed {each.reason}" for each in self.failed]
        lines += [
            f"not in the review: {each} (made without --review; delete it to have it transcribed again)"
            for each in self.without_review
        ]
        kept = sum(each.skipped for each in self.done)
        return "\n".join([*lines, f"{len(self.done) - kept} transcribed, {kept} kept, {len(self.failed)} failed"])


def duplicate_target(audio: Path, first: Path) -> str:
    """Return the reason why ``audio`` has no transcript: that of ``first`` stands in its place."""
    return f"{audio}: its transcript would take the place of that of {first}; rename one of the two"
