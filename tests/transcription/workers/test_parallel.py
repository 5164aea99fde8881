"""Which process works on which device."""

from __future__ import annotations

import tempfile

import pytest
import torch

from lsa_whisper.transcription.workers.parallel import worker_devices


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
    from lsa_whisper.transcription.workers.ray_actors import connect_to_cluster

    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with connect_to_cluster("local") as cluster:
        assert cluster.cores() >= 1
