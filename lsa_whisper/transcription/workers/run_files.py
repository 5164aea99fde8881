"""Transcription of many files, whoever runs the tasks: this process, a process pool or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from lsa_whisper.audio import Recording
from lsa_whisper.errors import AudioError, CheckpointError, DiskError
from lsa_whisper.system.failed_files import FailedFile
from lsa_whisper.system.process_pool import EXPECTED_ERRORS, TaskError, TaskResult, WorkerDiedError
from lsa_whisper.transcription.files.log import RunLog
from lsa_whisper.transcription.files.outcome import FileTask, TranscribedFile, TranscriptionSummary, duplicate_target
from lsa_whisper.transcription.files.progress import progress_meter

FATAL = (CheckpointError, DiskError)
"""Errors after which no other file can be transcribed: the model cannot be loaded, or the disk is full."""

Jobs: TypeAlias = Sequence[tuple[Path, Path]]
"""Recordings with the paths of their transcripts."""

Recordings: TypeAlias = Mapping[Path, Recording | AudioError]
"""The opened recordings by path, or why they cannot be opened."""


Outcome: TypeAlias = TaskResult[TranscribedFile] | TaskError
Outcomes: TypeAlias = Generator[tuple[int, Outcome], None, None]
Backend: TypeAlias = Callable[[Mapping[int, FileTask], Callable[[int, float], None]], Outcomes]
"""Runs tasks, reports the seconds of each that are done, and yields their outcomes by number as they end."""


def run_files(
    jobs: Jobs, recordings: Recordings, backend: Backend, *, log: RunLog | None = None, single_raises: bool = False
) -> TranscriptionSummary:
    """Return what became of each recording, in the order of the jobs. A failed recording does not stop the others.

    Args:
        jobs: recordings with the paths of their transcripts.
        recordings: the opened recordings.
        backend: runs the tasks.
        log: gets a line for each recording.
        single_raises: raise the error of a job that is the only one, instead of listing it.

    Raises:
        CheckpointError: the model cannot be loaded.
        DiskError: the disk is full or read-only.
    """
    tasks, outcomes = _plan(jobs, recordings)
    log = log or RunLog(None)
    for failed in outcomes.values():
        log.outcome(failed, 0.0)
    single = single_raises and len(jobs) == 1
    if single and not tasks and isinstance(error := recordings[jobs[0][0]], AudioError):
        raise error
    with (
        progress_meter(sum(task.recording.duration_s for task in tasks.values())) as progress,
        closing(backend(tasks, lambda number, at_s: progress.update(at_s, number))) as ended,
    ):
        for number, outcome in ended:
            (audio, target), duration_s = jobs[number], tasks[number].recording.duration_s
            outcomes[number] = _file_outcome(audio, target, outcome)
            log.outcome(outcomes[number], duration_s)
            if single and isinstance(outcome, TaskError):
                raise outcome.error
            progress.finish(audio.name, duration_s, number)
    ordered = [outcomes[number] for number in sorted(outcomes)]
    done = tuple(each for each in ordered if isinstance(each, TranscribedFile))
    return TranscriptionSummary(done, tuple(each for each in ordered if isinstance(each, FailedFile)))


def _plan(jobs: Jobs, recordings: Recordings) -> tuple[dict[int, FileTask], dict[int, TranscribedFile | FailedFile]]:
    """Return the tasks by number, and the jobs that have failed before they start."""
    tasks: dict[int, FileTask] = {}
    failed: dict[int, TranscribedFile | FailedFile] = {}
    first: dict[Path, Path] = {}
    for number, (audio, target) in enumerate(jobs):
        recording = recordings[audio]
        if isinstance(recording, AudioError):
            failed[number] = FailedFile(audio, str(recording))
        elif target in first:
            failed[number] = FailedFile(audio, duplicate_target(audio, first[target]))
        else:
            tasks[number], first[target] = FileTask(recording, target), audio
    return tasks, failed


def _file_outcome(audio: Path, target: Path, outcome: Outcome) -> TranscribedFile | FailedFile:
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
