"""Workers that are actors of a Ray cluster: one for each of its GPUs, or its cores where it has none.

Plain actors, not Ray Data: the work is a few long tasks of known length whose results are files, and Ray Data is made
for streams of rows. It would cut the files into blocks, repeat a block's finished files with those that died, and give
no say in who begins with the longest. Recordings do not travel: every machine reads them, and writes its transcripts,
in a file system that all share.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lsa_whisper.errors import LsaWhisperError, MissingExtraError
from lsa_whisper.transcribe.workers.scheduler import (
    FailedFile,
    FatalError,
    Task,
    TranscribedFile,
    Work,
    WorkerDied,
    WorkerEvent,
    run_task,
)
from lsa_whisper.umask import private_umask

_STORE_BYTES = 100_000_000  # tasks and outcomes are a few lines each; the default takes 30 % of the memory

_PATIENCE_S = 10.0


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

    def ask(self, function: Any, *arguments: Any, gpus: int) -> Any:
        """Return what a function says on one of the machines."""
        return self._ray.get(self._ray.remote(function).options(num_gpus=gpus).remote(*arguments))

    def pool(self, work: Work, *, gpus: int) -> RayActorPool:
        """Return a pool of actors with a core, and ``gpus`` GPUs, each."""
        return RayActorPool(self._ray, work, gpus)


@contextmanager
def cluster(address: str) -> Iterator[RayCluster]:
    """Give a connection to the cluster at ``address``; ``local`` starts one on this machine for the block.

    Raises:
        MissingExtraError: Ray is not installed.
        LsaWhisperError: there is no such cluster.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # what Ray starts from here must not report to anyone
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("transcribe --ray", "Ray", "ray") from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        # No dashboard, and nothing that listens for other machines: a cluster of one has no need of either.
        options |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES, "_node_ip_address": "127.0.0.1"}
    try:
        _knock(address)
        ray.init(address=address, **options)
    except (OSError, ValueError, RuntimeError) as error:
        raise LsaWhisperError(f"no Ray cluster at {address} ({error}); start one: ray start --head") from error
    try:
        yield RayCluster(ray)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Return when somebody answers at ``host:port``; Ray itself would try for a quarter of an hour.

    Raises:
        OSError: nobody does.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()


class RayActorPool:
    """A pool of actors."""

    def __init__(self, ray: Any, work: Work, gpus: int):
        self._ray, self._work, self._home = ray, work, socket.gethostname()
        # Ray may restart actors by itself, but would not say which recording one died of.
        self._kind = ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0)(_Actor)
        self._busy: dict[Any, Any] = {}

    def start_worker(self) -> Any:
        """Return a fresh actor; it begins as soon as the cluster has room for it."""
        return self._kind.remote(self._work)

    def submit(self, worker: Any, task: Task) -> None:
        """Send a task, whose paths must mean the same on every machine."""
        there = Task(replace(task.recording, path=task.recording.path.absolute()), task.target.absolute())
        self._busy[worker.do.remote(there)] = worker

    def wait(self) -> list[tuple[Any, WorkerEvent]]:
        """Return the outcome of the next task that ends."""
        (reference,), _ = self._ray.wait(list(self._busy), num_returns=1)
        worker = self._busy.pop(reference)
        try:
            return [(worker, self._ray.get(reference))]
        except self._ray.exceptions.RayError as error:
            return [(worker, WorkerDied(str(error).strip().splitlines()[0]))]

    def stop_worker(self, worker: Any) -> None:
        """End an actor, so that its GPU is free for others."""
        self._ray.kill(worker)


class _Actor:
    """What runs on the machines of the cluster."""

    def __init__(self, work: Work):
        self._work = work

    @private_umask()
    def do(self, task: Task) -> TranscribedFile | FailedFile | FatalError:
        """Return what became of a recording; Ray counts it as done when this returns."""
        if not task.recording.path.exists():
            return FailedFile(task.recording.path, _unseen(task.recording.path))
        return run_task(self._work, task, lambda _: None)


def _unseen(path: Path) -> str:
    return (
        f"{path}: machine {socket.gethostname()} of the Ray cluster does not see it; put recordings, transcripts and "
        "model where every machine has them under the same path (a shared file system)"
    )
