"""What pytest must not import where it cannot; and folders for tests, apart from the user's."""

import os
import shutil
import tempfile
from collections import Counter
from importlib import metadata

import pytest

try:
    metadata.version("batchalign")
except metadata.PackageNotFoundError:
    collect_ignore_glob = [f"lsa_whisper/batchalign_engine/{name}.py" for name in ("backend", "finish", "wording")]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Put the files with the most slow tests first, so that parallel workers end at about the same time."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.fixture(autouse=True, scope="session")
def _own_configuration():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder
        os.environ.pop("LSA_WHISPER_MODEL", None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _own_extensions(tmp_path_factory):
    """Compile DeepSpeed's extensions once for all workers, and where no stale lock can hang them."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "extensions"
    os.environ.setdefault("TORCH_EXTENSIONS_DIR", str(folder))


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium; one for all tests of a process, because playwright cannot be started twice in one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (the dev extra has it)")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium in this environment")
    flags = ["--no-sandbox", "--disable-gpu", "--mute-audio", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=flags)
        yield browser
        browser.close()
