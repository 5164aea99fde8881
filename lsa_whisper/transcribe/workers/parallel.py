"""A run on several devices: by processes of this machine, or by a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from lsa_whisper.audio import Recording
from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import AudioError, LsaWhisperError
from lsa_whisper.transcribe.files.log import RunLog
from lsa_whisper.transcribe.files.outcome import FailedFile, TranscribedFile, TranscriptionSummary, duplicate_target
from lsa_whisper.transcribe.files.progress import progress_meter
from lsa_whisper.transcribe.files.settings import Settings
from lsa_whisper.transcribe.files.transcribe_file import OutputOptions, transcribe_file
from lsa_whisper.transcribe.workers.processes import processes as process_pool
from lsa_whisper.transcribe.workers.ray_actors import RayCluster, cluster
from lsa_whisper.transcribe.workers.scheduler import Task, WorkerPool, run_tasks

Jobs = Sequence[tuple[Path, Path]]
Recordings = Mapping[Path, Recording | AudioError]


def transcribe_on_cluster(
    address: str,
    jobs: Jobs,
    recordings: Recordings,
    settings: Settings,
    wanted: OutputOptions,
    workers: int | None,
    log: RunLog,
) -> TranscriptionSummary:
    """Let a Ray cluster do the jobs: so many actors, or one for each GPU, or for each core where there is none."""
    with cluster(address) as machines:
        settings = _placed_there(settings, machines)
        count = workers or (machines.gpus() if settings.device == "cuda" else machines.cores())
        pool = machines.pool(partial(transcribe_file, settings, wanted), gpus=int(settings.device == "cuda"))
        return _run(jobs, recordings, pool, count, log)


def transcribe_on_devices(
    devices: Sequence[str], jobs: Jobs, recordings: Recordings, settings: Settings, wanted: OutputOptions, log: RunLog
) -> TranscriptionSummary:
    """Let one process for each of the devices do the jobs."""
    with process_pool([partial(transcribe_file, settings.on(each), wanted) for each in devices]) as pool:
        return _run(jobs, recordings, pool, len(devices), log)


def _placed_there(settings: Settings, machines: RayCluster) -> Settings:
    """Return the settings with the device and number format that ``auto`` stands for on a cluster's machines."""
    if settings.device not in ("auto", "cpu", "cuda"):
        raise LsaWhisperError(f"device {settings.device!r}: Ray deals out its GPUs itself; give auto, cuda or cpu")
    if settings.device == "auto":
        settings = settings.on("cuda" if machines.gpus() else "cpu")
    on_gpu = settings.device == "cuda"
    if on_gpu and not machines.gpus():
        raise LsaWhisperError("device 'cuda': the Ray cluster has no GPU; give cpu, or add a machine that has one")
    if not on_gpu:
        return settings.on(*resolve_device("cpu", settings.dtype, settings.engine))
    return settings.on(*machines.ask(resolve_device, settings.device, settings.dtype, settings.engine, gpus=1))


def worker_devices(device: str, processes: int | None, jobs: int) -> list[str]:
    """Return the device of each process: the GPUs in turn where any may be used."""
    if device != "cuda":
        return [device] * min(processes or 1, jobs)
    import torch

    gpus = torch.cuda.device_count()
    if not gpus:
        return [device]  # whoever loads the model says so
    return [f"cuda:{number % gpus}" for number in range(min(processes or gpus, jobs))]


def _run(jobs: Jobs, recordings: Recordings, pool: WorkerPool, workers: int, log: RunLog) -> TranscriptionSummary:
    """Let a pool of workers do the jobs; return what became of each, in the order of the jobs."""
    tasks: dict[int, Task] = {}
    outcomes: dict[int, TranscribedFile | FailedFile] = {}
    taken: dict[Path, Path] = {}
    for number, (audio, target) in enumerate(jobs):
        recording = recordings[audio]
        if isinstance(recording, AudioError):
            outcomes[number] = FailedFile(audio, str(recording))
        elif target in taken:
            outcomes[number] = FailedFile(audio, duplicate_target(audio, taken[target]))
        else:
            tasks[number], taken[target] = Task(recording, target), audio
            continue
        log.outcome(outcomes[number], 0.0)
    with (
        progress_meter(sum(task.recording.duration_s for task in tasks.values())) as progress,
        closing(run_tasks(tasks, pool, workers, lambda number, at_s: progress.at(at_s, number))) as ended,
    ):
        for number, outcome in ended:
            audio, target = jobs[number]
            # Workers on other machines know the files by longer names than the user.
            paths = {"audio": audio} | ({"transcript": target} if isinstance(outcome, TranscribedFile) else {})
            outcomes[number] = became = replace(outcome, **paths)
            log.outcome(became, tasks[number].recording.duration_s)
            progress.finish(audio.name, tasks[number].recording.duration_s, number)
    ordered = [outcomes[number] for number in sorted(outcomes)]
    done = tuple(each for each in ordered if isinstance(each, TranscribedFile))
    return TranscriptionSummary(done, tuple(each for each in ordered if isinstance(each, FailedFile)))
