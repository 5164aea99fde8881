"""The power fails after an edit was called saved: the disk has what was synchronized, and nothing else."""

from __future__ import annotations

import http.client
import json
import os
import random
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from review_page import texts

from lsa_whisper.review import edits
from lsa_whisper.review.saved import SavedTranscript


class Disk:
    """What a disk has for certain: files as they were at their last ``fsync``, names as at that of their folder."""

    def __init__(self, monkeypatch, folder):
        self._files, self._names, self._fsync = {}, {}, os.fsync
        for path in (folder, *folder.rglob("*")):
            self._take(path)
        monkeypatch.setattr("os.fsync", self._synchronized)

    def _synchronized(self, handle):
        self._fsync(handle)
        self._take(Path(f"/proc/self/fd/{handle}").readlink())

    def _take(self, path):
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            self._names[found.st_ino] = {each.name: each.lstat().st_ino for each in path.iterdir()}
        else:
            self._files[found.st_ino] = path.read_bytes()

    def restore(self, folder, to):
        """Write what is left of ``folder`` after a failure of the power to the new folder ``to``."""
        self._restore(folder.stat().st_ino, to)

    def _restore(self, number, to):
        to.mkdir()
        for name, inner in self._names.get(number, {}).items():
            if inner in self._names:
                self._restore(inner, to / name)
            elif not name.endswith(".lock"):
                (to / name).write_bytes(self._files.get(inner, b""))


def reopened(disk, visit, to):
    disk.restore(visit, to)
    saved = SavedTranscript(to / "test01.cha")
    saved.close()
    return saved


def test_what_is_saved_survives_a_failure_of_the_power(visit, tmp_path, monkeypatch):
    path, disk = visit / "test01.cha", Disk(monkeypatch, visit)
    saved = SavedTranscript(path)
    saved.pend(0, 2, "<not finished")
    assert reopened(disk, visit, tmp_path / "pending").pending == {2: "<not finished"}
    for number in range(3):
        saved.edit(saved.revision, "text", lambda t, n=number: edits.set_text(t, n, f"edit {'no ' * n}."))
        again = reopened(disk, visit, tmp_path / f"edit{number}")
        assert again.transcript.utterances[number].text == saved.transcript.utterances[number].text
        assert (tmp_path / f"edit{number}" / "test01.cha").read_bytes() == path.read_bytes() and not again.remark
    saved.undo(saved.revision)
    assert len(reopened(disk, visit, tmp_path / "undo").history.done) == 2
    saved.close()


def test_without_synchronizing_it_would_be_lost(visit, tmp_path, monkeypatch):
    disk = Disk(monkeypatch, visit)
    monkeypatch.setattr("os.fsync", lambda _: None)
    saved = SavedTranscript(visit / "test01.cha")
    saved.edit(0, "text", lambda t: edits.set_text(t, 0, "edit ."))
    assert not reopened(disk, visit, tmp_path / "lost").history.done
    saved.close()


@pytest.mark.slow
def test_thirty_kills_while_edits_are_saved_lose_nothing(visit, serve):
    """Each time, edits are sent as fast as they are answered, until the server is killed at a random moment."""
    path, random_, count, took = visit / "test01.cha", random.Random(3), 0, []
    for _ in range(30):
        served = serve(visit)
        revision = json.loads(served.request("transcript?file=0")[1])["revision"]
        answered = wanted = texts(path)[0][1]
        timer = threading.Timer(random_.uniform(0.05, 0.6), served.process.kill)
        timer.start()
        with suppress(OSError, http.client.HTTPException):  # the server is killed in the middle of a request
            while True:
                wanted, started = f"word {'yes ' * (count % 7 + 1)}.", time.perf_counter()
                status, body = served.act(action="text", file=0, revision=revision, number=0, text=wanted)
                took.append(time.perf_counter() - started)
                assert status == 200, body
                answered, revision, count = wanted, body["revision"], count + 1
        timer.join()
        served.process.wait()
        saved = SavedTranscript(path)
        assert saved.transcript.utterances[0].text in (answered, wanted), count
        assert not saved.remark
        saved.close()
    assert count > 30
    print(f"{count} saves, {1000 * sorted(took)[len(took) // 2]:.1f} ms each (median)")
