"""``lsa-whisper demo``, as a user runs it. More seeds than its own are measured by ``benchmarks/demo_seeds.py``."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from lsa_whisper import chat
from lsa_whisper.align import align_transcripts
from lsa_whisper.align.transcripts import text_without_times
from lsa_whisper.system.shipped import STORYBOOK, shipped

pytestmark = pytest.mark.slow(minutes=2)  # the demo takes 12, for all of them


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What the demo printed, and its report's numbers by system."""
    out = tmp_path_factory.mktemp("demo")
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "lsa_whisper", "demo", "-o", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads((out / "report" / "report.json").read_text())
    return out, done.stdout, {system["name"]: system for system in report["systems"]}


def test_the_reports_path_comes_last(run):
    out, printed, _ = run
    assert printed.splitlines()[-1] == str(out / "report" / "report.html")
    assert (out / "report" / "report.html").stat().st_size > 10_000


def test_before_the_model_drops_filled_pauses(run):
    assert run[2]["before"]["disfluency"]["filled_pause"]["recall"] < 0.05


@pytest.mark.parametrize("name", ["lora", "full"])
def test_after_it_keeps_them_and_repetitions_in_marks_of_chat(run, name):
    after = run[2][name]
    assert after["has_marks"]
    assert after["disfluency"]["filled_pause"]["f1"] >= 0.85
    assert after["disfluency"]["repetition"]["f1"] >= 0.75
    assert after["word_errors"]["verbatim"]["rate"] <= 0.25


@pytest.mark.parametrize("name", ["before", "lora", "full"])
def test_the_transcripts_are_valid_chat(run, name):
    files = sorted((run[0] / "transcripts" / name).rglob("*.cha"))
    assert len(files) == 6
    for path in files:
        assert chat.check(chat.read(path, strict=True)) == []


def test_the_adapted_model_aligns_speech_with_its_speaker_codes(run, tmp_path):
    known = chat.read(shipped(STORYBOOK) / "test" / "test04.cha")
    (tmp_path / "test04.cha").write_text(text_without_times(known))
    align_transcripts(tmp_path / "test04.cha", model=run[0] / "lora", audio=shipped(STORYBOOK) / "test")
    found = chat.read(tmp_path / "aligned" / "test04.cha").utterances
    errors = [abs(a.span.start_ms - b.span.start_ms) for a, b in zip(found, known.utterances, strict=True)]
    assert max(errors) < 200
