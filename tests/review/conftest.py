"""A review server in a process of its own, as the command starts it, and Chromium from the system."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from model_fixtures import scripted, tiny  # noqa: F401 - fixtures

ROOT = Path(__file__).resolve().parents[2]
STORYBOOK = ROOT / "corpora" / "storybook" / "test"


class Served:
    """One server and its address."""

    def __init__(self, path, *options, config, browser=None):
        words = [sys.executable, "-m", "lsa_whisper", "review", str(path), *map(str, options)]
        words += [] if browser else ["--no-open"]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "XDG_CONFIG_HOME": str(config)}
        environment |= {"BROWSER": f"{browser} %s"} if browser else {}
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
        self.address = next(found[0] for line in self.process.stderr if (found := re.search(r"http://\S+", line)))
        self.origin = "http://" + urlsplit(self.address).netloc

    def request(self, path="", data=None, method=None, **headers):
        """Return status, body and headers of the answer."""
        if data is not None:
            headers = {"Origin": self.origin, "Content-Type": "application/json", **headers}
        headers = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        asked = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=300) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read(), error.headers

    def act(self, **body):
        status, answer, _ = self.request("action", json.dumps(body).encode())
        return status, json.loads(answer) if answer[:1] == b"{" else answer

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture
def two_sessions(visit):
    """The same folder with a second session."""
    for suffix in (".cha", ".flac"):
        shutil.copy(visit / f"test01{suffix}", visit / f"test02{suffix}")
    second = visit / "test02.cha"
    second.write_bytes(second.read_bytes().replace(b"test01", b"test02"))
    return visit


@pytest.fixture
def serve(tmp_path_factory):
    """Return a function that starts a server, with settings of this test's own; all are killed at the end."""
    config = tmp_path_factory.mktemp("config")
    started = []

    def start(path, *options, **more):
        started.append(Served(path, *options, config=config, **more))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.kill()


@pytest.fixture
def visit(tmp_path):
    """A folder with one session of storybook."""
    folder = tmp_path / "visit"
    folder.mkdir()
    for suffix in (".cha", ".flac"):
        shutil.copy(STORYBOOK / f"test01{suffix}", folder)
    return folder
