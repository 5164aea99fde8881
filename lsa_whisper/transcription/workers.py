"""The backends that transcribe files with several workers: processes of this machine, or actors of a Ray cluster.

On a cluster there is one actor for each of its GPUs, or for each of its cores where it has none. Plain actors, not Ray
Data: the tasks are few, long, of known length, and their results are files, while Ray Data is made for streams of rows.
It would group files into blocks, repeat the finished files of a block when one dies, and could not start with the
longest. Audio is not sent: every machine reads the recordings and writes its transcripts in a file system that all of
them share.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from lsa_whisper.decoding.engines import resolve_device
from lsa_whisper.errors import CheckpointError, DiskError, LsaWhisperError, MissingExtraError, first_line
from lsa_whisper.system.process_pool import process_pool
from lsa_whisper.system.task_scheduler import (
    TaskError,
    TaskResult,
    WorkerDied,
    WorkerEvent,
    WorkerFunction,
    WorkerPool,
    run_task,
    run_tasks,
)
from lsa_whisper.system.umask import private_umask
from lsa_whisper.transcription.files.outcome import FileTask, Outcome, TranscribedFile
from lsa_whisper.transcription.files.spec import TranscriberSpec
from lsa_whisper.transcription.files.transcribe_file import OutputOptions, transcribe_file

_STORE_BYTES = 100_000_000  # tasks and results are a few lines each; the default takes 30 % of the memory

_CONNECT_TIMEOUT_S = 10.0

_MAX_TEMP_FOLDER_LENGTH = 36  # Ray's sockets lie below it, and the path of a socket has 107 bytes at most

Transcribe = WorkerFunction[FileTask, TranscribedFile]


class RayCluster:
    """A connection to a Ray cluster."""

    def __init__(self, ray: Any):
        self._ray = ray

    def gpus(self) -> int:
        """Return how many GPUs the cluster has."""
        return int(self._ray.cluster_resources().get("GPU", 0))

    def cores(self) -> int:
        """Return how many cores the cluster has."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def call(self, function: Callable[..., Any], *arguments: Any, gpus: int) -> Any:
        """Return what a function returns on one of the machines."""
        return self._ray.get(self._ray.remote(function).options(num_gpus=gpus).remote(*arguments))

    def pool(self, function: Transcribe, *, gpus: int) -> RayActorPool:
        """Return a pool of actors with one core, and ``gpus`` GPUs, each."""
        return RayActorPool(self._ray, function, gpus)


@contextmanager
def connect_to_cluster(address: str) -> Iterator[RayCluster]:
    """Give a connection to the cluster at ``address``; ``local`` starts one on this machine for the block.

    Raises:
        MissingExtraError: Ray is not installed.
        LsaWhisperError: There is no such cluster.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # what Ray starts from here must not report to anyone
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("transcribe --ray", "Ray", "ray") from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        # A cluster of one machine needs no dashboard and no port that other machines can reach.
        options |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES, "_node_ip_address": "127.0.0.1"}
    with ExitStack() as stack:
        if address == "local" and len(os.fsencode(tempfile.gettempdir())) > _MAX_TEMP_FOLDER_LENGTH:
            options["_temp_dir"] = stack.enter_context(TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True))
        try:
            # Ray itself would try for a quarter of an hour.
            host, _, port = address.removeprefix("ray://").rpartition(":")
            if host and port.isdigit():
                socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT_S).close()
            ray.init(address=address, **options)
        except Exception as error:  # Ray raises a bare one where it does not start within half a minute
            remedy = (
                "run it again when the machine is less busy" if address == "local" else "start one: ray start --head"
            )
            raise LsaWhisperError(f"no Ray cluster at {address} ({first_line(error)}); {remedy}") from error
        stack.callback(ray.shutdown)
        yield RayCluster(ray)


class RayActorPool:
    """A pool of actors."""

    def __init__(self, ray: Any, function: Transcribe, gpus: int):
        self._ray, self._function = ray, function
        # Ray can restart actors by itself, but does not tell which recording the actor had.
        self._kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0)(_Actor)
        self._busy: dict[Any, Any] = {}

    def start_worker(self) -> Any:
        """Return a fresh actor; it starts as soon as the cluster has room for it."""
        return self._kind.remote(self._function)

    def submit(self, worker: Any, item: FileTask) -> None:
        """Send a task, with paths that mean the same on every machine."""
        recording = replace(item.recording, path=item.recording.path.absolute())
        self._busy[worker.run.remote(FileTask(recording, item.target.absolute()))] = worker

    def wait(self) -> list[tuple[Any, WorkerEvent[TranscribedFile]]]:
        """Return the outcome of the next task that ends."""
        (reference,), _ = self._ray.wait(list(self._busy), num_returns=1)
        worker = self._busy.pop(reference)
        try:
            return [(worker, self._ray.get(reference))]
        except self._ray.exceptions.RayError as error:
            return [(worker, WorkerDied(first_line(error)))]

    def stop_worker(self, worker: Any) -> None:
        """End an actor, so that its GPU is free for others."""
        self._ray.kill(worker)


class _Actor:
    """The worker on a machine of the cluster."""

    def __init__(self, function: Transcribe):
        self._function = function

    @private_umask()
    def run(self, task: FileTask) -> TaskResult[TranscribedFile] | TaskError:
        """Return the outcome of a task; Ray sends no progress."""
        if not task.recording.path.exists():
            return TaskError(LsaWhisperError(_not_shared(task.recording.path)))
        return run_task(self._function, task, lambda _: None)


def _not_shared(path: os.PathLike[str]) -> str:
    return (
        f"{path}: machine {socket.gethostname()} of the Ray cluster does not see it; put recordings, transcripts and "
        "model where every machine has them under the same path (a shared file system)"
    )


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
