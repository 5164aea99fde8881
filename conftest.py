"""What pytest must not import where it cannot; and a configuration folder for tests, apart from the user's."""

import os
import tempfile
from importlib import metadata

import pytest

try:
    metadata.version("batchalign")
except metadata.PackageNotFoundError:
    collect_ignore_glob = [f"lsa_whisper/batchalign_engine/{name}.py" for name in ("backend", "finish", "wording")]


@pytest.fixture(autouse=True, scope="session")
def _own_configuration():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder
        os.environ.pop("LSA_WHISPER_MODEL", None)
        yield
