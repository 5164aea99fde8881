"""Every recipe that ships says whom it is for, fits what it says it needs, and trains a tiny model for a step."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lsa_whisper import checkpoint
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.finetuning.memory import Hardware, estimate_run
from lsa_whisper.finetuning.settings.values import flat
from lsa_whisper.finetuning.strategies import STRATEGIES
from lsa_whisper.finetuning.training.arguments import training_arguments
from lsa_whisper.system import machine

RECIPES = sorted((Path(__file__).parents[3] / "recipes").glob("whisper-*.yaml"))
NEEDS = re.compile(r"(\d+) GPUs? of (\d+) GB, a host with (\d+) GB(?:, (\d+) GB on a fast local disk)?")
NAMES = [path.stem for path in RECIPES]


def opening(path):
    return "\n".join(itertools.takewhile(lambda line: line.startswith("#"), path.read_text().splitlines()))


def of_this_version(path):
    strategy = re.search(r"^strategy: (\w+)", path.read_text(), re.MULTILINE)
    if strategy and strategy[1] not in STRATEGIES:
        pytest.skip(f"strategy {strategy[1]} is not known yet")
    return recipes.read_recipe(path)


def test_there_are_recipes():
    assert len(RECIPES) >= 8


@pytest.mark.parametrize("path", RECIPES, ids=NAMES)
def test_its_comment_states_purpose_and_requirements(path):
    said = opening(path)
    assert said.startswith("# For: ") and "# Needs: " in said and "# On: " in said and "Gives: " in said
    assert NEEDS.search(said)


@pytest.mark.parametrize("path", RECIPES, ids=NAMES)
def test_a_recipe_fits_its_machine_and_not_a_quarter_of_it(path):
    recipe = of_this_version(path)
    gpus, gpu_gb, host_gb, disk_gb = (
        int(number) if number else None for number in NEEDS.search(opening(path)).groups()
    )
    # A host sold with 64 GB does not have all of it free; a GPU is held against what it has, see Plan.
    plan = estimate_run(recipe, Hardware(gpus, gpu_gb, 0.93 * host_gb, disk_gb))
    assert plan.fits, f"{plan.name}: lacks {plan.exceeded}"
    quarter = Hardware(gpus, gpu_gb / 4, 0.93 * host_gb / 4, disk_gb and disk_gb / 4)
    assert not estimate_run(recipe, quarter).fits, "a quarter would do: the comment asks for too much"


@pytest.mark.parametrize("path", [path for path in RECIPES if path.stem.endswith("lora")], ids=lambda path: path.stem)
def test_the_evaluation_of_the_docs_is_valid(path, tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "your-corpus.md").read_text("utf-8")
    shown = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    said = [f"{key}={value}" for key, value in flat(shown)]
    arguments = training_arguments(recipes.read_recipe(path, set=[*said, "training.use_cpu=true"]), tmp_path)
    assert arguments.save_steps == arguments.eval_steps == shown["evaluation"]["every_steps"]


@pytest.fixture(scope="module")
def tiny_base(windows, scratch_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "r.yaml").write_text(scratch_recipe(windows, folder / "base"))
    return finetune(folder / "r.yaml", set=["training.max_steps=1"], report=lambda _: None).out


@pytest.fixture(scope="module")
def environment():
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": programs, "DS_ACCELERATOR": "cpu"}


def require(recipe):
    """Skip what this machine cannot compile."""
    if recipe.strategy not in ("zero2", "zero3"):
        return
    if importlib.util.find_spec("deepspeed") is None or shutil.which("g++") is None:
        pytest.skip("DeepSpeed, or the compiler it needs, is not installed")
    if recipe.offload.optimizer == "nvme" and any(row.state != "ok" for row in machine.libaio()):
        pytest.skip("libaio-dev is not installed")


@pytest.mark.slow
@pytest.mark.parametrize("path", RECIPES, ids=NAMES)
def test_it_trains_a_step(path, windows, tiny_base, tmp_path, environment):
    """What a recipe asks of several GPUs runs in one process here, on the processor."""
    recipe = of_this_version(path)
    require(recipe)
    overrides = [f"out={tmp_path / 'out'}", f"model.base={tiny_base}", f"data.train={windows}", "data.workers=0"]
    overrides += ["training.use_cpu=true", "training.max_steps=1", "training.per_device_train_batch_size=2"]
    overrides += ["training.save_strategy=no", "training.gradient_accumulation_steps=1"]
    overrides += [f"offload.nvme_path={tmp_path / 'swap'}"] if recipe.offload.nvme_path else []
    overrides += ["strategy=single"] if recipe.strategy == "fsdp2" else []  # FSDP shards between GPUs only
    if recipe.strategy in ("zero2", "zero3"):
        words = [part for override in overrides for part in ("--set", override)]
        command = [sys.executable, "-m", "lsa_whisper", "finetune", str(path), *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    else:
        finetune(path, set=overrides, report=lambda _: None)
    assert checkpoint.load(tmp_path / "out").model.config.d_model == 16


@pytest.mark.parametrize("script", sorted((RECIPES[0].parent / "slurm").glob("*.sbatch")), ids=lambda path: path.stem)
def test_a_job_passes_its_cores_on_to_the_step(script):
    """``srun`` does not take them from ``sbatch``: all processes and data workers would share a single core."""
    steps = [line for line in script.read_text().splitlines() if line.startswith("srun ")]
    assert steps and all('--cpus-per-task="$SLURM_CPUS_PER_TASK"' in step for step in steps)
