"""A user without permission to read a file; root can read everything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

NOBODY = 65_534


@contextmanager
def closed(*paths: Path, below: Path) -> Iterator[None]:
    """Remove all permissions from ``paths``; meanwhile, run as a user other than root who owns everything ``below``."""
    import_module("rich.color")  # which another user may be unable to read, if it is first needed then
    modes = {path: path.stat().st_mode for path in paths}
    parents = {}
    root = os.geteuid() == 0
    if root:
        for path in (below, *below.rglob("*")):
            os.chown(path, NOBODY, -1, follow_symlinks=False)
        parents = {path: path.stat().st_mode for path in below.parents}
        for path, mode in parents.items():
            path.chmod(mode | 0o011)
        os.seteuid(NOBODY)
    try:
        for path in paths:
            path.chmod(0)
        yield
    finally:
        if root:  # first of all: a test that went on as nobody would fail, and so would all that come after it
            os.seteuid(0)
        for path, mode in (modes | parents).items():
            path.chmod(mode)
