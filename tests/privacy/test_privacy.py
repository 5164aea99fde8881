"""Nobody is told, and nobody else can read: every verb in one process that watches its network, under a umask of 0."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import soundfile

from lsa_whisper.checkpoint.folder import atomic_folder
from lsa_whisper.cli import VERBS, function_of
from lsa_whisper.errors import CheckpointError, LsaWhisperError
from lsa_whisper.system.atomic_write import replace_file
from lsa_whisper.system.umask import private_umask

HERE = Path(__file__).parents[2]
NANO = HERE / "models" / "nano"
WRITES_NOTHING = {"estimate-memory", "doctor", "models", "recipes", "recipes show"}

WATCHED = """
import json, os, socket, sys

attempts, own = [], {None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", socket.gethostname()}

def watch(event, given):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = given[1]
        place = address[0] if isinstance(address, tuple) else None  # else a socket of this machine's file system
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        place = given[0].decode() if isinstance(given[0], bytes) else given[0]
    else:
        return
    if place not in own:
        attempts.append([event, repr(given[1:] if event == "socket.connect" else given)])
        raise OSError("there is no network here")

sys.addaudithook(watch)
from lsa_whisper.cli import main

codes, tried = [], []
for words in json.load(open(sys.argv[1])):
    attempts.clear()
    try:
        main(words, standalone_mode=False)
        codes.append(0)
    except SystemExit as end:
        codes.append(end.code or 0)
    tried.append(list(attempts))
print()
print(json.dumps({"codes": codes, "attempts": tried, "wandb": os.environ.get("WANDB_DISABLED")}))
"""
RECIPE = """
data: {{train: {out}/data/train.jsonl, dev: {out}/data/train.jsonl}}
out: {out}/model
model: {{base: {nano}}}
adapter: {{rank: 10}}
evaluation: {{every_steps: 1, samples: 2}}
training: {{use_cpu: true, max_steps: 2, per_device_train_batch_size: 1, logging_steps: 1}}
"""


def watched(commands, folder, **environment):
    """Run commands in one process under a umask of 0; return their exit codes, and whom they tried to reach."""
    (folder / "commands.json").write_text(json.dumps([[str(word) for word in words] for words in commands]))
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("HF_", "WANDB", "TRANSFORMERS", "RAY"))
    }
    kept |= {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home" / "cache"), "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(folder / "commands.json")],
        env=kept | {"MPLCONFIGDIR": str(folder / "mpl")} | environment,
        capture_output=True,
        text=True,
        umask=0,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]) | {"stderr": done.stderr}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    time_s = np.arange(8 * 16_000) / 16_000
    for name in "ab":
        sound = 0.3 * np.sin(2 * np.pi * 300 * time_s) * np.sin(2 * np.pi * time_s)
        soundfile.write(folder / f"{name}.wav", sound, 16_000)
        head = f"@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tCHI {name} Target_Child\n"
        head += "@ID:\teng|x|CHI|||||Target_Child|||\n"
        tiers = "".join(f"*CHI:\tI want it {n} . \x15{n * 2000}_{n * 2000 + 1800}\x15\n" for n in range(4))
        (folder / f"{name}.cha").write_text(f"{head}@Media:\t{name}, audio\n{tiers}@End\n")
    return folder


@pytest.fixture(scope="module")
def everything(corpus, tmp_path_factory):
    """Each verb run once, with folders as models; where it was, and what came of it."""
    place = tmp_path_factory.mktemp("place")
    out = place / "out"
    (place / "r.yaml").write_text(RECIPE.format(out=out, nano=NANO))
    formats = [part for name in ("srt", "json", "textgrid") for part in ("--format", name)]
    transcribe = ["transcribe", corpus, "--model", out / "model", "-o", out / "hyp", "--review", out / "review.csv"]
    commands = [
        ["prepare", corpus, "-o", out / "data", "--context", "6", "--shards", "1"],
        ["inspect", out / "data", "-o", out / "page" / "data.html"],
        ["finetune", place / "r.yaml"],
        [*transcribe, "--log", out / "logs" / "t.tsv", *formats],
        ["evaluate", corpus, out / "hyp", "-o", out / "report"],
        ["compare-runs", out / "model", "-o", out / "compare"],
        ["export", out / "model", "-o", out / "exported"],
        ["merge", out / "model", NANO, "--weight", "0.7", "-o", out / "merged"],
        ["doctor", "--folder", place],
        ["transcribe", corpus, "--model", "owner-that-is-not/whisper", "-o", out / "never"],
    ]
    return place, watched(commands, place)


@pytest.mark.slow
def test_every_command_ran(everything):
    place, done = everything
    assert done["codes"] == [0] * 8 + [done["codes"][8], 1], done["stderr"][-3000:]
    made = {path.relative_to(place / "out").as_posix() for path in (place / "out").rglob("*")}
    assert made >= {"data/train.jsonl", "page/data.html", "model/samples.jsonl", "hyp/a.cha", "hyp/a.srt", "review.csv"}
    assert made >= {"logs/t.tsv", "report/report.html", "compare/report.html", "exported/model.safetensors"}
    assert made >= {"merged/model.safetensors"}


@pytest.mark.slow
def test_no_command_uses_the_network(everything):
    assert everything[1]["attempts"][:-1] == [[]] * 9
    assert everything[1]["attempts"][-1], "the watch sees that a name of the hub, which is no folder, is looked up"
    assert everything[1]["wandb"] == "1"


@pytest.mark.slow
def test_output_is_not_readable_by_other_users(everything):
    place, _ = everything
    made = [place / "out", *(place / "out").rglob("*"), *(place / "home").rglob("*")]
    open_to_others = {path: stat.filemode(path.stat().st_mode) for path in made if path.stat().st_mode & 0o007}
    assert len(made) > 30 and not open_to_others


@pytest.mark.slow
def test_a_hub_name_without_network_is_a_one_line_error(corpus, tmp_path):
    command = ["transcribe", corpus / "a.wav", "--model", "owner-that-is-not/whisper", "-o", tmp_path / "out"]
    done = watched([command], tmp_path, HF_HUB_OFFLINE="1")
    assert done["codes"] == [1] and done["attempts"] == [[]]
    assert done["stderr"].splitlines()[-1].startswith("lsa-whisper: owner-that-is-not/whisper: not on this ma")
    assert "Traceback" not in done["stderr"]


@pytest.mark.parametrize(
    "name", ["runs/whisper-small", "models/nanoo", "here/nano", "./a/b", "whisper", "a/b/c", "~/m"]
)
def test_a_path_is_never_looked_up_on_the_hub(name, tmp_path, monkeypatch):
    from lsa_whisper.checkpoint import load

    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: pytest.fail("it was looked up"))
    with pytest.raises(CheckpointError, match="no such folder"):
        load(name)


def test_every_command_that_writes_excludes_other_users():
    for verb in VERBS:
        function = function_of(verb)
        assert (function.__code__.co_filename.endswith("contextlib.py")) == (verb not in WRITES_NOTHING), verb


@pytest.mark.parametrize(("umask", "mode"), [(0o000, 0o660), (0o022, 0o640), (0o077, 0o600), (0o002, 0o660)])
def test_the_umask_decides_for_the_group(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        replace_file("text", tmp_path / "file")
        with atomic_folder(tmp_path / "folder") as partial, private_umask():
            (partial / "config.json").touch(0o666)
        with private_umask(), private_umask():
            (tmp_path / "plain").touch(0o666)
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    found = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert found == {"file": mode, "config.json": mode, "plain": mode, "folder": mode | 0o770 & ~umask}


def test_threads_share_one_umask(tmp_path):
    began, ended = threading.Event(), threading.Event()

    def other():
        with private_umask():
            began.set()
            ended.wait(10)
            (tmp_path / "late").touch(0o666)

    before = os.umask(0)
    try:
        thread = threading.Thread(target=other)
        with private_umask():
            thread.start()
            began.wait(10)
        ended.set()
        thread.join()
        assert os.umask(0) == 0
    finally:
        os.umask(before)
    assert (tmp_path / "late").stat().st_mode & 0o007 == 0


def test_ray_sends_no_usage_statistics(monkeypatch):
    from lsa_whisper.transcription.workers import connect_to_cluster

    monkeypatch.setitem(sys.modules, "ray", None)  # not installed: the variable is set before it would be imported
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    with pytest.raises(LsaWhisperError), connect_to_cluster("local"):
        pass
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_a_recipe_has_no_trackers_by_default(tmp_path):
    from lsa_whisper.errors import RecipeError
    from lsa_whisper.finetuning.recipe import parse_recipe
    from lsa_whisper.finetuning.training.arguments import training_arguments

    text = "{data: {train: t}, out: o, model: {base: m}, training: {use_cpu: true}}"
    made = training_arguments(parse_recipe(text), tmp_path)
    assert made.report_to == [] and not made.push_to_hub
    for name in ("push_to_hub", "hub_token", "trackio_space_id"):
        with pytest.raises(RecipeError, match=r"not supported|nothing is uploaded"):
            parse_recipe(text, set=[f"trainer_args.{name}=true"])
