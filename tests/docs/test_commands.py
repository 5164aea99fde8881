"""Every command in README and docs is run, in order, or says above it why not; and what is not run is right as written.

Above each block of commands stands a comment:

- ``<!-- run -->``: the blocks of a page so marked are run one after another in a folder of their own, which sees the
  project's corpora, models and recipes;
- ``<!-- run: prints -->``: the same, and the next block is what it prints;
- ``<!-- run: may exit 1 -->``: the same, and it may find something wrong with the machine;
- ``<!-- not run: WHY -->``: verb, arguments and options must be known to click, targets to the Makefile, and the files
  of the project that it names must be there.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from pages import PAGES, ROOT, blocks, text_of

from lsa_whisper.cli import main
from lsa_whisper.finetuning import recipe as recipes
from lsa_whisper.system.plain_yaml import parse

COMMAND = re.compile(r"^\s*(lsa-whisper|make|sbatch|python -m benchmarks\.)\b", re.MULTILINE)
INLINE = re.compile(r"`(lsa-whisper [^`]+)`")
MARK = re.compile(r"run(: prints|: may exit 1)?|not run: \S.*")
OURS = ("corpora", "models", "recipes")
ALL = [block for page in PAGES for block in blocks(page)]
COMMANDS = [block for block in ALL if block.language in ("", "console", "bash") and COMMAND.search(block.code)]
RUN_PAGES = [page for page in PAGES if any(block.mark.startswith("run") for block in blocks(page))]


def words_of(command):
    return shlex.split(command, comments=True)


def parsed(words):
    """Let click read the words behind ``lsa-whisper``, without doing anything."""
    command, name = main, "lsa-whisper"
    while isinstance(command, click.Group):
        name, *words = words
        assert name in command.commands, f"there is no command {name}"
        command = command.commands[name]
    command.make_context(name, words)


def check_written(command):
    words = words_of(command)
    if words[0] == "lsa-whisper":
        parsed(words[1:])
    elif words[0] == "make":
        targets = re.search(r"^\.PHONY: (.*)$", text_of("Makefile"), re.MULTILINE)[1].split()
        assert words[1] in targets, f"the Makefile has no target {words[1]}"
    elif words[:2] == ["python", "-m"]:
        assert (ROOT / f"{words[2].replace('.', '/')}.py").is_file()
    for word in words:
        if word.startswith(tuple(f"{folder}/" for folder in OURS)):
            assert (ROOT / word).exists(), f"{word} is not there"


def test_there_are_commands():
    assert len(COMMANDS) >= 20 and "docs/tutorial.md" in RUN_PAGES


@pytest.mark.parametrize("block", COMMANDS, ids=str)
def test_a_block_of_commands_is_run_or_has_a_reason_not_to(block):
    assert MARK.fullmatch(block.mark), "write <!-- run --> or <!-- not run: WHY --> on the line above the block"


@pytest.mark.parametrize("block", COMMANDS, ids=str)
def test_a_command_is_right_as_written(block):
    for command in block.commands:
        check_written(command)


@pytest.mark.parametrize("page", PAGES)
def test_a_command_inside_a_sentence_exists_with_its_options(page):
    for command in INLINE.findall(text_of(page)):
        words = command.split()[1:]
        known = main
        while words and isinstance(known, click.Group) and not words[0].startswith("-"):
            assert words[0] in known.commands, command
            known = known.commands[words.pop(0)]
        options = {name for parameter in known.params for name in (*parameter.opts, *parameter.secondary_opts)}
        asked = {word.rstrip(",;.)").partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert asked <= options | {"--help"}, command


@pytest.mark.parametrize("block", [block for block in ALL if block.language == "yaml"], ids=str)
def test_an_excerpt_of_a_recipe_has_valid_keys(block):
    wanted = {"data": {"train": "t"}, "out": "o", "model": {"base": "b"}} | parse(block.code)
    assert recipes.parse_recipe(repr(wanted).replace("True", "true").replace("False", "false"))


@pytest.mark.parametrize("block", [block for block in ALL if block.language == "python"], ids=str)
def test_an_excerpt_of_python_is_valid(block):
    compile(block.code, str(block), "exec")


@pytest.mark.slow(minutes=0.3)
@pytest.mark.parametrize("page", RUN_PAGES)
def test_the_commands_of_a_page_work(page, tmp_path):
    for folder in OURS:
        (tmp_path / folder).symlink_to(ROOT / folder)
    shown = list(blocks(page))
    for number, block in enumerate(shown):
        if not block.mark.startswith("run"):
            continue
        done = run(block.code, tmp_path)
        assert done.returncode == 0 or (done.returncode == 1 and "may exit 1" in block.mark), f"{block}\n{done.stderr}"
        if "prints" in block.mark:
            assert done.stdout.split() == shown[number + 1].code.split()
    for path in re.findall(r"`(runs/tutorial/[^`]+)`", text_of(page)):
        assert (tmp_path / path).exists(), f"{page} speaks of {path}"


def run(code, folder):
    """Type the lines in a shell, as a reader does after ``source .venv/bin/activate``."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "HF_HUB_OFFLINE": "1",
    }
    return subprocess.run(["bash", "-eu"], input=code, cwd=folder, env=environment, capture_output=True, text=True)
