"""What ``import lsa_whisper`` offers."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import pytest

import lsa_whisper

PACKAGES = ("evaluate", "finetune", "prepare", "transcribe")


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


@pytest.mark.parametrize(
    "code",
    [
        "import lsa_whisper; f = lsa_whisper.{name}",
        "from lsa_whisper import {name} as f",
        "import lsa_whisper.{name}; f = lsa_whisper.{name}",
        "from lsa_whisper.{name} import {name}; import lsa_whisper; f = lsa_whisper.{name}",
    ],
)
def test_a_package_is_its_function_in_every_order_of_imports(code):
    """Called without arguments, each function reports that some are missing."""
    called = "try:\n    f()\nexcept TypeError as error:\n    print(error)"
    printed = python("\n".join(f"{code.format(name=name)}\n{called}" for name in PACKAGES))
    for name, line in zip(PACKAGES, printed.splitlines(), strict=True):
        assert f"{name}() missing" in line


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_is_called_has_the_functions_signature_and_can_be_pickled(name):
    package = getattr(lsa_whisper, name)
    assert "out" in inspect.signature(package).parameters
    assert pickle.loads(pickle.dumps(package)) is package


def test_modules_of_such_a_package_are_found():
    assert python("import lsa_whisper.prepare.session as session; print(session.__name__)") == (
        "lsa_whisper.prepare.session"
    )


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'transcribble'"):
        lsa_whisper.transcribble  # noqa: B018
