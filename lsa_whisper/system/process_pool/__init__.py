"""Tasks distributed over worker processes: one implementation for all verbs.

:func:`run_tasks` schedules tasks on the workers of any :class:`WorkerPool`; :class:`ProcessPool` is the one whose
workers are processes of this machine, and ``transcribe`` has another whose workers are actors of a Ray cluster.

Own code on ``multiprocessing``, because the libraries for this do not give what the verbs need. When a worker of
``concurrent.futures.ProcessPoolExecutor`` or of loky dies, the whole executor breaks: all its tasks fail, and it does
not tell which task the worker had. Here a death costs one task, which is tried once more. Neither library gives each
worker arguments of its own (a GPU), and neither ends the workers when the parent is killed.
"""

from lsa_whisper.system.process_pool.processes import ProcessPool, process_pool
from lsa_whisper.system.process_pool.scheduler import (
    EXPECTED_ERRORS,
    TaskError,
    TaskResult,
    WorkerDied,
    WorkerDiedError,
    WorkerEvent,
    WorkerFunction,
    WorkerPool,
    run_task,
    run_tasks,
)

__all__ = [
    "EXPECTED_ERRORS",
    "ProcessPool",
    "TaskError",
    "TaskResult",
    "WorkerDied",
    "WorkerDiedError",
    "WorkerEvent",
    "WorkerFunction",
    "WorkerPool",
    "process_pool",
    "run_task",
    "run_tasks",
]
