"""What the processes that load training data need of this machine."""

from __future__ import annotations

import os
import tempfile
from multiprocessing import util

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
