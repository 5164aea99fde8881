"""Style checks of all sources and pages: names and texts are plain, private parts stay in one module.

    python -m tests.lint_style [FILE ...]

Prints a line for each finding, what it is and what to do, and exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
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
    r"turn back|whatever that|(?<!there\s)(is|are)\s+no\s+(?!longer|more\s)\w+)\b",
    re.IGNORECASE,
)
"""Phrases that a technical writer would not use; "is no dog" is "is not a dog"."""
WORD_LISTS = {"chat/syllables.py"}
"""Files whose keys and texts are words of speech."""
LIBRARIES = ("accelerate", "datasets", "deepspeed", "peft", "torch", "transformers")
UNDOCUMENTED = {
    "__compatible_ops__",
    "cdb",
    "fragment_address",
    "get_length_grouped_indices",
    "rotate_checkpoints",
    "sinusoids",
    "unset_hf_deepspeed_config",
}
DOCUMENTED = {("os", "_exit"), ("member", "_value_")}
NAMED_TUPLE = ("_replace", "_asdict", "_fields", "_make")
"""Underscored lest they clash with fields; documented."""
EXEMPT = {"library_internals.py", "deepspeed_internals.py", "batchalign_engine"}
"""Where private parts belong. The engine inside Batchalign replaces parts of Batchalign, and of nothing else."""

POSSESSIVE_GROUP = re.compile(r"(?<![\\(])\)[*+?]\+")
"""The end of a repeated group that gives nothing back, in a regular expression."""


def parts(name: str) -> list[str]:
    """Return the words of a name in lower case.

    >>> parts("WordErrors"), parts("_max_gap_ms")
    (['word', 'errors'], ['max', 'gap', 'ms'])
    """
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def is_banned(name: str) -> bool:
    """Return whether the field has a better word for a name, or a part of it."""
    return name.strip("_").lower() in BANNED_WHOLE or (
        name not in NOT_OUR_NAMES and any(map(BANNED.fullmatch, parts(name)))
    )


def definitions(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Yield each name that a module or a class defines, parameters and fields included, with its line."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
            variable = [argument for argument in (node.args.vararg, node.args.kwarg) if argument]
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *variable):
                yield argument.arg, argument.lineno
        elif isinstance(node, ast.ClassDef):
            yield node.name, node.lineno
            yield from definitions(node.body)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from ((name.id, node.lineno) for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(node, ast.If | ast.Try):
            yield from definitions(node.body)


def keys(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the constant keys of all dictionaries, such as those that are written as JSON."""
    for node in ast.walk(tree):
        for key in node.keys if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier():
                yield key.value, key.lineno


def is_private(name: str) -> bool:
    """Return whether a name is private to its object or module."""
    return name.startswith("_") and not name.endswith("__") and name not in NAMED_TUPLE


def private_parts(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every private attribute of another object and every private or undocumented import, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (is_private(node.attr) or node.attr in UNDOCUMENTED):
            owner = node.value.id if isinstance(node.value, ast.Name) else None
            if owner not in ("self", "cls", "other") and (owner, node.attr) not in DOCUMENTED:
                yield node.attr, node.lineno
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in LIBRARIES:
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from ((name, node.lineno) for name in names if is_private(name) or name in UNDOCUMENTED)


def phrases(text: str, line: int = 1) -> Iterator[tuple[int, str]]:
    """Yield the line and description of each banned phrase of a text that starts at a line."""
    for match in BANNED_TEXT.finditer(text):
        yield line + text.count("\n", 0, match.start()), f"{match[0]!r}: write plain technical English"


def check_source(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the findings in a Python file of the package."""
    tree = ast.parse(path.read_text("utf-8"))
    is_word_list = any(str(path).endswith(name) for name in WORD_LISTS)
    for name, line in (path.stem, 1), *definitions(tree.body), *(() if is_word_list else keys(tree)):
        if is_banned(name):
            yield line, f"the name {name}: use the term of the field (docs/glossary.md)"
    for node in () if is_word_list else ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from phrases(node.value, node.lineno)
            if POSSESSIVE_GROUP.search(node.value):
                yield node.lineno, "a possessive group: up to Python 3.11.4, re matches it wrongly; use a lookahead"
    if not EXEMPT & set(path.parts):
        for name, line in private_parts(tree):
            yield (
                line,
                f"{name} is private to its library: move its use into lsa_whisper/system/*_internals.py",
            )


def check_recipe(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the keys of a recipe that are not terms of the field."""
    node = yaml.compose(path.read_text("utf-8"))
    pending = [node] if node else []
    while pending:
        for key, value in pending.pop().value:
            if is_banned(key.value):
                yield key.start_mark.line + 1, f"the key {key.value}: use the term of the field (docs/glossary.md)"
            pending += [value] if isinstance(value, yaml.MappingNode) else []


def check(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and description of each finding in a file."""
    if path.suffix == ".py":
        return check_source(path)
    return check_recipe(path) if path.suffix == ".yaml" else phrases(path.read_text("utf-8"))


def checked_files() -> list[Path]:
    """Return the sources of the package, the recipes and the pages."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
    return sorted([*ROOT.glob("lsa_whisper/**/*.py"), *ROOT.glob("recipes/**/*.yaml"), *pages])


def main() -> int:
    """Print the findings in the named files, or in all; return 1 if there are any."""
    paths = [Path(name).resolve() for name in sys.argv[1:]] or checked_files()
    lines = [f"{path}:{line}: {text}" for path in paths for line, text in check(path)]
    for line in lines:
        print(line.removeprefix(f"{ROOT}/"))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
