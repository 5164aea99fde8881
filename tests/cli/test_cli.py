from __future__ import annotations

import inspect
import subprocess
import sys
from collections import defaultdict

import click
import pytest
from click.testing import CliRunner

from lsa_whisper.cli import VERBS, function_of, main
from lsa_whisper.cli.group import MORE, SECTIONS
from lsa_whisper.transcription import TranscriptionOptions

NOT_OFFERED = {"report", "progress"}
"""Callbacks of the library that are Python functions, so no option can carry them."""


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def command_of(verb):
    """The command of a verb such as ``prepare`` or ``batchalign run``."""
    group, _, command = verb.partition(" ")
    return main.commands[group].commands[command] if command else main.commands[group]


def parameters_of(function):
    """The parameters of a function, with the fields of its options in place of ``options``."""
    found = dict(inspect.signature(function).parameters)
    if found.pop("options", None):
        del found["changes"]
        found |= inspect.signature(TranscriptionOptions).parameters
    return found


def cli(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@pytest.mark.parametrize("command", VERBS)
def test_a_command_and_its_function_have_the_same_parameters_and_defaults(command):
    wanted = parameters_of(function_of(command))
    offered = {parameter.name: parameter for parameter in command_of(command).params}
    given = command_of(command).make_context(command, [], resilient_parsing=True).params
    assert set(offered) == set(wanted) - NOT_OFFERED
    for parameter in offered.values():
        default = wanted[parameter.name].default
        assert parameter.required == (default is inspect.Parameter.empty), parameter.name
        if not parameter.required:
            assert given[parameter.name] == default, parameter.name


def commands(group, prefix=""):
    """Yield all commands that do something: a group does if it may be called without a subcommand."""
    for name, command in group.commands.items():
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield f"{prefix}{name}"
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")


def test_every_verb_is_a_command():
    assert set(commands(main)) == set(VERBS)


def test_the_rank_that_a_launcher_passes_is_accepted():
    """The launcher ``deepspeed`` passes it as the first argument, unless ``--no_local_rank`` is given."""
    found = cli("--local_rank=1", "recipes")
    assert found.exit_code == 0 and found.output == cli("recipes").output
    assert "local" not in cli("--help").output


def test_the_help_lists_every_command_in_a_section():
    first = [name for names in SECTIONS.values() for name in names]
    assert len(first) <= 12 and sorted([*first, *(name for names in MORE.values() for name in names)]) == sorted(
        main.commands
    )


@pytest.mark.parametrize("command", ["", *VERBS])
def test_the_help_fits_80_columns(command):
    assert max(map(len, cli(*command.split(), "--help").output.splitlines())) <= 80


@pytest.mark.parametrize("command", VERBS)
def test_help_shows_an_example_and_explains_each_option(command):
    shown = cli(*command.split(), "--help")
    assert shown.exit_code == 0 and "Example: lsa-whisper" in shown.output
    options = [p for p in command_of(command).params if isinstance(p, click.Option)]
    assert all(option.help for option in options)


def test_help_is_quick_and_loads_no_torch():
    loaded = python(
        "import sys\nfrom click.testing import CliRunner\nfrom lsa_whisper.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0\n"
        "print({'torch', 'transformers', 'numpy', 'rich', 'datasets'} & set(sys.modules))"
    )
    assert loaded.strip() == "set()"


@pytest.mark.parametrize("verb", ["prepare", "inspect", "evaluate", "review", "align", "verbatimize", "transcribe"])
def test_mistakes_are_found_without_loading_torch(verb):
    code = f"import sys\nfrom lsa_whisper.cli import function_of\nfunction_of({verb!r})\nprint('torch' in sys.modules)"
    loaded = python(code)
    assert loaded.strip() == "False"


SHARED = {
    "--out": "where the results go",
    "--model": "the model that the command is about",
    "--audio": "the recordings of the transcripts",
    "--language": "the language of the speech",
    "--speaker": "the code of a speaker that nothing names",
    "--review": "a table of what a person should look at",
    "--format": "the format that is written",
    "--dtype": "the format of the numbers",
    "--batch-size": "windows computed together",
    "--processes": "processes that work together",
    "--seed": "what random choices begin with",
    "--wor": "whether words get times",
    "--nowor": "whether words get times",
    "--prompt-kind": "which text a model is given before the sound",
}
"""Options with one meaning, which the help of each command says in its own words."""


def test_an_option_has_one_meaning_in_all_commands():
    said = defaultdict(set)
    for verb in VERBS:
        for option in (each for each in command_of(verb).params if isinstance(each, click.Option)):
            for name in (each for each in (*option.opts, *option.secondary_opts) if each.startswith("--")):
                said[name].add(option.help)
    assert {name for name, helps in said.items() if len(helps) > 1} == set(SHARED)
