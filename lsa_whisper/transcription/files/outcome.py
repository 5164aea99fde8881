"""The tasks of a run and its results: what was transcribed and what failed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError
from lsa_whisper.system.files import FailedFile, WithFailures
from lsa_whisper.system.task_scheduler import EXPECTED_ERRORS, TaskError, TaskResult, WorkerDiedError
from lsa_whisper.transcription.files.recordings import Jobs, Recordings


@dataclass(frozen=True)
class FileTask:
    """A recording and the path of its transcript."""

    recording: Recording
    target: Path


@dataclass(frozen=True)
class TranscribedFile:
    """A recording that has a transcript.

    Attributes:
        audio: The recording.
        transcript: The CHAT file.
        skipped: Whether the transcript was finished before.
        counts: The number of its utterances and words.
        note: Remarks on the recording or its decoding that a reader should know.
        took_s: How long it took.
        messages: What the audio decoder said about damage, for the log.
    """

    audio: Path
    transcript: Path
    skipped: bool = False
    counts: tuple[int, int] = (0, 0)
    note: str = ""
    took_s: float = field(default=0.0, compare=False)
    messages: tuple[str, ...] = ()


Outcome: TypeAlias = TaskResult[TranscribedFile] | TaskError
"""How a task ended."""


@dataclass(frozen=True)
class TranscriptionSummary(WithFailures):
    """The result for every recording, in the order of the inputs.

    Attributes:
        done: The recordings with a transcript.
        failed: The recordings without one.
        without_review: Finished transcripts that are not in the review, because their confidences are not known.
    """

    done: tuple[TranscribedFile, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    without_review: tuple[Path, ...] = ()

    def table(self) -> str:
        """Return one line per recording, its note below it, and a last line that counts them.

        >>> transcribed = TranscribedFile(Path("a.wav"), Path("a.cha"), note="it breaks off after 1.2 s")
        >>> failed = FailedFile(Path("b.wav"), "b.wav: empty")
        >>> print(TranscriptionSummary((transcribed,), (failed,)).table())
        done   a.cha
        check  a.cha: it breaks off after 1.2 s
        failed b.wav: empty
        1 transcribed, 0 kept, 1 failed
        """
        lines = [line for file in self.done for line in _lines(file)]
        lines += [f"failed {file.reason}" for file in self.failed]
        lines += [
            f"not in the review: {file} (its confidences were not kept; transcribe into another folder to have them)"
            for file in self.without_review
        ]
        skipped = sum(file.skipped for file in self.done)
        return "\n".join([*lines, f"{len(self.done) - skipped} transcribed, {skipped} kept, {len(self.failed)} failed"])


def _lines(file: TranscribedFile) -> list[str]:
    line = f"{'kept' if file.skipped else 'done'}   {file.transcript}"
    return [line, f"check  {file.transcript}: {file.note}"] if file.note else [line]


def plan_tasks(
    jobs: Jobs, recordings: Recordings
) -> tuple[dict[int, FileTask], dict[int, TranscribedFile | FailedFile]]:
    """Return the tasks by number, and the jobs that have failed before they start."""
    tasks: dict[int, FileTask] = {}
    failed: dict[int, TranscribedFile | FailedFile] = {}
    first: dict[Path, Path] = {}
    for number, (audio, target) in enumerate(jobs):
        recording = recordings[audio]
        if isinstance(recording, AudioError):
            failed[number] = FailedFile(audio, str(recording))
        elif target in first:
            reason = f"{audio}: its transcript would replace that of {first[target]}; rename one of the two"
            failed[number] = FailedFile(audio, reason)
        else:
            tasks[number], first[target] = FileTask(recording, target), audio
    return tasks, failed


def file_outcome(audio: Path, target: Path, outcome: Outcome) -> TranscribedFile | FailedFile:
    """Return the outcome with the paths that the user gave; workers on other machines use absolute paths."""
    if isinstance(outcome, TaskResult):
        return replace(outcome.result, audio=audio, transcript=target, took_s=outcome.took_s)
    return FailedFile(audio, _reason(audio, outcome.error), outcome.took_s)


def _reason(audio: Path, error: Exception) -> str:
    if isinstance(error, WorkerDiedError):
        return (
            f"{audio}: the worker process died twice while transcribing it ({error}); check that memory suffices "
            "(fewer processes, a smaller batch size), or convert the recording to wav or flac"
        )
    if isinstance(error, EXPECTED_ERRORS):
        return str(error)
    return f"{audio}: unexpected error ({type(error).__name__}: {error}); please report it with the lines above"
