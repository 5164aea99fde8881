"""What ``import lsa_whisper`` offers."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import lsa_whisper
from lsa_whisper.errors import LsaWhisperError

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
