"""What pytest must not import where it cannot; and folders for tests, apart from the user's."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections import Counter
from importlib import metadata

import pytest

try:
    metadata.version("batchalign")
except metadata.PackageNotFoundError:
    collect_ignore_glob = [f"lsa_whisper/batchalign_engine/{name}.py" for name in ("backend", "chat")]


with contextlib.suppress(ImportError):  # Batchalign's environment does not have it
    from hypothesis import HealthCheck, settings

    # How long an example takes says nothing on a busy machine. Continuous integration asks for more examples, the same
    # each time, as Hypothesis does there by itself: a change fails by what it changes. `make test-long` has new ones.
    examples = int(os.environ.get("LSA_WHISPER_TEST_EXAMPLES", "100"))
    settings.register_profile(
        "untimed",
        max_examples=examples,
        deadline=None,
        derandomize=examples < 10_000,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("untimed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Put the slowest files first, so that parallel workers end at about the same time."""
    minutes = Counter()
    for item in items:
        if mark := item.get_closest_marker("slow"):
            minutes[item.path] += mark.kwargs.get("minutes", 0.1)
    items.sort(key=lambda item: -minutes[item.path])


@pytest.fixture(autouse=True, scope="session")
def _own_configuration():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder
        os.environ.pop("LSA_WHISPER_MODEL", None)
        yield


def pytest_configure(config):
    """Compile DeepSpeed's extensions once for all workers and for later sessions: it takes minutes."""
    if "TORCH_EXTENSIONS_DIR" in os.environ:  # also in a worker, which inherits it
        return
    folder = config.rootpath / "build" / "torch_extensions"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        session = (folder / "session").open("a")
    except OSError:  # a clone of somebody else
        os.environ["TORCH_EXTENSIONS_DIR"] = made = tempfile.mkdtemp()
        config.add_cleanup(lambda: shutil.rmtree(made, ignore_errors=True))
        return
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(session, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for stale in folder.glob("*/lock"):  # left by a killed build; the next one would wait for it forever
            stale.unlink()
    fcntl.flock(session, fcntl.LOCK_SH)  # other sessions at the same time must not remove the locks of this one
    config.add_cleanup(session.close)
    os.environ["TORCH_EXTENSIONS_DIR"] = str(folder)


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
