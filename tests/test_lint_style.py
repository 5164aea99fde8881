"""The style checks find what they are for, and say where it is and what to do."""

from __future__ import annotations

import ast
import sys

import lint_style
import pytest


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("model._from_config(config)", ["_from_config"]),
        ("super()._save_checkpoint(model)", ["_save_checkpoint"]),
        ("from transformers.modeling_whisper import sinusoids", ["sinusoids"]),
        ("from deepspeed._private import part", ["_private"]),
        ("comm.cdb = None", ["cdb"]),
        ("self._own()\nos._exit(1)\nprint(__file__)", []),
    ],
)
def test_private_parts_are_recognized(line, names):
    assert [name for name, _ in lint_style.private_parts(ast.parse(line))] == names


@pytest.mark.parametrize(
    ("name", "content", "findings"),
    [
        ("a.py", "def read_utils(): ...", ["1: the name read_utils"]),
        ("a.py", "class A:\n    teach: int", ["2: the name teach"]),
        ("a.py", "x = {'said': 1}", ["1: the name said"]),
        ("a.py", "def f(x):\n    print(f'{x}: is no file')", ["2: 'is no file'"]),
        ("a.py", "model._config = 1", ["1: _config is private"]),
        ("a.py", "import re\nx = re.compile(r'(?:a|b)*+c')", ["2: a possessive group"]),
        ("a.yaml", "model:\n  listen: 1", ["2: the key listen"]),
        ("a.md", "Well.\nSomebody reads it.", ["2: 'Somebody'"]),
        ("a.md", "There is no file, and it is no longer needed.", []),
    ],
)
def test_findings_have_their_line_and_fail(name, content, findings, tmp_path, monkeypatch, capsys):
    (tmp_path / name).write_text(content)
    monkeypatch.setattr(sys, "argv", ["lint_style", str(tmp_path / name)])
    assert lint_style.main() == bool(findings)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(findings)
    assert all(line.startswith(f"{tmp_path / name}:{start}") for line, start in zip(lines, findings, strict=True))


def test_all_sources_and_pages_are_checked():
    assert {path.suffix for path in lint_style.checked_files()} == {".py", ".yaml", ".md"}
