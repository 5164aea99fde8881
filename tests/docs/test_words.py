"""Names, keys, options and texts use the standard terms of the field, one name for each thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import click
import pytest
import yaml
from pages import PAGES, ROOT, text_of

from lsa_whisper.cli.group import main

PACKAGE = ROOT / "lsa_whisper"
TREES = {path.relative_to(PACKAGE): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
BANNED = re.compile(
    "said|says?|saying|(un)?heard|hears?|listen|listening|dumb|deaf|ways?|begun|taught|teach|chances?|clumps?|laws?|deepen|"
    "crew|hopeless|news|shown|elsewhere|untrimmed|meet|leaves?|hire|dismiss|somebody|nobody|anybody|strangers?|mend|mended|"
    "lacks?|told|tells?|meant|stumbled?|shelf|watch|stuck|looped|upward|seldom|lifeline|sweep|spoil|wanted|wanting|among|"
    "gone|goes|forget|forgotten|remarked|deepest|utils?|helpers?|common|misc|manager|handler"
)
"""Parts of names for which the field has a better word, or which say nothing."""
BANNED_WHOLE = ("whole", "stay_near_base")
"""Banned as a name on its own: CHAT's "whole word" and "whole second" are standard."""
NOT_OUR_NAMES = {"Manager", "DataManager"}
BANNED_TEXT = re.compile(
    r"\b(somebody|someone|nobody|anybody|stumbl\w+|write[sn]? down|written down|(was|were|is) said|what is heard|"
    r"model hears|hears at once|as meant|meant words|in every way|anew|goe?s? on (where|from)|told (from|apart)|"
    r"turn back|whatever that)\b",
    re.IGNORECASE,
)
"""Phrases that a technical writer would not use."""
WORD_LISTS = {"chat/syllables.py"}
"""Files whose keys are words of speech, not names."""
DELIBERATE = {
    "convert": "the command, and the conversion of weights in checkpoint, through its module",
    "parse": "the verb of each format's own module: chat, recipes, JSON, YAML, TextGrid",
    "serialize": "the counterpart of parse, in the same modules",
    "read": "the verb for paths: CHAT, manifests, recipes, JSON, YAML",
    "finetune": "by a recipe in finetune, from a corpus too in auto_finetune, which is the public function",
    "write": "the counterpart of read: CHAT, manifests, other formats",
}
"""Public names that several modules may define, each with the reason; all are used through their module."""


def parts(name):
    """Return the words of a name in lower case.

    >>> parts("WordErrors"), parts("_max_gap_ms")
    (['word', 'errors'], ['max', 'gap', 'ms'])
    """
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def definitions(body, inside_class=False):
    """Yield each name that a module or a class defines, parameters and fields included, with its line."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
            extra = [each for each in (node.args.vararg, node.args.kwarg) if each]
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *extra):
                yield argument.arg, argument.lineno
        elif isinstance(node, ast.ClassDef):
            yield node.name, node.lineno
            yield from definitions(node.body, inside_class=True)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from ((each.id, node.lineno) for each in ast.walk(target) if isinstance(each, ast.Name))
        elif isinstance(node, ast.If | ast.Try):
            yield from definitions(node.body, inside_class)


def keys(tree):
    """Yield the constant keys of all dictionaries, such as those that are written as JSON."""
    for node in ast.walk(tree):
        for key in node.keys if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
                yield key.value, key.lineno


def is_banned(name):
    return name.strip("_").lower() in BANNED_WHOLE or (
        name not in NOT_OUR_NAMES and any(map(BANNED.fullmatch, parts(name)))
    )


@pytest.mark.parametrize("path", TREES, ids=str)
def test_names_are_terms_of_the_field(path):
    found = [(path.stem, 1), *definitions(TREES[path].body)]
    if str(path) not in WORD_LISTS:
        found += keys(TREES[path])
    assert not [f"{path}:{line}: {name}" for name, line in found if is_banned(name)]


@pytest.mark.parametrize("path", sorted((ROOT / "recipes").rglob("*.yaml")), ids=lambda path: path.stem)
def test_keys_of_recipes_are_terms_of_the_field(path):
    def names(value):
        for key, inner in value.items() if isinstance(value, dict) else ():
            yield key
            yield from names(inner)

    assert not [name for name in names(yaml.safe_load(path.read_text("utf-8"))) if is_banned(name)]


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


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_plain_english(page):
    assert not [found[0] for found in BANNED_TEXT.finditer(text_of(page))]


@pytest.mark.parametrize("path", TREES, ids=str)
def test_docstrings_and_messages_are_plain_english(path):
    if str(path) not in WORD_LISTS:
        nodes = (node for node in ast.walk(TREES[path]) if isinstance(node, ast.Constant))
        texts = [(node.lineno, node.value) for node in nodes if isinstance(node.value, str)]
        assert not [f"{path}:{line}: {found[0]}" for line, text in texts for found in BANNED_TEXT.finditer(text)]


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
