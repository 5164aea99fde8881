"""The wheel, installed in an empty environment without a checkout in reach."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import shutil
import signal
import site
import subprocess
import sys
import venv
from pathlib import Path

import click
import pytest

from lsa_whisper.cli import main

ROOT = Path(__file__).parents[2]
NOT_LINKED = ("__editable__", "lsa_whisper", "pip", "setuptools", "distutils-precedence")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """The folder of the programs of an environment that has the wheel and this environment's dependencies.

    The dependencies are linked into the environment's own folder: dill takes packages elsewhere for scripts.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    assert wheel.stat().st_size < 30e6
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    install = [sys.executable, "-m", "pip", "--python", str(folder / "venv"), "install", "-q", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    for source in filter(Path.is_dir, map(Path, site.getsitepackages())):  # Debian's Python names one that is absent
        for path in source.iterdir():
            if not path.name.startswith(NOT_LINKED) and not (packages / path.name).exists():
                (packages / path.name).symlink_to(path)
    return folder / "venv" / "bin"


@pytest.fixture
def environment(tmp_path):
    own = {"HF_HUB_OFFLINE": "1", "XDG_CONFIG_HOME": str(tmp_path / "config"), "LSA_WHISPER_MODEL": "nano"}
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | own


@pytest.fixture
def run(commands, environment, tmp_path):
    def run(program, *words):
        done = subprocess.run(
            [commands / program, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run


def test_the_package_is_that_of_the_wheel_and_carries_recipes_model_and_corpus(run, commands):
    code = "from lsa_whisper.system.shipped import *; print(shipped(NANO), shipped(STORYBOOK), shipped('recipes'))"
    for path in run("python", "-c", code).split():
        assert path.startswith(str(commands.parent)) and Path(path).is_dir()
    assert "whisper-large-v3-lora\n" in run("lsa-whisper", "recipes")
    assert "* " in run("lsa-whisper", "models")


def test_in_an_empty_folder_a_recording_is_transcribed(run, tmp_path):
    shutil.copyfile(ROOT / "corpora" / "storybook" / "test" / "test01.flac", tmp_path / "audio.flac")
    run("lsa-whisper", "transcribe", "audio.flac")
    assert (tmp_path / "audio.cha").read_text("utf-8").startswith("@UTF8")


def test_the_names_of_shipped_files_resolve_in_an_empty_folder(run):
    assert "weighted SLD" in run("lsa-whisper", "inspect", "corpora/storybook/test")
    assert "all classes" in run("lsa-whisper", "doctor", "--model", "models/nano")
    assert run("lsa-whisper", "estimate-memory", "tiny", "--recipe", "recipes/demo-lora.yaml")
    run("lsa-whisper", "prepare", "corpora/storybook", "-o", "data", "--context", "6")


def test_in_an_empty_folder_the_tutorials_recipe_trains(run, tmp_path):
    corpus = run("python", "-c", "from lsa_whisper.system.shipped import *; print(shipped(STORYBOOK))").strip()
    run("lsa-whisper", "prepare", corpus, "-o", "data", "--context", "6")
    settings = ["--set", "data.train=data/train.jsonl", "--set", "training.max_steps=1"]
    settings += ["--set", "training.warmup_steps=0"]
    run("lsa-whisper", "finetune", "tutorial", "-o", "model", *settings)
    assert (tmp_path / "model" / "model.safetensors").exists()


def examples(group=main):
    """Yield the words of the example of each command, as its help shows it."""
    for command in group.commands.values():
        yield from re.findall(r"^Example: lsa-whisper (.*)$", inspect.cleandoc(command.help or ""), re.MULTILINE)
        if isinstance(command, click.Group):
            yield from examples(command)


@pytest.mark.parametrize("example", dict.fromkeys(examples()))
def test_every_example_runs_in_an_empty_folder_or_says_what_is_missing(example, commands, environment, tmp_path):
    """What takes longer than it needs to fail, such as training, runs, and is ended with all that it has started."""
    words = shlex.split(example.partition(" > ")[0])
    began = {"cwd": tmp_path, "env": environment, "text": True, "start_new_session": True}
    output = tmp_path.with_suffix(".txt")
    with output.open("w") as to:
        process = subprocess.Popen([commands / "lsa-whisper", *words], stdout=to, stderr=subprocess.STDOUT, **began)
        try:
            status = process.wait(30)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    written = output.read_text()
    assert "Traceback" not in written
    if words[0] != "doctor" and status:
        assert written.splitlines()[-1].startswith("lsa-whisper: "), written
