"""This process's rank, from the environment that torchrun, accelerate, DeepSpeed or SLURM sets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from lsa_whisper.errors import RecipeError

RANK_LOST = "another rank of this run has ended, so this one cannot continue; see that rank's output"
_PORTS = 1 << 16
_LOST_CONNECTION = re.compile(r"Connection (closed|reset) by peer|Broken pipe")


def rank() -> int:
    """Return this process's rank; 0 if it is the only one."""
    return int(os.environ.get("RANK", "0"))


def ranks_of_run() -> int:
    """Return the number of ranks of this run; 1 if this process is the only one."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """Return this process's rank among those of its machine, which is the number of its GPU."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def is_launched() -> bool:
    """Return whether a launcher started this process as a rank."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def verify_ranks(environment: Mapping[str, str]) -> None:
    """Return if the variables that a launcher set fit each other, or none did.

    >>> verify_ranks({"RANK": "2", "WORLD_SIZE": "2"})
    Traceback (most recent call last):
    ...
    lsa_whisper.errors.RecipeError: RANK is '2', but must be from 0 to 1; use torchrun or srun, or unset it

    Raises:
        RecipeError: With the variable that is wrong or missing.
    """
    if "RANK" not in environment or "WORLD_SIZE" not in environment:
        return
    remedy = "use torchrun or srun, or unset it"
    world = environment["WORLD_SIZE"]
    if not world.isdecimal() or int(world) < 1:
        raise RecipeError(f"WORLD_SIZE is {world!r}, but must be 1 or more; {remedy}")
    for name in ("RANK", "LOCAL_RANK"):
        text = environment.get(name, "0")
        if not text.isdecimal() or int(text) >= int(world):
            raise RecipeError(f"{name} is {text!r}, but must be from 0 to {int(world) - 1}; {remedy}")
    if world == "1":
        return
    if not environment.get("MASTER_ADDR"):
        raise RecipeError("MASTER_ADDR, the host of rank 0, is not set; use torchrun or srun, or set it")
    port = environment.get("MASTER_PORT", "")
    if not port.isdecimal() or not 0 < int(port) < _PORTS:
        raise RecipeError(
            f"MASTER_PORT is {port!r}, but must be from 1 to {_PORTS - 1}; use torchrun or srun, or set it"
        )


def join_slurm_step() -> None:
    """Set torch's variables from SLURM's step, unless a launcher has set them."""
    if not is_launched():
        os.environ |= slurm_ranks(os.environ)


def slurm_ranks(environment: Mapping[str, str]) -> dict[str, str]:
    """Return torch's variables for one task of a SLURM job step, none if it is the step's only task.

    Only a step (``srun``) has several tasks: a job's script has the job's variables, but runs once. A task to which a
    single GPU is visible finds it under index 0, whatever its local id. The port is derived from job and step, so that
    two jobs on one node use different ones. ``MASTER_ADDR`` and ``MASTER_PORT`` have precedence if set.

    >>> step = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_JOB_ID": "77"}
    >>> place = slurm_ranks(step | {"SLURM_STEP_NODELIST": "gpu[07-08]"})
    >>> place["RANK"], place["LOCAL_RANK"], place["WORLD_SIZE"], place["MASTER_ADDR"]
    ('3', '1', '4', 'gpu07')
    """
    processes = int(environment.get("SLURM_STEP_NUM_TASKS", "1"))
    if processes == 1 or "SLURM_PROCID" not in environment:
        return {}
    job, step = int(environment.get("SLURM_JOB_ID", "0")), int(environment.get("SLURM_STEP_ID", "0"))
    visible = [number for number in environment.get("CUDA_VISIBLE_DEVICES", "").split(",") if number]
    local = int(environment.get("SLURM_LOCALID", "0"))
    variables = {
        "RANK": environment["SLURM_PROCID"],
        "WORLD_SIZE": str(processes),
        "LOCAL_RANK": str(local % len(visible) if visible else local),
        "MASTER_ADDR": first_host(environment.get("SLURM_STEP_NODELIST", "127.0.0.1")),
        "MASTER_PORT": str(20_000 + (job * 7 + step) % 20_000),
    }
    here = _tasks_here(environment)
    variables |= {"LOCAL_WORLD_SIZE": str(here)} if here else {}
    return variables | {name: environment[name] for name in ("MASTER_ADDR", "MASTER_PORT") if environment.get(name)}


def _tasks_here(environment: Mapping[str, str]) -> int | None:
    """Return the number of the step's tasks on this node, ``None`` if SLURM does not set it."""
    if compressed := environment.get("SLURM_STEP_TASKS_PER_NODE"):
        on_nodes = tasks_per_node(compressed)
        node = int(environment.get("SLURM_NODEID", "0"))
        return on_nodes[node] if node < len(on_nodes) else None
    tasks = environment.get("SLURM_NTASKS_PER_NODE", "")
    return int(tasks) if tasks.isdigit() else None


def tasks_per_node(compressed: str) -> list[int]:
    """Return the number of tasks on each node from SLURM's compressed notation.

    >>> tasks_per_node("4(x2),1")
    [4, 4, 1]
    """
    runs = re.findall(r"(\d+)(?:\(x(\d+)\))?", compressed)
    return [int(number) for number, times in runs for _ in range(int(times or 1))]


def first_host(nodes: str) -> str:
    """Return the first host of SLURM's compressed host list.

    Only the first name is needed: a regular expression is simpler than a dependency on ``python-hostlist``, which
    expands whole lists and knows nothing of ``SLURM_STEP_TASKS_PER_NODE``.

    >>> first_host("gpu[07-12,15],login1"), first_host("a1,a2"), first_host("rack[1-2]n[3,5]")
    ('gpu07', 'a1', 'rack1n3')
    """
    host = re.match(r"(?:[^,\[]|\[[^]]*\])+", nodes)
    return re.sub(r"\[([^],-]+)[^]]*\]", r"\1", host.group()) if host else nodes


def join_ranks(strategy: str = "tensor_parallel") -> None:
    """Initialize torch's process group with the launcher's ranks.

    Raises:
        RecipeError: If this process is the only one.
    """
    import torch
    from torch import distributed

    if not is_launched():
        raise RecipeError(f"strategy: {strategy} needs several processes; set --processes, or use single")
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank())
    if not distributed.is_initialized():
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")


@contextmanager
def report_lost_rank() -> Iterator[None]:
    """Convert a broken connection to another rank to a one-line error.

    Raises:
        RecipeError: If the connection to another rank broke.
    """
    try:
        yield
    except RuntimeError as error:  # from torch, whatever the communication backend
        if is_launched() and _LOST_CONNECTION.search(str(error)):
            raise RecipeError(RANK_LOST) from error
        raise


@contextmanager
def restored_environment() -> Iterator[None]:
    """Restore the environment afterwards: libraries store state in it that the next run would read."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ |= before
