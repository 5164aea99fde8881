"""What the package imports is what it says it needs: nothing comes along by chance, nothing is asked for in vain."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OTHER_NAMES = {"docx": "python-docx", "yaml": "pyyaml"}


def name(requirement):
    return re.match(r"[\w-]+", requirement)[0].lower().replace("_", "-")


def declared(requirements):
    return {name(each) for each in requirements}


def imported():
    """Return the top names of all modules from elsewhere, wherever in a file they are imported or looked for."""
    found = set()
    for path in (ROOT / "lsa_whisper").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "find_spec":
                found |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return found - set(sys.stdlib_module_names) - {"lsa_whisper"}


def test_every_import_is_declared_and_every_requirement_is_imported():
    extras = {each for key, needs in PROJECT["optional-dependencies"].items() for each in declared(needs)}
    tools = declared(PROJECT["optional-dependencies"]["dev"]) | declared(PROJECT["optional-dependencies"]["bench"])
    distributions = packages_distributions()
    packages = {
        OTHER_NAMES.get(module) or (name(distributions[module][0]) if module in distributions else name(module))
        for module in imported()
    }
    needed = declared(PROJECT["dependencies"])
    assert packages - needed - extras == set()
    assert needed - packages == set()
    assert packages & tools <= needed | {"lsa-whisper"}
