"""Items processed in this process or in several others; the result is the same."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial

from lsa_whisper.errors import CorpusError
from lsa_whisper.system.process_pool import process_pool
from lsa_whisper.system.task_scheduler import ItemT, Report, ResultT, TaskError, WorkerDiedError, run_tasks


def map_parallel(
    function: Callable[[ItemT], ResultT], items: Sequence[ItemT], processes: int, *, name: Callable[[ItemT], str] = str
) -> Generator[tuple[int, ResultT], None, None]:
    """Yield the index of each item and ``function(item)``, in the order in which they end.

    A worker process that dies is an error, not a failed file: it ran out of memory or was killed, and a data set must
    not depend on that.

    Close the iterator (``contextlib.closing``) when it is not read to its end, so that the processes end at once. The
    function must be one of a module, because other processes must find it. One process is this one. ``name`` is how an
    item is called in an error.

    Raises:
        CorpusError: Two processes died while they processed the same item.
        Exception: Whatever ``function`` raises.
    """
    if processes == 1 or len(items) < 2:
        yield from enumerate(map(function, items))
        return
    count = min(processes, len(items))
    with (
        process_pool([partial(_call, function)] * count) as pool,
        closing(run_tasks(dict(enumerate(items)), pool, count)) as ended,
    ):
        for number, outcome in ended:
            if not isinstance(outcome, TaskError):
                yield number, outcome.result
            elif isinstance(outcome.error, WorkerDiedError):
                raise CorpusError(
                    f"{name(items[number])}: the worker process died twice while preparing it ({outcome.error}); "
                    "finished sessions are kept, so call again, with fewer processes or without that session"
                ) from outcome.error
            else:
                raise outcome.error


def _call(function: Callable[[ItemT], ResultT], item: ItemT, report: Report, /) -> ResultT:
    return function(item)
