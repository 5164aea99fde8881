"""A recording from standard input, as ``-`` among the inputs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lsa_whisper.errors import AudioError, LsaWhisperError
from lsa_whisper.system import disk

STANDARD_INPUT = Path("-")
_MP3 = (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")


@contextmanager
def spool_standard_input(inputs: Sequence[Path], out: Path | None) -> Iterator[tuple[list[Path], Path | None]]:
    """Give the inputs with a temporary file in place of ``-``, and the folder for the transcripts.

    Without another input and without a folder, the transcript goes into a temporary folder, too, from which the caller
    prints it.

    Raises:
        AudioError: standard input is a terminal, or empty.
        LsaWhisperError: other recordings are given with ``-``, but no folder for the transcripts.
    """
    if STANDARD_INPUT not in inputs:
        yield list(inputs), out
        return
    if len(inputs) > 1 and out is None:
        raise LsaWhisperError("- is standard input, whose transcript needs a folder beside other recordings; give -o")
    if sys.stdin.isatty():
        raise AudioError("- is standard input, which is the terminal; pipe a recording into the command")
    with TemporaryDirectory() as folder:
        spooled = Path(folder, "stdin")
        with disk.convert_disk_errors(spooled), spooled.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with spooled.open("rb") as file:
            start = file.read(3)
        if not start:
            raise AudioError("- is standard input, which is empty; check the command before the pipe")
        if start.startswith(_MP3):  # how an MP3 is read depends on the ending of its name
            spooled = spooled.rename(spooled.with_suffix(".mp3"))
        yield [spooled if each == STANDARD_INPUT else each for each in inputs], out or Path(folder, "transcripts")
