"""From the command to the search it is a short way: few functions call one another, in few files."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from click.testing import CliRunner

import lsa_whisper
from lsa_whisper.cli import main
from lsa_whisper.decoding import transformers_engine

MAX_FRAMES = 12
MAX_FILES = 8
PACKAGE = Path(lsa_whisper.__file__).parent


@pytest.fixture
def frames(visit, scripted, tmp_path, monkeypatch):
    """The calls inside the package at the first search of a recording, the command first."""
    stacks, search = [], transformers_engine.greedy_search

    def noted(*inputs, **options):
        stacks.append(traceback.extract_stack()[:-1])
        return search(*inputs, **options)

    monkeypatch.setattr(transformers_engine, "greedy_search", noted)
    result = CliRunner().invoke(main, ["transcribe", str(visit), "--model", str(scripted), "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    return [frame for frame in stacks[0] if PACKAGE in Path(frame.filename).parents]


def test_few_functions_in_few_files_lead_from_the_command_to_the_search(frames):
    names = [f"{Path(frame.filename).stem}.{frame.name}" for frame in frames]
    assert names[0] == "group.invoke" and names[1] == "transcribing.transcribe" and "decode.decode_repaired" in names
    # The search itself is one more of both.
    assert len(frames) + 1 <= MAX_FRAMES, names
    assert len({frame.filename for frame in frames}) + 1 <= MAX_FILES, names
