"""What libraries warn of while they train, kept in a file of the run instead of the terminal."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from lsa_whisper.finetuning.distributed.ranks import rank
from lsa_whisper.system.own_files import append_own

LOG = "libraries.log"
_OURS = str(Path(__file__).parents[2])


@contextmanager
def keep_library_messages(out: Path, unfinished: Path) -> Iterator[None]:
    """Keep the warnings of libraries and the lines of DeepSpeed in the block, and add them to ``libraries.log``.

    The file is in the folder of the run: ``out`` if it was finished, else ``unfinished``. Without either, and on
    other ranks than the first, whose output is kept anyway, the lines go to standard error. Our own warnings are shown.
    """
    from transformers.utils import logging as transformers_logging

    kept: list[str] = []
    deepspeed, divert, show = logging.getLogger("DeepSpeed"), _Divert(kept), warnings.showwarning
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
            kept.append(warnings.formatwarning(message, category, filename, lineno))

    deepspeed.addFilter(divert)
    warnings.showwarning = keep
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        warnings.showwarning = show
        deepspeed.removeFilter(divert)
        if bars:
            transformers_logging.enable_progress_bar()
        _write("".join(kept), next((each for each in (out, unfinished) if each.is_dir()), None))


class _Divert(logging.Filter):
    """Keeps each record of a logger, and lets none pass to its handlers."""

    def __init__(self, kept: list[str]):
        super().__init__()
        self._kept = kept

    def filter(self, record: logging.LogRecord) -> bool:
        self._kept.append(f"{record.levelname}: {record.getMessage()}\n")
        return False


def _write(text: str, folder: Path | None) -> None:
    if not text:
        return
    if folder is None or rank() != 0:
        sys.stderr.write(text)
        return
    append_own(folder / LOG, text.encode("utf-8", "backslashreplace"))
