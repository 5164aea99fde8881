"""A folder that must not be written to: one sentence from every verb, and nothing is changed."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from calls import call, contents, is_one_line_error

from lsa_whisper.decoding.confidences import Calibration
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.transcription.assembly.confidence import save_calibration

pytestmark = pytest.mark.slow


@pytest.fixture
def sealed(disk):
    """Return a function that makes the disk read-only, which root has to obey, too."""

    def seal():
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        return contents(disk)

    return seal


@pytest.mark.parametrize("old", [True, False], ids=["over an old result", "into nothing"])
@pytest.mark.parametrize("verb", ["prepare", "transcribe", "evaluate", "export", "finetune"])
def test_one_sentence_and_nothing_changed(verb, old, jobs, undisturbed, disk, sealed, tmp_path):
    if old:
        shutil.copytree(undisturbed(verb) / "out", disk / "out")
    before = sealed()
    status, output = call(jobs[verb].typed(disk / "out", other=True), tmp_path / "output")
    assert status == 1 and is_one_line_error(output) and "Read-only file system" in output, output
    assert contents(disk) == before


def test_the_launcher(jobs, disk, sealed, tmp_path):
    before = sealed()
    status, output = call([*jobs["two ranks"].typed(disk / "out"), "--processes", "2"], tmp_path / "output")
    assert status == 1 and is_one_line_error(output) and contents(disk) == before, output


def test_files_beside_the_work(jobs, undisturbed, disk, sealed, tmp_path):
    sealed()
    words = jobs["transcribe"].typed(tmp_path / "out")
    data = undisturbed("prepare") / "out"
    for each in (
        [*words, "--log", disk / "runs.log"],
        [*words, "--review", disk / "doubts.csv"],
        ["inspect", data, "-o", disk / "page.html"],
        ["demo", "-o", disk / "demo"],
    ):
        status, output = call(each, tmp_path / "output")
        assert status == 1 and is_one_line_error(output), output
    with pytest.raises(LsaWhisperError, match="Read-only"):
        save_calibration(Calibration(), disk)


def test_finished_transcripts_may_lie_there(jobs, undisturbed, disk, sealed, tmp_path):
    shutil.copytree(undisturbed("transcribe") / "out", disk / "out")
    sealed()
    words = [word for word in jobs["transcribe"].typed(disk / "out") if word not in ("--format", "srt")]
    at = words.index("--review")
    status, output = call([*words[:at], *words[at + 2 :]], tmp_path / "output")
    assert status == 0 and "2 kept" in output, output
