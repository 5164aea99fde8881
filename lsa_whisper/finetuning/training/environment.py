"""What a run sets in this process: for torch, its GPU and data workers, and where libraries' warnings go."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from multiprocessing import util
from pathlib import Path
from typing import TextIO

import torch

from lsa_whisper.finetuning.distributed.ranks import rank
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.training.precision import has_gpu
from lsa_whisper.system.own_files import append_own

_ALLOCATOR = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
"""Names of one variable: from torch 2.10 on, and before."""
_TF32_CAPABILITY = (8, 0)


def allocator_environment(recipe: Recipe, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that lets torch's allocator grow its blocks; nothing if the user has set it.

    With ``data.trim`` the inputs of each step have another length. Without growing blocks, the allocator keeps one for
    each, and memory runs out while much of it is unused. It must be set before the GPU is used.
    """
    if not recipe.data.trim or not has_gpu(recipe) or any(name in environment for name in _ALLOCATOR):
        return {}
    major, minor = (int(part) for part in torch.__version__.split(".")[:2])
    return {_ALLOCATOR[(major, minor) < (2, 10)]: "expandable_segments:True"}


_OF_ACCELERATE = ("ACCELERATE_", "FSDP_")
"""Beginnings of the names of variables that ``accelerate launch`` sets from its own configuration."""
_OF_THE_MACHINE = ("ACCELERATE_USE_CPU", "ACCELERATE_TORCH_DEVICE")
"""Those that say where to compute, which stay."""


def remove_launcher_settings(environment: MutableMapping[str, str]) -> str | None:
    """Remove the settings of ``accelerate launch``, and return a remark if one of them differs from a plain run.

    They would win over the recipe's: DDP would be DeepSpeed, and fp32 bf16.

    >>> remove_launcher_settings(own := {"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_MIXED_PRECISION": "no"})
    "accelerate's settings ACCELERATE_USE_DEEPSPEED=true are not used: the recipe says how to train"
    >>> own
    {}
    """
    names = [name for name in environment if name.startswith(_OF_ACCELERATE) and name not in _OF_THE_MACHINE]
    given = {name: environment.pop(name) for name in sorted(names)}
    named = [
        f"{name}={value}"
        for name, value in given.items()
        if name.startswith("ACCELERATE_") and value.lower() in ("true", "bf16", "fp16", "fp8")
    ]
    return f"accelerate's settings {', '.join(named)} are not used: the recipe says how to train" if named else None


def tf32_remark(recipe: Recipe) -> str | None:
    """Return what to set where a GPU multiplies fp32 in TF32 but is not told to, ``None`` elsewhere."""
    if recipe.precision != "fp32" or "tf32" in recipe.trainer_args or not has_gpu(recipe):
        return None
    if torch.cuda.get_device_capability() < _TF32_CAPABILITY:
        return None
    return (
        "precision: fp32 multiplies with all bits, which this card does slowly; precision: auto is the usual way, and "
        "trainer_args.tf32=true multiplies with 10 bits of 23 in fp32"
    )


_MAX_SOCKET_FOLDER_LENGTH = 70
"""The path of a socket has at most 107 bytes on Linux and 103 on macOS; multiprocessing adds 32 to its folder's."""


def shorten_socket_paths() -> None:
    """Let data workers return tensors where ``TMPDIR`` is long: by sockets in a folder whose path is short.

    Otherwise the batch is lost in the worker, and training waits for it forever. ``multiprocessing.util.get_temp_dir``
    is not documented; it chooses the folder once and removes it at the end.
    """
    before = tempfile.tempdir
    if len(os.fsencode(tempfile.gettempdir())) > _MAX_SOCKET_FOLDER_LENGTH:
        tempfile.tempdir = "/tmp"  # a private folder is made in it
        try:
            util.get_temp_dir()
        finally:
            tempfile.tempdir = before


LOG = "libraries.log"
_LOGGERS = ("DeepSpeed", "transformers.trainer")
_TIED = "proj_out.weight"
"""In a message of a resumed run: the output matrix is the embedding's, and stored once, so nothing is missing."""
_OURS = str(Path(__file__).parents[2])


@contextmanager
def keep_library_messages(out: Path, unfinished: Path) -> Iterator[None]:
    """Keep the warnings of libraries and the lines of some of their logs in the block; add them to ``libraries.log``.

    The file is in the folder of the run: ``out`` if it was finished, else ``unfinished``. Without either, and on
    other ranks than the first, whose output is kept anyway, the lines go to standard error. Our own warnings are shown.
    """
    from transformers.utils import logging as transformers_logging

    messages: list[str] = []
    loggers, show = [logging.getLogger(name) for name in _LOGGERS], warnings.showwarning
    bars = transformers_logging.is_progress_bar_enabled()

    def keep(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if filename.startswith(_OURS):
            show(message, category, filename, lineno, file, line)
        else:
            messages.append(warnings.formatwarning(message, category, filename, lineno))

    def divert(record: logging.LogRecord) -> bool:
        if _TIED not in record.getMessage():
            messages.append(f"{record.levelname}: {record.getMessage()}\n")
        return False

    for logger in loggers:
        logger.addFilter(divert)
    warnings.showwarning = keep
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        warnings.showwarning = show
        for logger in loggers:
            logger.removeFilter(divert)
        if bars:
            transformers_logging.enable_progress_bar()
        _write("".join(messages), next((folder for folder in (out, unfinished) if folder.is_dir()), None))


def _write(text: str, folder: Path | None) -> None:
    if not text:
        return
    if folder is None or rank() != 0:
        sys.stderr.write(text)
        return
    try:
        append_own(folder / LOG, text.encode("utf-8", "backslashreplace"))
    except OSError:  # a full disk, which has ended the run: its own message must remain the last
        sys.stderr.write(text)
