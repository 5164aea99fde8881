"""The backends that transcribe files: this process, processes of this machine, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.system.process_pool import WorkerPool, process_pool, run_in_this_process, run_tasks
from lsa_whisper.transcription.files.log import RunLog
from lsa_whisper.transcription.files.outcome import FileTask, TranscribedFile, TranscriptionSummary
from lsa_whisper.transcription.files.spec import TranscriberSpec
from lsa_whisper.transcription.files.transcribe_file import OutputOptions, transcribe_file
from lsa_whisper.transcription.workers.ray_actors import RayCluster, connect_to_cluster
from lsa_whisper.transcription.workers.run_files import FATAL, Backend, Jobs, Outcomes, Recordings, run_files


def in_this_process(spec: TranscriberSpec, output: OutputOptions) -> Backend:
    """Return what transcribes recordings in this process, one after the other."""
    work = partial(transcribe_file, spec, output)
    return lambda tasks, report: run_in_this_process(tasks, work, report, fatal=FATAL)


def transcribe_on_devices(
    devices: Sequence[str],
    jobs: Jobs,
    recordings: Recordings,
    spec: TranscriberSpec,
    output: OutputOptions,
    log: RunLog,
) -> TranscriptionSummary:
    """Transcribe the recordings in one process for each of the devices."""
    with process_pool([partial(transcribe_file, spec.on(each), output) for each in devices]) as pool:
        return _run_on(pool, len(devices), jobs, recordings, log)


def transcribe_on_cluster(
    address: str,
    jobs: Jobs,
    recordings: Recordings,
    spec: TranscriberSpec,
    output: OutputOptions,
    workers: int | None,
    log: RunLog,
) -> TranscriptionSummary:
    """Transcribe the recordings on a Ray cluster, by ``workers`` actors; by default one for each GPU or core."""
    with connect_to_cluster(address) as cluster:
        spec = _placed_there(spec, cluster)
        on_gpu = spec.options.device == "cuda"
        pool = cluster.pool(partial(transcribe_file, spec, output), gpus=int(on_gpu))
        return _run_on(pool, workers or (cluster.gpus() if on_gpu else cluster.cores()), jobs, recordings, log)


def worker_devices(device: str, processes: int | None, jobs: int) -> list[str]:
    """Return the device of each process; ``cuda`` stands for all GPUs in turn."""
    if device != "cuda":
        return [device] * min(processes or 1, jobs)
    import torch

    gpus = torch.cuda.device_count()
    if not gpus:
        return [device]  # loading the model raises the error
    return [f"cuda:{number % gpus}" for number in range(min(processes or gpus, jobs))]


def _run_on(
    pool: WorkerPool[FileTask, TranscribedFile], workers: int, jobs: Jobs, recordings: Recordings, log: RunLog
) -> TranscriptionSummary:
    def run(tasks: Mapping[int, FileTask], report: Callable[[int, float], None]) -> Outcomes:
        return run_tasks(tasks, pool, workers, report, cost=lambda task: task.recording.duration_s, fatal=FATAL)

    return run_files(jobs, recordings, run, log=log)


def _placed_there(spec: TranscriberSpec, cluster: RayCluster) -> TranscriberSpec:
    """Return the spec with the device and number format that ``auto`` stands for on a cluster's machines."""
    if spec.options.device not in ("auto", "cpu", "cuda"):
        raise LsaWhisperError(f"device {spec.options.device!r}: Ray assigns its GPUs itself; give auto, cuda or cpu")
    if spec.options.device == "auto":
        spec = spec.on("cuda" if cluster.gpus() else "cpu")
    on_gpu = spec.options.device == "cuda"
    if on_gpu and not cluster.gpus():
        raise LsaWhisperError("device 'cuda': the Ray cluster has no GPU; give cpu, or add a machine that has one")
    if not on_gpu:
        return spec.on(*resolve_device("cpu", spec.options.dtype, spec.options.engine))
    return spec.on(*cluster.call(resolve_device, spec.options.device, spec.options.dtype, spec.options.engine, gpus=1))
