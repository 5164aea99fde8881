"""What ``import lsa_whisper`` offers."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import lsa_whisper
from lsa_whisper.checkpoint.choice import use_model
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.formats.convert import convert
from lsa_whisper.inspection import inspect as inspect_transcripts
from lsa_whisper.retraces.propose import mark

SESSION = Path(__file__).resolve().parents[1] / "corpora" / "storybook" / "test" / "test01.cha"


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", sorted({*lsa_whisper.__all__} - {"__version__"}))
def test_every_public_name_can_be_imported_and_is_documented(name):
    offered = getattr(lsa_whisper, name)
    assert callable(offered) and inspect.getdoc(offered)
    assert name in dir(lsa_whisper)


def test_importing_the_package_loads_no_library():
    heavy = {"torch", "transformers", "numpy", "yaml", "click", "rich", "datasets", "scipy"}
    assert python(f"import sys, lsa_whisper\nprint(sorted({heavy} & set(sys.modules)))") == "[]"


def test_chat_is_read_without_torch():
    code = "import sys, lsa_whisper\nlsa_whisper.read_chat\nprint('torch' in sys.modules, 'numpy' in sys.modules)"
    assert python(code) == "False False"


@pytest.mark.parametrize("name", ["evaluate", "finetune", "prepare", "transcribe"])
def test_help_of_a_public_function_shows_its_parameters(name):
    shown = pydoc.render_doc(getattr(lsa_whisper, name), renderer=pydoc.plaintext)
    assert f"{name}(" in shown and "out: " in shown


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'transcribble'"):
        lsa_whisper.transcribble  # noqa: B018


def test_one_path_may_stand_for_a_list_of_one(tmp_path):
    assert lsa_whisper.evaluate(str(SESSION), str(SESSION)).systems["test01"].word_errors_verbatim.rate == 0
    with pytest.raises(LsaWhisperError, match=r"^nowhere: no such corpus folder"):
        lsa_whisper.prepare("nowhere", str(tmp_path / "out"))


ENTRIES = {
    "transcribe": lambda wrong: lsa_whisper.transcribe(wrong, model="none"),
    "prepare": lambda wrong: lsa_whisper.prepare(wrong, "out"),
    "prepare out": lambda wrong: lsa_whisper.prepare(".", wrong),
    "finetune": lambda wrong: lsa_whisper.finetune(wrong),
    "evaluate": lambda wrong: lsa_whisper.evaluate(".", wrong),
    "evaluate reference": lambda wrong: lsa_whisper.evaluate(wrong, ["."]),
    "export out": lambda wrong: lsa_whisper.export("none", wrong),
    "read_chat": lambda wrong: lsa_whisper.read_chat(wrong),
    "convert": lambda wrong: convert(wrong, "out"),
    "convert out": lambda wrong: convert(["."], wrong),
    "mark": lambda wrong: mark(wrong, out="out"),
    "mark out": lambda wrong: mark(["."], out=wrong),
    "inspect": lambda wrong: inspect_transcripts(wrong),
    "use_model": lambda wrong: use_model(wrong),
}


@pytest.mark.parametrize("wrong", [None, 3, [], ""], ids=repr)
@pytest.mark.parametrize("entry", ENTRIES)
def test_what_is_not_a_path_is_an_error_in_one_sentence(entry, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        LsaWhisperError, match=r"give the path|is empty|no corpus|at least one|no transcript|no recording"
    ):
        ENTRIES[entry](wrong)
    assert not list(tmp_path.iterdir())


def test_one_transcript_need_not_be_in_a_list(tmp_path):
    (tmp_path / "a.cha").write_text("@UTF8\n@Begin\n@Languages:\teng\n*PAR:\tthe the dog .\n@End\n", encoding="utf-8")
    assert "a.cha" in str(mark(tmp_path / "a.cha", out=tmp_path / "marked"))
    assert convert(str(tmp_path / "a.cha"), tmp_path / "out", format="txt").files
