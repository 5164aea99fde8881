"""The real DeepSpeed on a CPU: ZeRO-3 with everything offloaded trains like one plain process and saves whole."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from lsa_whisper import checkpoint

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="DeepSpeed builds its CPU optimiser, and there is no g++"),
]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Extensions are built in a folder of these tests' own: a stale lock elsewhere would hang them silently."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    folder = str(tmp_path_factory.mktemp("extensions"))
    return os.environ | {"TORCH_EXTENSIONS_DIR": folder, "PATH": programs, "DS_ACCELERATOR": "cpu"}


def finetune(environment, recipe, *overrides):
    words = [part for override in overrides for part in ("--set", override)]
    command = [sys.executable, "-m", "lsa_whisper", "finetune", str(recipe), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def losses(out):
    lines = map(json.loads, (out / "curve.jsonl").read_text().splitlines())
    return [line["loss"] for line in lines if "loss" in line]


@pytest.mark.parametrize("adapter", [(), ("adapter.rank=16",)], ids=["full", "lora"])
def test_zero3_with_offload_equals_one_plain_process(windows, scratch_recipe, tmp_path, environment, adapter):
    recipe, outs = tmp_path / "r.yaml", {}
    recipe.write_text(
        scratch_recipe(
            windows,
            tmp_path / "base",
        )
    )
    finetune(environment, recipe, "training.max_steps=1")
    recipe.write_text(
        f"{{data: {{train: {windows}}}, out: x, model: {{base: {tmp_path / 'base'}}}, training: {{use_cpu: true,"
        " max_steps: 4, per_device_train_batch_size: 3, learning_rate: 1e-3, logging_steps: 1}}"
    )
    for name, strategy in (
        ("plain", ()),
        ("zero3", ("strategy=zero3", "offload.optimizer=cpu", "offload.parameters=cpu")),
    ):
        outs[name] = tmp_path / name
        finetune(environment, recipe, f"out={outs[name]}", *strategy, *adapter)
    assert len(losses(outs["plain"])) == 4
    assert losses(outs["zero3"]) == pytest.approx(losses(outs["plain"]), abs=1e-4)
    plain, sharded = (checkpoint.load(out).model.state_dict() for out in outs.values())
    assert plain.keys() == sharded.keys()
    for name, weight in plain.items():
        torch.testing.assert_close(sharded[name], weight, rtol=0, atol=1e-3, msg=name)
