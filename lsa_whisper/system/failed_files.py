"""Files that could not be processed: what every verb keeps of them, and what its exit code says about them.

A file that cannot be processed costs only itself: the others are processed, and the summary lists it with the reason.
Where each input has an output of its own (``transcribe``), the exit code counts the inputs without one. Where all
inputs make one result (``prepare``), the exit code is 0 when that result was written; it lists the files left out.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, field
from pathlib import Path

_MAX_EXIT_CODE = 100  # codes above 125 have a meaning of their own in a shell


@dataclass(frozen=True)
class FailedFile:
    """A file that could not be processed.

    Attributes:
        path: the file, or a folder that cannot be searched.
        reason: why, in one sentence.
        took_s: how long the attempt took.
    """

    path: Path
    reason: str
    took_s: float = field(default=0.0, compare=False)


def failure_exit_code(failed: Sized) -> int:
    """Return the number of failed files, at most 100: the exit code of a command with one output for each input.

    >>> failure_exit_code([]), failure_exit_code(range(3)), failure_exit_code(range(1000))
    (0, 3, 100)
    """
    return min(len(failed), _MAX_EXIT_CODE)
