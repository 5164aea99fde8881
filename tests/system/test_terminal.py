"""What is printed can be copied: no width of the terminal breaks a path or a word."""

from __future__ import annotations

import pytest

from lsa_whisper.system.terminal import TerminalTable, render_text

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
