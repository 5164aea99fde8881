"""Options and their help use the standard terms of the field; a public name stands for one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import click
import pytest
from lint_style import BANNED_TEXT, is_banned
from pages import ROOT, text_of

from lsa_whisper.cli.group import main

PACKAGE = ROOT / "lsa_whisper"
TREES = {path.relative_to(PACKAGE): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
DELIBERATE = {
    "convert": "the command, and the conversion of weights in checkpoint, through its module",
    "matches": "whether a recognizer wrote this JSON, in the module of each recognizer",
    "parse": "the verb of each format's own module: chat, recipes, JSON, YAML, TextGrid",
    "serialize": "the counterpart of parse, in the same modules",
    "read": "the verb for paths: CHAT, manifests, recipes, JSON, YAML",
    "finetune": "by a recipe in finetune, from a corpus too in auto_finetune, which is the public function",
    "write": "the counterpart of read: CHAT, manifests",
}
"""Public names that several modules may define, each with the reason; all are used through their module."""


def commands(group, path=()):
    """Yield each command of the command line with its path."""
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


COMMANDS = {" ".join(path): command for path, command in commands(main)}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_and_help_use_terms_of_the_field(name):
    command = COMMANDS[name]
    options = [each for option in command.params for each in (option.name, *option.opts)]
    assert not [each for each in (*name.split(), *options) if is_banned(each.replace("-", "_"))]
    texts = [command.help or "", *(getattr(each, "help", None) or "" for each in command.params)]
    assert not [found[0] for text in texts for found in BANNED_TEXT.finditer(text)]


def test_a_public_name_stands_in_one_module():
    """The functions of the command line have the names of the functions that they call."""
    modules = defaultdict(set)
    for path, tree in TREES.items():
        if path.parts[0] != "cli":
            for node in tree.body:
                for name in public_names(node):
                    modules[name].add(str(path))
    several = {name: sorted(paths) for name, paths in modules.items() if len(paths) > 1}
    assert {name: paths for name, paths in several.items() if name not in DELIBERATE} == {}
    assert set(DELIBERATE) <= set(several), "remove what is no longer needed"


def public_names(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        found = [node.name]
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        found = [target.id for target in targets if isinstance(target, ast.Name)]
    else:
        found = []
    return [name for name in found if not name.startswith("_")]


def test_every_term_of_the_glossary_has_a_meaning_and_a_source():
    rows = re.findall(r"^\| (.*) \|$", text_of("docs/glossary.md"), re.MULTILINE)
    rows = [row.split(" | ") for row in rows if not row.startswith("term |")]
    assert len(rows) > 100 and all(len(row) == 3 and all(row) for row in rows)
    terms = [row[0] for row in rows]
    assert len(set(terms)) == len(terms)
