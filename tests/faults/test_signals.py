"""Ctrl-C in one process, and ranks that fail: what is printed, what is saved, and that all come to an end."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest
from calls import Call, call

pytestmark = pytest.mark.slow
LONG = (
    "--set",
    "training.max_steps=100000",
    "--set",
    "training.save_steps=100000",
    "--set",
    "evaluation.every_steps=100000",
)
FINITE = ("--set", "training.max_steps=200", "--set", "training.save_steps=200", "--set", "evaluation.every_steps=200")
"""Long enough for a signal to come in time, and short enough to be finished by the same command."""
FAILS = """
import os

if os.environ.get("RANK") == "{rank}":
    from lsa_whisper.finetuning.training import trainer

    ours = trainer.SpeechTrainer.training_step

    def fails(self, *given):
        if self.state.global_step == 2:
            raise ZeroDivisionError("the sun was in my eyes")
        return ours(self, *given)

    trainer.SpeechTrainer.training_step = fails
"""


@pytest.mark.parametrize(("signal_number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_the_same_command_resumes(signal_number, status, jobs, tmp_path):
    words = [*jobs["finetune"].typed(tmp_path / "out"), *FINITE]
    made = Call(words, tmp_path / "output")
    while "step 3/" not in made.output:
        assert made.wait(0.05) is None, made.output
    os.kill(made.pid, signal_number)
    assert made.wait() == status, made.output
    assert made.output.count("run the same command again to resume") == (2 if signal_number == signal.SIGINT else 1), (
        made.output
    )
    assert "Traceback" not in made.output
    (saved,) = (tmp_path / "out.unfinished").glob("checkpoint-*")
    code, output = call(words, tmp_path / "output")
    assert code == 0 and f"resuming from {saved}" in output, output


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_raises_ends_the_others_and_its_traceback_is_shown_once(rank, jobs, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(FAILS.format(rank=rank))
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    made = Call(
        [*jobs["two ranks"].typed(tmp_path / "out"), *LONG, "--processes", "2"],
        tmp_path / "output",
        environment={"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
    )
    while "step 2/" not in made.output:
        assert made.wait(0.05) is None, made.output
    began = time.monotonic()
    assert made.wait() == 1, made.output
    assert time.monotonic() - began < 60
    assert made.output.count("Traceback") == 1 and made.output.count("ZeroDivisionError: the sun") >= 1, made.output
    assert f"rank {rank} of 2 failed" in made.output


def test_ctrl_c_ends_the_demo_and_starts_none_of_its_other_steps(tmp_path):
    """A terminal sends Ctrl-C to the demo and to what it has started; the first model's transcription still waits."""
    made = Call(["demo", "-o", tmp_path / "out"], tmp_path / "output")
    while not all(f"{name}: step 25/" in made.output for name in ("lora", "full")):
        assert made.wait(0.05) is None, made.output
    os.killpg(made.pid, signal.SIGINT)
    assert made.wait() == 130, made.output
    assert made.output.count("run the same command again to resume") == 5, made.output
    assert "before: " not in made.output and "Traceback" not in made.output
