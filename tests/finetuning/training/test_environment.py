"""What a run sets in its process for torch, the GPU and the data workers, and where warnings of libraries go.

Warnings of libraries and lines of some of their logs go to the log of the run; our own warnings are shown.
"""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
import warnings

import pytest
import torch
from old_card import mock_card
from training_run import logged

from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import parse_recipe
from lsa_whisper.finetuning.training import environment, run
from lsa_whisper.finetuning.training.environment import LOG, allocator_environment, keep_library_messages, tf32_remark

TRIMMED = "{data: {train: t, trim: true}, out: o, model: {base: m}}"


def test_trimmed_inputs_grow_blocks_of_memory_on_a_gpu_unless_the_user_has_said_otherwise(monkeypatch):
    recipe = parse_recipe(TRIMMED)
    assert allocator_environment(recipe, {}) == {}
    mock_card(monkeypatch)
    monkeypatch.setattr(torch, "__version__", "2.13.0+cu130")
    assert allocator_environment(recipe, {}) == {"PYTORCH_ALLOC_CONF": "expandable_segments:True"}
    monkeypatch.setattr(torch, "__version__", "2.9.1")
    assert allocator_environment(recipe, {}) == {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        assert allocator_environment(recipe, {name: "max_split_size_mb:64"}) == {}
    for setting in ("data.trim=false", "training.use_cpu=true"):
        assert allocator_environment(parse_recipe(TRIMMED, set=[setting]), {}) == {}


def test_it_is_set_before_memory_is_looked_at_and_only_during_the_run(windows, scratch_recipe, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(run, "allocator_environment", lambda recipe, environment: {"PYTORCH_ALLOC_CONF": "here"})
    monkeypatch.setattr(run, "preflight", lambda *_: seen.append(os.environ["PYTORCH_ALLOC_CONF"]))
    (tmp_path / "r.yaml").write_text(scratch_recipe(windows, tmp_path / "out"))
    finetune(tmp_path / "r.yaml", report=lambda _: None)
    assert seen == ["here"] and "PYTORCH_ALLOC_CONF" not in os.environ


@pytest.mark.parametrize(
    ("capability", "settings", "told"),
    [
        ((8, 0), [], True),
        ((7, 5), [], False),
        ((8, 0), ["precision=bf16"], False),
        ((8, 0), ["trainer_args.tf32=false"], False),
        ((8, 0), ["training.use_cpu=true"], False),
    ],
)
def test_fp32_on_a_card_with_tf32_is_remarked(monkeypatch, capability, settings, told):
    mock_card(monkeypatch, capability=capability)
    remark = tf32_remark(parse_recipe(TRIMMED, set=settings))
    assert (remark is not None) == told and (not told or "trainer_args.tf32=true" in remark)


@pytest.mark.slow
def test_data_workers_return_tensors_where_the_temporary_folder_has_a_long_name(tmp_path):
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    program = (
        "from torch import arange\nfrom torch.utils.data import DataLoader\n"
        "from lsa_whisper.finetuning.training.environment import shorten_socket_paths\n"
        "shorten_socket_paths()\nprint(sum(int(each.sum()) for each in DataLoader(arange(4), num_workers=1)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | {"TMPDIR": str(folder)}, capture_output=True, timeout=100
    )
    assert done.stdout.split() == [b"6"] and not done.stderr


def warn_as_libraries_do():
    warnings.warn_explicit("is deprecated", FutureWarning, "/site-packages/library/module.py", 7)
    logging.getLogger("DeepSpeed").warning("Setting accelerator to %s", "CPU")
    logging.getLogger("transformers.trainer").warning("There were unexpected keys in the checkpoint model loaded")
    logging.getLogger("transformers.trainer").warning("There were missing keys: ['proj_out.weight'].")


@pytest.mark.parametrize("finished", [True, False])
def test_messages_are_kept_in_the_folder_of_the_run(tmp_path, capfd, finished):
    out, unfinished = tmp_path / "out", tmp_path / "out.unfinished"
    with keep_library_messages(out, unfinished):
        warn_as_libraries_do()
        (out if finished else unfinished).mkdir()
    log = ((out if finished else unfinished) / LOG).read_text()
    assert "module.py:7: FutureWarning: is deprecated" in log and "WARNING: Setting accelerator to CPU" in log
    assert "WARNING: There were unexpected keys" in log and "missing" not in log  # tied weights are saved once
    assert capfd.readouterr() == ("", "")


def test_nothing_is_lost_if_the_run_has_no_folder(tmp_path, capfd):
    with pytest.raises(OSError, match="no device"), keep_library_messages(tmp_path / "out", tmp_path / "unfinished"):
        warn_as_libraries_do()
        raise OSError("no device")
    assert "is deprecated" in capfd.readouterr().err and not list(tmp_path.iterdir())


def test_a_full_disk_is_told_by_the_error_of_the_run(tmp_path, monkeypatch, capfd):
    """The log lies on the same disk, and has no room either."""

    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(environment, "append_own", full)
    with pytest.raises(CheckpointError, match="free space"), keep_library_messages(tmp_path, tmp_path):
        warn_as_libraries_do()
        raise CheckpointError("out: cannot be written; free space there")
    assert "is deprecated" in capfd.readouterr().err


def test_accelerate_launch_changes_neither_strategy_nor_precision(windows, scratch_recipe, tmp_path, monkeypatch):
    for name in ("plain", "launched"):
        (tmp_path / f"{name}.yaml").write_text(scratch_recipe(windows, tmp_path / name, "precision: fp32"))
    finetune(tmp_path / "plain.yaml", report=lambda _: None)
    settings = {"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_MIXED_PRECISION": "bf16", "FSDP_VERSION": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    lines = []
    finetune(tmp_path / "launched.yaml", report=lines.append)
    assert logged(tmp_path / "launched") == logged(tmp_path / "plain")
    (remark,) = (line for line in lines if "accelerate" in line)
    assert "ACCELERATE_MIXED_PRECISION=bf16, ACCELERATE_USE_DEEPSPEED=true are not used" in remark
    assert settings.items() <= dict(os.environ).items()


def test_our_own_warnings_are_shown(tmp_path):
    with pytest.warns(UserWarning, match="rank 4"), keep_library_messages(tmp_path, tmp_path):
        warnings.warn_explicit("rank 4", UserWarning, environment.__file__, 1)
    assert not list(tmp_path.iterdir())
