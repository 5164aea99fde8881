"""The secret in the address of the page: no other user of the machine can read it."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from review_page import texts
from unprivileged import closed

from lsa_whisper.review.server import redirecting_file

MAX_WAIT_S = 30


@pytest.fixture
def opened_address(visit, serve, tmp_path):
    """Start the command with a browser that writes down what it was called with, as ``ps`` shows it."""
    written, program = tmp_path / "arguments", tmp_path / "browser"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {written}.new; mv {written}.new {written}\n")
    program.chmod(0o700)
    served = serve(visit, browser=program)
    deadline = time.monotonic() + MAX_WAIT_S
    while not written.exists():
        assert time.monotonic() < deadline, "no browser was started"
        time.sleep(0.05)
    return served, written.read_text().strip()


def test_no_command_line_has_the_secret(opened_address):
    served, address = opened_address
    secret = urlsplit(served.address).path.strip("/")
    shown = [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if each.exists()]
    assert secret not in address and not any(secret.encode() in words for words in shown)
    path = Path(url2pathname(urlsplit(address).path))
    assert served.address in path.read_text()
    assert (path.stat().st_mode & 0o077, path.parent.stat().st_mode & 0o077) == (0, 0)
    served.process.send_signal(signal.SIGINT)
    served.process.wait(MAX_WAIT_S)
    assert not path.parent.exists()


def test_another_user_cannot_read_the_file(opened_address, tmp_path):
    """The other user is this process without the permissions of root; run as another user, this is skipped."""
    import os

    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    _, address = opened_address
    with closed(below=tmp_path), pytest.raises(PermissionError):
        Path(url2pathname(urlsplit(address).path)).read_text()


def test_what_a_killed_review_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with redirecting_file("http://127.0.0.1:1/a/") as running:
        killed, other = tmp_path / "lsa-whisper-killed", tmp_path / "lsa-whisper-other"
        shutil.copytree(Path(url2pathname(urlsplit(running).path)).parent, killed)
        other.mkdir()
        (other / "review.html").touch()
        with redirecting_file("http://127.0.0.1:2/b/") as latest:
            kept = {Path(url2pathname(urlsplit(each).path)).parent for each in (running, latest)}
            assert set(tmp_path.iterdir()) == {*kept, other}
    assert [*tmp_path.iterdir()] == [other]


@pytest.mark.slow
def test_the_file_leads_a_browser_to_the_page(opened_address, chromium, visit):
    _, address = opened_address
    page = chromium.new_page()
    page.goto(address)
    page.wait_for_selector("#list .utterance")
    assert texts(visit / "test01.cha")[0][1].split()[0] in page.inner_text("#rows")
