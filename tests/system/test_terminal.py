"""What is printed can be copied: no width of the terminal breaks a path or a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsa_whisper.align.summary import AlignedFile
from lsa_whisper.retraces.propose import MarkedFile, MarkResult
from lsa_whisper.system.files import FailedFile
from lsa_whisper.system.terminal import TerminalTable, render_text
from lsa_whisper.verbatimize.files import VerbatimFile

PATH = "/a very/" + "long" * 30 + "/name.cha"


@pytest.mark.parametrize("columns", ["20", "80", "300"])
def test_paths_are_whole_at_any_width(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    table = TerminalTable(
        f"Prepared in {PATH}", ("", "why"), [[PATH, f"{PATH}:3: cannot be read"], [], ["a [//] b", "1"]]
    )
    lines = render_text(table, f"note: {PATH} is empty").splitlines()
    assert lines[0] == f"Prepared in {PATH}" and lines[-1] == f"note: {PATH} is empty"
    assert any(PATH in line.split("│")[1] and f"{PATH}:3: cannot be read" in line for line in lines if "│" in line)
    assert any("a [//] b" in line for line in lines) and "…" not in "".join(lines)


def test_words_are_wrapped_where_that_makes_room(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    text = render_text(TerminalTable("Rejected", ("", "utterances"), [["no time stamps at all", "12"]]))
    assert max(map(len, text.splitlines())) <= 30 and "utterances" in text and "no time stamps at all" not in text


@pytest.mark.parametrize(("count", "code"), [(0, 0), (3, 3), (1000, 100)])
def test_the_exit_code_counts_failures_up_to_a_hundred(count, code):
    assert MarkResult((), (FailedFile(Path("a.cha"), "is empty"),) * count).exit_code == code


@pytest.mark.parametrize(("count", "noun"), [(1, ""), (2, "s")])
def test_one_thing_is_not_told_in_the_plural(count, noun):
    path = Path("a.cha")
    said = [
        str(MarkResult((MarkedFile(path, path, count, count),))),
        *AlignedFile(path, path, utterances=count, timed=1).lines(),
        *AlignedFile(path, path, utterances=count, checked=True).lines(),
        *VerbatimFile(path, path, utterances=count, changed=1, inserted=1).lines(),
    ]
    assert said == [
        f"a.cha: {count} retrace{noun}, {count} utterance{noun} already marked",
        f"aligned a.cha: 1 of {count} utterance{noun}",
        f"checked a.cha: {count} utterance{noun}; bullets that deviate: 0",
        f"written a.cha: 1 disfluency in 1 of {count} utterance{noun}",
    ]
