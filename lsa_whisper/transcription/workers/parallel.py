"""The backends that transcribe files with several workers: processes of this machine, or actors of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import CheckpointError, DiskError, LsaWhisperError
from lsa_whisper.system.process_pool import WorkerPool, process_pool, run_tasks
from lsa_whisper.transcription.files.outcome import FileTask, Outcome, TranscribedFile
from lsa_whisper.transcription.files.spec import TranscriberSpec
from lsa_whisper.transcription.files.transcribe_file import OutputOptions, transcribe_file
from lsa_whisper.transcription.workers.ray_actors import RayCluster, connect_to_cluster

FATAL = (CheckpointError, DiskError)
"""Errors after which no other file can be transcribed: the model cannot be loaded, or the disk is full."""

Outcomes: TypeAlias = Generator[tuple[int, Outcome], None, None]
Backend: TypeAlias = Callable[[Mapping[int, FileTask], Callable[[int, float], None]], Outcomes]
"""Runs tasks, reports the seconds of each that are done, and yields their outcomes by number as they end."""


@contextmanager
def on_devices(devices: Sequence[str], spec: TranscriberSpec, output: OutputOptions) -> Iterator[Backend]:
    """Give a backend with one process for each of the devices."""
    with process_pool([partial(transcribe_file, spec.on(device), output) for device in devices]) as pool:
        yield partial(_run_on, pool, len(devices))


@contextmanager
def on_cluster(
    address: str, spec: TranscriberSpec, output: OutputOptions, workers: int | None = None
) -> Iterator[Backend]:
    """Give a backend on a Ray cluster, with ``workers`` actors; by default one for each GPU or core."""
    with connect_to_cluster(address) as cluster:
        spec = _placed_there(spec, cluster)
        on_gpu = spec.options.device == "cuda"
        pool = cluster.pool(partial(transcribe_file, spec, output), gpus=int(on_gpu))
        yield partial(_run_on, pool, workers or (cluster.gpus() if on_gpu else cluster.cores()))


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
    pool: WorkerPool[FileTask, TranscribedFile],
    workers: int,
    tasks: Mapping[int, FileTask],
    report: Callable[[int, float], None],
) -> Outcomes:
    return run_tasks(tasks, pool, workers, report, cost=lambda task: task.recording.duration_s, fatal=FATAL)


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
