"""Many recordings in one call: finished ones are left alone, a bad one does not stop the rest.

The CHAT file is always written, for it is the transcript and knows what it was made from (see ``files.provenance``);
other formats are made from it. So a second call skips what is finished, a new format costs no decoding, and what a
person has corrected in a CHAT file goes into its subtitles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

from lsa_whisper import checkpoint
from lsa_whisper.audio import Recording
from lsa_whisper.chat.files import media_name
from lsa_whisper.checkpoint.choice import choose_model
from lsa_whisper.checkpoint.stored_labels import read_writing
from lsa_whisper.checkpoint.verification import absolute_model
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.decoding.expected_words import read_expected_words
from lsa_whisper.decoding.style import coverage_of, decoding_style, is_stock
from lsa_whisper.errors import AudioError, LsaWhisperError, printable
from lsa_whisper.system.files import FailedFile, paths_of
from lsa_whisper.system.table import read_table
from lsa_whisper.system.task_scheduler import EXPECTED_ERRORS, TaskError, TaskResult, WorkerFunction
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask
from lsa_whisper.transcription.assembly.diarizer import find_diarizer
from lsa_whisper.transcription.assembly.review import REVIEW_COLUMNS, collect_reviews
from lsa_whisper.transcription.files.cheap_checks import (
    out_folder,
    renaming_notice,
    split_formats,
    verify_call,
    verify_writable,
)
from lsa_whisper.transcription.files.derived import FLUENT
from lsa_whisper.transcription.files.outcome import (
    FileTask,
    TranscribedFile,
    TranscriptionSummary,
    file_outcome,
    plan_tasks,
)
from lsa_whisper.transcription.files.progress import RunLog, progress_meter
from lsa_whisper.transcription.files.recordings import Jobs, Recordings, find_jobs, open_recordings
from lsa_whisper.transcription.files.spec import TranscriberSpec
from lsa_whisper.transcription.files.transcribe_file import OutputOptions, transcribe_file
from lsa_whisper.transcription.options import AUTO, OptionChanges, TranscriptionOptions, combine
from lsa_whisper.transcription.workers import (
    FATAL,
    Backend,
    Outcomes,
    on_cluster,
    on_devices,
    worker_devices,
)


@private_umask()
def transcribe(
    inputs: Sequence[Path | str] | Path | str,
    model: str | Path | None = None,
    *,
    out: Path | str | None = None,
    formats: Sequence[str] | str = ("cha",),
    speakers: Path | str | None = None,
    speakers_model: Path | str | None = None,
    review: Path | str | None = None,
    log: Path | str | None = None,
    processes: int | None = None,
    ray: str | None = None,
    rename_media: bool = True,
    also_fluent: bool = False,
    verbose: bool = False,
    options: TranscriptionOptions | None = None,
    **changes: Unpack[OptionChanges],
) -> TranscriptionSummary:
    """Write a transcript for each recording and return the outcome of each.

    Example::

        transcribe(["visits", "pilot.wav"], "runs/storybook", out="transcripts", language="eng", word_times=True)

    Args:
        inputs: Recordings, and folders that are searched for recordings; one or several.
        model: A checkpoint folder or a hub name; for ``ct2`` also a folder that ``export --to ct2`` wrote. If not
            given, :func:`~lsa_whisper.checkpoint.choice.choose_model` decides.
        out: Folder for the transcripts (subfolders of input folders are kept), or the CHAT file of a single recording;
            next to the audio if absent.
        formats: Formats to write in addition to ``cha``, which is always written; also several in one: ``srt,eaf``.
        speakers: Speaker turns from external diarization: an RTTM, TextGrid or CHAT file, or a folder with one such
            file per recording; or ``auto`` to find them with pyannote.audio, ``auto:2`` if two people speak. They
            override the model's speakers, and word times are computed unless ``word_times`` is false: without them an
            utterance with several turns gets one speaker.
        speakers_model: The model of ``auto``: a folder with a ``config.yaml``, or such a file; by default
            ``pyannote/speaker-diarization-community-1`` in the cache of the Hugging Face hub, which is not contacted.
        review: CSV file for the least confident words and utterances; rows of earlier calls stay.
        log: File to append a line to for each recording.
        processes: Recordings processed in parallel; does not affect the transcripts. Default: one per GPU, or one
            without a GPU (on a Ray cluster, one per core). A script that uses more than one must guard the call with
            ``if __name__ == "__main__"``, as multiprocessing requires.
        ray: Address of a Ray cluster to run on; ``local`` starts one on this machine. Every machine must see
            recordings, model and transcripts under the same paths.
        rename_media: Where CLAN cannot read a recording's name in ``@Media``, write the transcript under a name that
            it can read. Otherwise such a recording is not transcribed. The recording itself is never renamed.
        also_fluent: Also write the cleaned text, as CHAT and as plain text, into the folder ``fluent`` beside each
            transcript.
        verbose: Also print the architecture and the vocabulary of the model.
        options: How to decode; the defaults of :class:`TranscriptionOptions` if absent.
        **changes: Fields of :class:`TranscriptionOptions`, applied to ``options``.

    Raises:
        AudioError: No recording was found, or the only recording cannot be read.
        CheckpointError: The model cannot be loaded.
        DiskError: A transcript cannot be written.
        LsaWhisperError: An option or format is unknown, or options do not go together.
    """
    options = combine(options, changes)
    if options.roles and str(speakers or "auto") == "auto":
        speakers = f"auto:{len(options.named_roles)}"
    options = options.with_changes(words=read_expected_words(options.words), word_times=_word_times(options, speakers))
    if processes is not None and processes < 1:
        raise LsaWhisperError(f"processes is {processes}; give 1 or more")
    closed: list[FailedFile] = []
    paths = paths_of(inputs)
    verify_call(paths, options)
    out_place, single = out_folder(paths, Path(out) if out else None)
    jobs = [(audio, single or target) for audio, target in find_jobs(paths, out_place, closed=closed)]
    if rename_media:
        jobs = [(audio, target.with_name(f"{media_name(target.stem)}.cha")) for audio, target in jobs]
    if not jobs and not closed:
        raise AudioError("no recording was found; name audio files, or folders that contain some")
    verify_writable(jobs)
    # Absolute paths, because the machines of a cluster run in other folders.
    who = find_diarizer(speakers or "", speakers_model) or (Path(speakers).absolute() if speakers else None)
    outputs = OutputOptions((*split_formats(formats), *(FLUENT if also_fluent else ())), who, len(jobs) == 1)
    if options.draft is not None:
        options = options.with_changes(draft=absolute_model(options.draft))
    if notice := renaming_notice(jobs) if rename_media else "":
        print_progress(printable(notice))
    spec = TranscriberSpec(absolute_model(choose_model(model, device=options.device)), options)
    spec.model_digest  # noqa: B018 -- a missing model must be reported before any recording is opened
    if review is not None:
        read_table(Path(review), REVIEW_COLUMNS)  # hours before it is written
    run_log = RunLog(Path(log) if log else None)
    for folder in closed:
        run_log.outcome(folder, 0.0)
    recordings = open_recordings(jobs, options.channel_index)
    result, is_any = TranscriptionSummary(), any(isinstance(recording, Recording) for recording in recordings.values())
    if is_any:
        _describe(spec, verbose)
    if jobs:  # where none can be opened, the model's library need not be loaded
        with _backend(spec, outputs, processes, ray, len(jobs)) if is_any else _this_process(spec, outputs) as backend:
            result = run_files(jobs, recordings, backend, log=run_log, single_raises=ray is None)
    result = replace(result, failed=(*closed, *result.failed))
    if review is None:
        return result
    without = collect_reviews([file.transcript for file in result.done], Path(review))
    return replace(result, without_review=tuple(without))


def _word_times(options: TranscriptionOptions, speakers: Path | str | None) -> bool:
    """Return whether word times are computed: with turns, too, because an utterance is cut where its words change turn.

    Raises:
        LsaWhisperError: Turns and channels both say who speaks.
    """
    if speakers and options.channel_speakers:
        raise LsaWhisperError(f"--speakers and --channels {options.channels} both say who speaks; give one of them")
    return bool(speakers) if options.word_times is None else options.word_times


def _backend(
    spec: TranscriberSpec, outputs: OutputOptions, processes: int | None, ray: str | None, recordings: int
) -> AbstractContextManager[Backend]:
    """Return what transcribes the recordings: this process, several, or a Ray cluster."""
    if ray is not None:
        return on_cluster(ray, spec, outputs, processes)
    if spec.options.engine == "ct2":
        checkpoint.require_ctranslate2("the engine ct2")
    spec = spec.on(*resolve_device(spec.options.device, spec.options.dtype, spec.options.engine))
    devices = worker_devices(spec.options.device, processes, recordings)
    if len(devices) > 1:
        return on_devices(devices, spec, outputs)
    return _this_process(spec, outputs)


def _this_process(spec: TranscriberSpec, outputs: OutputOptions) -> AbstractContextManager[Backend]:
    return nullcontext(partial(run_in_this_process, partial(transcribe_file, spec, outputs)))


def run_files(
    jobs: Jobs, recordings: Recordings, backend: Backend, *, log: RunLog | None = None, single_raises: bool = False
) -> TranscriptionSummary:
    """Return what became of each recording, in the order of the jobs. A failed recording does not stop the others.

    ``log`` gets a line for each recording. With ``single_raises``, the error of a job that is the only one is raised
    instead of listed.

    Raises:
        CheckpointError: The model cannot be loaded.
        DiskError: The disk is full or read-only.
    """
    tasks, outcomes = plan_tasks(jobs, recordings)
    log = log or RunLog(None)
    for failure in outcomes.values():
        log.outcome(failure, 0.0)
    single = single_raises and len(jobs) == 1
    if single and not tasks and isinstance(error := recordings[jobs[0][0]], AudioError):
        raise error
    with (
        progress_meter(sum(task.recording.duration_s for task in tasks.values())) as progress,
        closing(backend(tasks, lambda number, at_s: progress.update(at_s, number))) as results,
    ):
        for number, outcome in results:
            (audio, target), duration_s = jobs[number], tasks[number].recording.duration_s
            outcomes[number] = file_outcome(audio, target, outcome)
            log.outcome(outcomes[number], duration_s)
            if single and isinstance(outcome, TaskError):
                raise outcome.error
            progress.finish(audio.name, duration_s, number)
    in_order = [outcomes[number] for number in sorted(outcomes)]
    done = tuple(file for file in in_order if isinstance(file, TranscribedFile))
    return TranscriptionSummary(done, tuple(file for file in in_order if isinstance(file, FailedFile)))


def run_in_this_process(
    work: WorkerFunction[FileTask, TranscribedFile],
    tasks: Mapping[int, FileTask],
    report: Callable[[int, float], None] = lambda number, seconds: None,
) -> Outcomes:
    """Yield the outcome of every task under its number, one after the other.

    ``report`` is called with the number of a recording and the seconds of it that are done.

    Raises:
        Exception: An error in ``FATAL``, or one that is not among
            :data:`~lsa_whisper.system.task_scheduler.EXPECTED_ERRORS`.
    """
    for number, task in tasks.items():
        began = time.monotonic()
        try:
            file = work(task, partial(report, number))
        except FATAL:
            raise
        except EXPECTED_ERRORS as error:
            yield number, TaskError(error, time.monotonic() - began)
        else:
            yield number, TaskResult(file, time.monotonic() - began)


def _describe(spec: TranscriberSpec, verbose: bool) -> None:
    """Print what a person must know of the model before reading its transcripts; with ``verbose``, what it is.

    Raises:
        CheckpointError: The model cannot be used, or cannot write in the style that is asked for.
    """
    facts, model = checkpoint.overview_line(spec.model), read_writing(spec.model)
    if verbose:
        print_progress(facts)
    style = decoding_style(model, spec.options.style, spec.options.chat_language)
    if is_stock(model) and (spec.options.language, spec.options.style) == (AUTO, None):  # it writes verbatim in some
        print_progress(
            "NOTE: which disfluencies this model leaves out depends on the language: each transcript names them"
        )
    elif (sentence := coverage_of(model, style).sentence()) and not style.is_cleaned:  # asked to leave them out
        print_progress(f"NOTE: {sentence}")
