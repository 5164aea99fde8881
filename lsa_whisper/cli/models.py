"""The commands ``models`` and ``models use``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import call, main, show


@main.group(invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """List the models that this machine knows; an asterisk marks the chosen one.

    Example: lsa-whisper models
    """
    if context.invoked_subcommand is None:
        show(call("models").table())


@models.command("use")
@click.argument("model")
def use(**parameters: Any) -> None:
    """Choose the model that commands use where none is named.

    MODEL is a checkpoint folder, a hub name such as openai/whisper-small, or nano.

    Example: lsa-whisper models use runs/demo/full
    """
    show(call("models use", **parameters))
