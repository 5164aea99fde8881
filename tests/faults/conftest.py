"""Small work for every verb that writes, and folders on disks that are full or read-only."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile
from calls import call, contents, end_all
from tiny_whisper import build_checkpoint, silence, teach, voice

from benchmarks.prepare_scale import make
from lsa_whisper.preparation import prepare

SAID = "<|0.20|>&-um I [/] I want it .<|1.60|><|1.80|>the cat [//] the dog sat .<|2.40|>"
RECIPE = """
data: {{train: {data}, dev: {data}}}
out: unnamed
strategy: {strategy}
model:
  scratch: {{d_model: 16, encoder_layers: 1, decoder_layers: 1, attention_heads: 2, mel_bins: 20, context_s: 4,
            max_target_positions: 128, vocab_size: 300}}
evaluation: {{every_steps: 1, max_windows: 2, samples: 2, metric: loss, keep_best: false}}
training: {{use_cpu: true, max_steps: 4, per_device_train_batch_size: {batch}, learning_rate: 1e-2, logging_steps: 1,
           save_strategy: steps, save_steps: 1, save_total_limit: 2}}
"""


def same_bytes(first: Path, second: Path) -> None:
    one, two = contents(first), contents(second)
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def same_reports(first: Path, second: Path) -> None:
    """Hold two folders with a report each against one another, apart from the date and the folder in the command."""

    def without_call(folder: Path) -> dict[str, bytes]:
        found = {name: data.replace(os.fsencode(folder), b"FOLDER") for name, data in contents(folder).items()}
        return {name: re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d", b"DATE", data) for name, data in found.items()}

    one, two = without_call(first), without_call(second)
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    assert b"DATE" in one["out/report.md"] and b"FOLDER" in one["out/report.md"]


def same_weights(first: Path, second: Path) -> None:
    """Hold two folders with a finished run each against one another; sums may round otherwise after a resume."""
    from safetensors.numpy import load

    one, two = contents(first), contents(second)
    assert one.keys() == two.keys()
    for name in (name for name in one if name.endswith(".safetensors")):
        weights, others = load(one[name]), load(two[name])
        for tensor in weights:
            np.testing.assert_allclose(weights[tensor], others[tensor], rtol=0, atol=1e-6)
    for name in (name for name in one if name.endswith("curve.jsonl")):
        curves = [[json.loads(line) for line in each[name].splitlines()] for each in (one, two)]
        steps = [[(row["step"], "loss" in row, "eval_loss" in row) for row in curve] for curve in curves]
        assert steps[0] == steps[1]
        losses = [[row["loss"] for row in curve if "loss" in row] for curve in curves]
        assert losses[0] == pytest.approx(losses[1], abs=1e-6)
    for name in (name for name in one if name.endswith("samples.jsonl")):
        assert one[name] == two[name]


@dataclass(frozen=True)
class Job:
    """A call that writes to a folder, and what it leaves there.

    Attributes:
        words: What is typed; ``OUT`` stands for the folder.
        others: What is typed for another result in the same folder.
        lock: The name of the lock's file, beside the folder.
        same: Raises unless two folders hold the same result.
    """

    words: tuple[str, ...]
    others: tuple[str, ...]
    lock: str
    same: Callable[[Path, Path], None] = same_bytes

    def typed(self, out: Path, *, other: bool = False) -> list[str]:
        return [word.replace("OUT", str(out)) for word in (self.others if other else self.words)]


@pytest.fixture(scope="session")
def jobs(tmp_path_factory) -> dict[str, Job]:
    place = tmp_path_factory.mktemp("inputs")
    corpus = make(place / "corpus", 12)
    data = prepare([corpus], place / "data", context_s=4, without_timestamps=0.0).out / "train.jsonl"
    model = teach(build_checkpoint(place / "tiny"), place / "taught", SAID)
    (place / "sounds").mkdir()
    for seed, name in enumerate(("one", "two")):
        quiet = [silence(2.0, level=1e-4, seed=seed)] * 3
        sound = np.concatenate((quiet[0], voice(3.0, seed=seed), quiet[1], voice(2.5, seed=seed), quiet[2]))
        soundfile.write(place / "sounds" / f"{name}.wav", sound, 16_000)
    for strategy, batch in (("single", 2), ("ddp", 1)):
        (place / f"{strategy}.yaml").write_text(RECIPE.format(data=data, strategy=strategy, batch=batch))
    transcribe = ("transcribe", str(place / "sounds"), "--model", str(model), "-o", "OUT", "--review", "OUT/doubts.csv")
    transcribe += ("--vad", "energy", "--batch-size", "1", "--format", "srt")
    prepared = ("prepare", str(corpus), "-o", "OUT", "--shards", "2")
    evaluate = ("evaluate", str(corpus), str(corpus), "-o", "OUT", "--samples", "50")
    single, ranks = (("finetune", str(place / f"{name}.yaml"), "-o", "OUT", "--force") for name in ("single", "ddp"))
    rate, training = ("--set", "training.learning_rate=2e-2"), (".out.unfinished.lock", same_weights)
    exports = [("export", str(each), "-o", "OUT") for each in (model, place / "tiny" / "model")]
    return {
        "prepare": Job(prepared, (*prepared, "--seed", "1"), "out/.prepared.json.lock"),
        "transcribe": Job(transcribe, (*transcribe, "--speaker-role", "Adult"), "out/.one.cha.lock"),
        "evaluate": Job(evaluate, (*evaluate, "--collar", "100"), "out/.report.lock", same_reports),
        "export": Job(*exports, ".out.lock"),
        "finetune": Job(single, (*single, *rate), *training),
        "two ranks": Job(ranks, (*ranks, *rate), *training),
    }


@pytest.fixture(autouse=True)
def no_call_outlives_its_test():
    yield
    end_all()


@pytest.fixture(scope="session")
def undisturbed(jobs, tmp_path_factory) -> Callable[..., Path]:
    """Return a function that gives a folder in which ``out`` is what a verb writes when nothing happens to it."""
    made: dict[tuple[str, bool], Path] = {}

    def give(verb: str, *, other: bool = False) -> Path:
        if (verb, other) not in made:
            folder = tmp_path_factory.mktemp("undisturbed") / "work"
            folder.mkdir()
            status, output = call(jobs[verb].typed(folder / "out", other=other), folder.parent / "output")
            assert status == 0, output
            made[verb, other] = folder
        return made[verb, other]

    return give


@pytest.fixture
def disk(tmp_path):
    """A folder that is a small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here, which takes root: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)
