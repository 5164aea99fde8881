"""Errors in the words of the command line: the library names parameters, a person at a terminal has options."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

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
