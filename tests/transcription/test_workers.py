"""Several workers: which device each has, and the same transcripts from one process, several, and a Ray cluster."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import soundfile
import torch
from calls import contents_but_confidences

from lsa_whisper import chat
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription import transcribe
from lsa_whisper.transcription.workers import worker_devices

ROOT = Path(__file__).resolve().parents[2]
NANO = ROOT / "models" / "nano"


@pytest.fixture
def visits(tmp_path):
    """Three recordings of unlike length, and one that is none."""
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    sound, rate_hz = soundfile.read(ROOT / "corpora" / "storybook" / "test" / "test01.flac")
    for name, seconds in (("a", 5), ("b", 12), ("deep/c", 9)):
        soundfile.write(folder / f"{name}.wav", sound[: seconds * rate_hz], rate_hz)
    (folder / "broken.wav").write_bytes(b"RIFF....WAVE")
    shutil.copy(folder / "a.wav", folder / "b.flac")  # the same name as b.wav, and a wav by its content
    return folder


def check_same(visits, tmp_path, **options):
    """Compare with the plain run: files, table, and that a second call keeps all of them."""
    plain = transcribe([visits], model=NANO, vad="energy", out=tmp_path / "plain")
    wanted = contents_but_confidences(tmp_path / "plain")
    assert set(wanted) == {"a.cha", "b.cha", "deep/c.cha"}
    assert all(chat.read(tmp_path / "plain" / name).utterances for name in wanted)
    many = transcribe([visits], model=NANO, vad="energy", out=tmp_path / "many", **options)
    assert contents_but_confidences(tmp_path / "many") == wanted
    assert many.table() == plain.table().replace(str(tmp_path / "plain"), str(tmp_path / "many"))
    assert many.exit_code == plain.exit_code == 2
    # Whoever began goes on with any other way of working.
    assert all(each.skipped for each in transcribe([visits], model=NANO, vad="energy", out=tmp_path / "many").done)
    return transcribe([visits], model=NANO, vad="energy", out=tmp_path / "plain", **options)


@pytest.mark.slow(minutes=0.4)
def test_processes_write_what_one_writes(visits, tmp_path):
    again = check_same(visits, tmp_path, processes=2)
    assert [each.skipped for each in again.done] == [True] * 3


@pytest.mark.slow(minutes=1)
def test_a_cluster_writes_the_same_though_an_actor_is_killed(visits, tmp_path):
    psutil = pytest.importorskip("psutil")
    pytest.importorskip("ray")
    killed, over = [], threading.Event()

    def kill_one():
        """Kill the first actor that is seen at work on a recording."""
        while not killed and not over.wait(0.02):
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):  # it has ended in the meantime
                    if not killed and child.cmdline()[:1] == ["ray::_Actor.run"]:
                        os.kill(child.pid, signal.SIGKILL)
                        killed.append(child.pid)

    thread = threading.Thread(target=kill_one)
    thread.start()
    try:
        again = check_same(visits, tmp_path, ray="local", processes=2)
    finally:
        over.set()
        thread.join()
    assert len(killed) == 1
    assert [each.skipped for each in again.done] == [True] * 3


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"processes": 0}, "processes is 0"), ({"ray": "127.0.0.1:1"}, "no Ray cluster at 127.0.0.1:1")],
)
def test_what_cannot_be_is_refused(options, reason, visits, tmp_path):
    if "ray" in options:
        pytest.importorskip("ray")
    with pytest.raises(LsaWhisperError, match=reason):
        transcribe([visits], model=NANO, vad="energy", out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("device", "processes", "gpus", "expected"),
    [
        ("cuda", None, 2, ["cuda:0", "cuda:1"]),
        ("cuda", 3, 2, ["cuda:0", "cuda:1", "cuda:0"]),
        ("cuda", 2, 0, ["cuda"]),  # the one that loads the model says that there is none
        ("cuda:1", None, 2, ["cuda:1"]),
        ("cpu", 2, 0, ["cpu", "cpu"]),
    ],
)
def test_gpus_are_taken_in_turn(device, processes, gpus, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    assert worker_devices(device, processes, jobs=5) == expected


@pytest.mark.slow
def test_a_local_cluster_starts_below_a_temporary_folder_with_a_long_name(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    from lsa_whisper.transcription.workers import connect_to_cluster

    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with connect_to_cluster("local") as cluster:
        assert cluster.cores() >= 1
