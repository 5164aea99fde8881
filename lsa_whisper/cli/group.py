"""The group that all commands belong to, in sections for the help; errors become exit codes here.

Errors are in the words of the command line: the library names parameters, a person at a terminal has options.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any

import click

from lsa_whisper.errors import LsaWhisperError, printable
from lsa_whisper.system.disk import disk_error_reason
from lsa_whisper.system.process import skipped_finalization
from lsa_whisper.version import __version__

_SILENT = ("HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK", "WANDB_DISABLED", "DISABLE_SAFETENSORS_CONVERSION")
"""Set for the libraries: report nothing, and do not ask a server to convert a model's weights."""

VERBS = {
    "align": "lsa_whisper.align:align_transcripts",
    "verbatimize": "lsa_whisper.verbatimize:verbatimize",
    "prepare": "lsa_whisper.preparation:prepare",
    "convert": "lsa_whisper.formats.convert:convert",
    "inspect": "lsa_whisper.inspection:inspect",
    "mark": "lsa_whisper.retraces.propose:mark",
    "finetune": "lsa_whisper.finetuning.from_corpus:finetune",
    "recipes": "lsa_whisper.finetuning.catalog:list_recipes",
    "recipes show": "lsa_whisper.finetuning.catalog:show_recipe",
    "recipes new": "lsa_whisper.finetuning.from_corpus:new_recipe",
    "estimate-memory": "lsa_whisper.finetuning:estimate_memory",
    "transcribe": "lsa_whisper.transcription:transcribe",
    "calibrate": "lsa_whisper.transcription.calibrate:calibrate",
    "choose-heads": "lsa_whisper.transcription.choose_heads:choose_heads",
    "review": "lsa_whisper.review:review",
    "evaluate": "lsa_whisper.evaluation:evaluate",
    "compare-runs": "lsa_whisper.finetuning.compare_runs:compare_runs",
    "models": "lsa_whisper.checkpoint.choice:list_models",
    "models use": "lsa_whisper.checkpoint.choice:use_model",
    "export": "lsa_whisper.checkpoint:export",
    "merge": "lsa_whisper.checkpoint:merge",
    "batchalign transcribe": "lsa_whisper.batchalign_engine:transcribe_with_batchalign",
    "batchalign run": "lsa_whisper.batchalign_engine:run_batchalign",
    "doctor": "lsa_whisper.doctor:doctor",
    "demo": "lsa_whisper.demo:demo",
}
"""Each command and the library function that it calls."""

SECTIONS = {
    "Recordings and transcripts": ("transcribe", "review", "inspect", "evaluate"),
    "Your own model": ("prepare", "finetune", "convert", "align"),
    "What is here": ("models", "recipes", "doctor", "demo"),
}
"""The sections of the help, each with its commands."""
MORE = {
    "add disfluencies": ("verbatimize", "mark"),
    "plan and compare training": ("estimate-memory", "compare-runs"),
    "change a model": ("merge", "export", "calibrate", "choose-heads"),
    "another toolkit": ("batchalign",),
}
"""The commands that are needed rarely, by what they are for."""


class _Commands(click.Group):
    """Lists commands in sections, and turns errors into exit codes."""

    def __call__(self, *args: Any, **parameters: Any) -> Any:
        """Run the command line as a program."""
        with skipped_finalization() if "RANK" in os.environ else contextlib.nullcontext():
            return super().__call__(*args, **parameters)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(200)) for name in names])
        with formatter.section("More (COMMAND --help explains each)"):
            formatter.write_dl([(", ".join(names), purpose) for purpose, names in MORE.items()], col_max=50)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            click.echo(f"lsa-whisper: {printable(_in_one_sentence(error))}", err=True)
            sys.exit(error.exit_code)
        except LsaWhisperError as error:
            message = as_options(str(error), self.commands.get(ctx.invoked_subcommand or "", self))
            click.echo(f"lsa-whisper: {printable(message)}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("lsa-whisper: stopped; run the same command again to resume", err=True)
            sys.exit(130)
        except BrokenPipeError:
            # The reader (head, less) has closed the pipe; the rest of the output has no reader.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                click.echo(f"lsa-whisper: {printable(str(error.filename)[:40])}...: too long for a name", err=True)
                sys.exit(1)
            reason = disk_error_reason(error)
            if reason is None or error.filename:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            click.echo(f"lsa-whisper: the output cannot be written ({reason}); make room", err=True)
            sys.exit(1)


def _in_one_sentence(error: click.UsageError) -> str:
    """Return what is wrong with what was typed, and where its help is."""
    sentence = error.format_message().rstrip(".")
    sentence += " (a name with spaces needs quotes)" if "unexpected extra argument" in sentence else ""
    file = next((word for word in sys.argv[1:] if word.startswith("-") and os.access(word, os.F_OK)), None)
    sentence += f" (the file of this name is ./{file})" if file and isinstance(error, click.NoSuchOption) else ""
    path = error.ctx.command_path.removeprefix(error.ctx.find_root().command_path) if error.ctx else ""
    return f"{sentence}; see 'lsa-whisper{path} --help'"


@click.group(
    cls=_Commands,
    context_settings={"max_content_width": 80, "help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, prog_name="lsa-whisper")
@click.option(
    "--local_rank",
    "--local-rank",
    hidden=True,
    expose_value=False,
    type=int,
    help="Ignored: some launchers pass it to each process, and set LOCAL_RANK as well.",
)
def main() -> None:
    """Transcripts that keep every um, repetition and restart: prepare, fine-tune, transcribe, evaluate.

    Example: lsa-whisper transcribe interview.wav
    """
    # Recordings of patients and children stay on this machine: no library may report to a server by default.
    for variable in _SILENT:
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Passive waiting costs 3 % on an idle machine; active waiting takes three times as long on a busy one.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def show(result: Any) -> None:
    """Print a command's result."""
    click.echo(as_options(printable(str(result)), click.get_current_context().command))


def function_of(command: str) -> Callable[..., Any]:
    """Return a command's library function, imported only now, so that ``--help`` loads none of them."""
    function: Callable[..., Any] = resolve_name(VERBS[command])
    return function


def call(command: str, **parameters: Any) -> Any:
    """Call the command's library function and return its result."""
    return function_of(command)(**parameters)


def run(command: str, **parameters: Any) -> None:
    """Call the command's library function, print the result, and exit with its status if something failed."""
    result = call(command, **parameters)
    show(result.table() if hasattr(result, "table") else result)
    if status := getattr(result, "exit_code", 0):
        sys.exit(status)


_PARAMETER = re.compile(r"`(\w+)(?:=([^`]*))?`")
_PYTHON_ONLY = ("True", "None")


def as_options(message: str, command: click.Command) -> str:
    """Return ``message`` with the parameters in backticks as the options of ``command`` and of its subcommands.

    >>> command = click.Command("f", params=[click.Option(["--speaker-from"]), click.Option(["--force"])])
    >>> as_options("`speaker_from=x`: gives no speaker; correct it or set `force=True`", command)
    '--speaker-from x: gives no speaker; correct it or set --force'
    >>> as_options("`recipe`: not found", command)
    '`recipe`: not found'
    """
    flags = {parameter.name: max(parameter.opts, key=len) for parameter in _options(command)}

    def option(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name not in flags:
            return match[0]
        return flags[name] if value is None or value in _PYTHON_ONLY else f"{flags[name]} {value}"

    return _PARAMETER.sub(option, message)


def _options(command: click.Command) -> Iterator[click.Option]:
    yield from (parameter for parameter in command.params if isinstance(parameter, click.Option))
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            yield from _options(subcommand)


class GroupedCommand(click.Command):
    """A command whose help lists its options in groups; an option that is in none comes last."""

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **settings: Any):
        """Take the names of the parameters of each group by its title, in order."""
        super().__init__(*args, **settings)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section for each group."""
        options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        records = {option.name: row for option in options if (row := option.get_help_record(ctx))}
        for title, names in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names])
        if records:
            with formatter.section("Other options"):
                formatter.write_dl([*records.values()])
