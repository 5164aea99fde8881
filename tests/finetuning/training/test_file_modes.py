"""The weights can be read by whoever the umask lets read: the lab's group, if it does."""

from __future__ import annotations

import os

import pytest
from tiny_whisper import build_checkpoint
from training_run import StoppedError, stopped_at

from lsa_whisper import checkpoint
from lsa_whisper.finetuning import finetune

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")


def modes(folder):
    return {file.name: oct(file.stat().st_mode & 0o777) for file in folder.rglob("*.safetensors")}


@pytest.fixture(params=[(0o027, 0o640), (0o077, 0o600)], ids=["group", "owner"])
def wanted(request):
    mask, mode = request.param
    before = os.umask(mask)
    yield oct(mode)
    os.umask(before)


def test_saved_and_exported_weights_follow_the_umask(tmp_path, wanted):
    folder = build_checkpoint(tmp_path)
    checkpoint.export(folder, tmp_path / "half", dtype="float16")
    assert set(modes(folder).values()) == set(modes(tmp_path / "half").values()) == {wanted}


def test_trained_weights_and_checkpoints_follow_the_umask(windows, scratch_recipe, tmp_path, wanted):
    (tmp_path / "r.yaml").write_text(scratch_recipe(windows, tmp_path / "out", training="save_steps: 1"))
    with pytest.raises(StoppedError):
        finetune(tmp_path / "r.yaml", set=["training.ema_decay=0.9"], report=stopped_at(3))
    unfinished = modes(tmp_path / "out.unfinished")
    assert set(unfinished) == {"model.safetensors", "weight_average.safetensors"}
    assert set(unfinished.values()) == {wanted}
    out = finetune(tmp_path / "r.yaml", set=["training.ema_decay=0.9"], report=lambda _: None).out
    assert modes(out) == {"model.safetensors": wanted}
