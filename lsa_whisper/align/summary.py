"""The results of a run: what was aligned, what deviates, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsa_whisper.align.doubts import Doubt
from lsa_whisper.chat import Utterance
from lsa_whisper.system.files import FailedFile, WithFailures
from lsa_whisper.system.terminal import counted
from lsa_whisper.timespan import TimeSpan

DEVIATION_MS = 500
"""Bullets that start closer than this to the aligned words agree with them."""


@dataclass(frozen=True)
class BulletDeviation:
    """A bullet that disagrees with the sound: its line, and how much later than the words it starts."""

    line: int
    late_ms: int

    def __str__(self) -> str:
        side = "late" if self.late_ms > 0 else "early"
        return f"line {self.line} is {abs(self.late_ms) / 1000:.1f} s off (too {side})"


def bullet_deviations(utterances: Sequence[Utterance], spans: Sequence[TimeSpan | None]) -> Iterator[BulletDeviation]:
    """Yield the utterances whose bullet starts more than :data:`DEVIATION_MS` from where their words were found."""
    for utterance, span in zip(utterances, spans, strict=True):
        if utterance.span and span and abs(utterance.span.start_ms - span.start_ms) > DEVIATION_MS:
            yield BulletDeviation(utterance.line or 0, utterance.span.start_ms - span.start_ms)


@dataclass(frozen=True)
class AlignedFile:
    """A transcript that was aligned or checked.

    Attributes:
        transcript: The input.
        target: The CHAT file with times.
        skipped: Whether it was there before.
        utterances: Number of utterances.
        timed: How many of them have a time.
        doubts: What a person should look at.
        deviations: Bullets that disagree with the sound, if they were checked.
        checked: Whether bullets were compared and nothing was written.
        bulleted: How many utterances had a bullet, and keep it.
        misfit: Whether hardly a word of it was recognized in the recording.
    """

    transcript: Path
    target: Path
    skipped: bool = False
    utterances: int = 0
    timed: int = 0
    doubts: tuple[Doubt, ...] = ()
    deviations: tuple[BulletDeviation, ...] = ()
    checked: bool = False
    bulleted: int = 0
    misfit: bool = False

    def lines(self) -> Iterator[str]:
        """Yield what is reported about the file."""
        if self.skipped:
            yield f"kept    {self.target}"
            return
        utterances = counted(self.utterances, "utterance")
        if self.checked:
            deviating = f"bullets that deviate: {len(self.deviations)}"
            yield f"checked {self.transcript}: {utterances}; {deviating}"
            yield from (f"  {deviation}" for deviation in self.deviations)
            return
        if self.misfit:
            yield f"DOUBTED {self.target}: hardly a word was recognized; is it the transcript of this recording?"
        yield f"aligned {self.target}: {self.timed} of {utterances}"
        if self.bulleted:
            yield f"  bullets that stay: {self.bulleted} (`check_times=True` names wrong ones; delete those and align)"
        for doubt in self.doubts:
            if doubt.problem == "not found":
                yield f"  line {doubt.line} was not found: {doubt.utterance}"
        counts = Counter(doubt.problem for doubt in self.doubts if doubt.problem != "not found")
        if counts:
            yield "  to review: " + ", ".join(f"{count} {problem}" for problem, count in sorted(counts.items()))


@dataclass(frozen=True)
class AlignmentSummary(WithFailures):
    """The result for every transcript, in the order of the inputs."""

    done: tuple[AlignedFile, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    review: Path | None = None

    def table(self) -> str:
        """Return what is printed: the files, what to review, and a last line that counts.

        >>> print(AlignmentSummary((AlignedFile(Path("a.cha"), Path("b/a.cha"), False, 3, 3),)).table())
        aligned b/a.cha: 3 of 3 utterances
        1 aligned, 0 kept, 0 failed
        """
        lines = [line for file in self.done for line in file.lines()]
        lines += [f"failed  {failure.reason}" for failure in self.failed]
        if self.review is not None:
            lines.append(f"review: {self.review}")
            kept_before = [file.target for file in self.done if file.skipped]
            lines += [
                f"not in the review: {path} (aligned before; delete it to align it again)" for path in kept_before
            ]
        skips = sum(file.skipped for file in self.done)
        action = "checked" if any(file.checked for file in self.done) else "aligned"
        return "\n".join([*lines, f"{len(self.done) - skips} {action}, {skips} kept, {len(self.failed)} failed"])
