"""A class of disfluency is one row of the table: everything else reads it from there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lsa_whisper.chat import disfluencies

_LAST_ROW = '    PAUSE = (\n        "pause",'
_ROW = """    RETURN = (
        "return", "[/+]", SignPlace.AFTER_WORDS, "Returns", "A made-up retrace (CHAT: [/+]).",
        Family.RETRACE, Match.HALF, False, "/+", "", "q", "return", Splice(9, "revision"),
        "wavy var(--s5)",
    )
"""
_LOAD = """
import importlib.util, sys
import lsa_whisper
spec = importlib.util.spec_from_file_location("lsa_whisper.chat.disfluencies", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)
"""
_USE = """
from lsa_whisper.chat import Disfluency, utterance
from lsa_whisper.evaluation.report import CLASSES as LEGEND
from lsa_whisper.formats.salt import _MAZE
from lsa_whisper.labels.notation import chat_to_label, label_to_chat
from lsa_whisper.page import templates
from lsa_whisper.review.edits import MARKS
from lsa_whisper.scoring.disfluency import SCORED, supported_classes
from lsa_whisper.scoring.score_file import ParsedTranscript, score_file
from lsa_whisper.splice.profile import count_profile

text = "<the dog> [/+] the cat ran ."
one = utterance("CHI", text)
assert [event.kind for event in one.events()] == ["return"], one.events()
assert one.fluent() == ["the", "cat", "ran"], one.fluent()
said = ParsedTranscript((one,), {})
scores = score_file("file", said, said)
assert scores.disfluency[Disfluency.RETURN].true_positives == 1, scores.disfluency
label = chat_to_label(text, 2)
assert "/+" in label.split(), label
assert label_to_chat(label, 2) == text, label
assert Disfluency.RETURN in SCORED and Disfluency.RETURN in supported_classes([Disfluency.REVISION])
assert Disfluency.RETURN in _MAZE
assert LEGEND[Disfluency.RETURN][0] == "Returns"
assert MARKS["return"].key == "q"
assert templates("lsa_whisper.evaluation").globals["underlined"]["wavy var(--s5)"] == ["return"]
assert count_profile([one]).classes["return"].count == 1
"""


def _run(tmp_path: Path, row: str, program: str) -> subprocess.CompletedProcess[str]:
    table = Path(disfluencies.__file__).read_text(encoding="utf-8")
    assert table.count(_LAST_ROW) == 1
    changed = tmp_path / "disfluencies.py"
    changed.write_text(table.replace(_LAST_ROW, row + _LAST_ROW), encoding="utf-8")
    command = [sys.executable, "-c", _LOAD + program, str(changed)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_made_up_class_is_one_row(tmp_path: Path) -> None:
    done = _run(tmp_path, _ROW, _USE)
    assert done.returncode == 0, done.stderr


def test_an_incomplete_row_fails_at_import(tmp_path: Path) -> None:
    done = _run(tmp_path, '    RETURN = ("return", "[/+]", SignPlace.AFTER_WORDS)\n', "")
    assert done.returncode == 1
    assert "the row of 'return' has 2 of 13 cells (missing: title, meaning, " in done.stderr
    assert "splice, underline); complete it" in done.stderr
