"""The library names parameters, the command line options."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lsa_whisper.align import align_transcripts
from lsa_whisper.cli import main
from lsa_whisper.errors import LsaWhisperError


def test_each_caller_reads_what_it_typed(tmp_path):
    transcript, out = tmp_path / "a.cha", tmp_path / "out"
    transcript.write_text("@Begin\n@End\n", "utf-8")
    with pytest.raises(LsaWhisperError, match=r"^`in_place=True` writes .*; leave out `out`$"):
        align_transcripts([transcript], in_place=True, out=out)
    typed = CliRunner().invoke(main, ["align", str(transcript), "--in-place", "-o", str(out)])
    assert typed.exit_code == 1
    assert typed.stderr == "lsa-whisper: --in-place writes into the transcripts themselves; leave out --out\n"


def test_the_help_that_a_mistake_names_is_the_programs_however_it_was_started():
    """``python -m lsa_whisper`` is a name of several words."""
    for program in ("lsa-whisper", "python -m lsa_whisper"):
        done = CliRunner().invoke(main, ["recipes", "shwo"], prog_name=program)
        assert done.stderr.endswith("; see 'lsa-whisper recipes --help'\n"), done.stderr


def test_the_other_options_of_a_grouped_help_are_options():
    shown = CliRunner().invoke(main, ["transcribe", "--help"]).stdout.partition("Other options:")[2]
    assert "--help" in shown and "INPUTS" not in shown


def test_ctrl_c_while_the_program_is_imported_leaves_no_traceback(tmp_path):
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    stopped = subprocess.run(
        [sys.executable, "-m", "lsa_whisper", "models"], capture_output=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert (stopped.returncode, stopped.stdout, stopped.stderr) == (130, b"", b"")
