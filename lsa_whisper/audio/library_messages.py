"""What libmpg123 writes to standard error about damaged MP3 files, kept for a log instead of the terminal."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MPG123 = re.compile(rb"libmpg123|^(Warning|Note|Error): |^\s*$")
_MAX_MESSAGES = 100
_one_at_a_time = threading.Lock()  # a process has one standard error


@contextmanager
def keep_messages(path: Path, messages: list[str]) -> Iterator[None]:
    """Append the lines that reading an MP3 at ``path`` writes to standard error in the block to ``messages``.

    Lines of others, such as a progress bar in another thread, are written after the block.
    """
    if path.suffix.lower() != ".mp3":
        yield
        return
    with _one_at_a_time, tempfile.TemporaryFile() as kept:
        sys.stderr.flush()
        terminal = os.dup(2)
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            kept.seek(0)
            for line in kept:
                if not _MPG123.search(line):
                    os.write(terminal, line)
                elif line.strip() and len(messages) < _MAX_MESSAGES:
                    messages.append(line.decode(errors="replace").strip())
            os.close(terminal)
