"""The commands ``models``, ``models use`` and ``merge``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import call, main, show
from lsa_whisper.cli.types import MODEL, OUT


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


@main.command()
@click.argument("checkpoints", nargs=-1, required=True, type=MODEL)
@click.option("-o", "--out", required=True, type=OUT, help="Folder to write.")
@click.option(
    "--weight",
    "weights",
    type=float,
    multiple=True,
    help="Weight of each checkpoint, in order; of two, that of the first is enough. Default: equal.",
)
@click.option("--dtype", default="float32", show_default=True, help="float32, float16 or bfloat16.")
def merge(**parameters: Any) -> None:
    """Average the weights of several runs, or of a run and its base.

    CHECKPOINTS are two or more models trained from the same base; adapters are merged into their bases first.

    Example: lsa-whisper merge runs/demo/full runs/demo/lora --weight 0.5 -o merged
    """
    show(call("merge", **parameters).table())
