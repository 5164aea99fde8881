"""The files of a report, written all together or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from lsa_whisper.errors import CorpusError
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.system.disk import is_disk_full
from lsa_whisper.system.lock import write_lock

_UNFINISHED = ".report-"


def write_report_files(out: Path, texts: Mapping[str, str]) -> None:
    """Write ``texts`` (by file name) into the folder ``out``; write none of them when the disk is full.

    Raises:
        CorpusError: ``out`` cannot be written to.
    """
    try:
        with write_lock(out / "report"):
            for left in out.glob(f"{_UNFINISHED}*"):  # of a process that was killed
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=out) as unfinished:
                for name, text in texts.items():
                    # A file name that is not UTF-8 arrives as lone surrogates; JSON escapes them the same way.
                    replace_file(text.encode("utf-8", "backslashreplace").decode("utf-8"), Path(unfinished, name))
                for name in texts:
                    Path(unfinished, name).replace(out / name)
    except OSError as error:
        with suppress(OSError):
            out.rmdir()  # only if it is empty
        remedy = "make room, or choose another folder" if is_disk_full(error) else "choose another folder"
        raise CorpusError(f"{out}: the report cannot be written here ({error.strerror}); {remedy}") from error
