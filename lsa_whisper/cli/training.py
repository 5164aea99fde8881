"""Commands that train, choose and change models, ``doctor`` for the machine that does it, and ``demo`` of it all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lsa_whisper.cli.group import call, main, run, show
from lsa_whisper.cli.types import MODEL, OUT, PATH, RECIPE, SOURCE


@main.command(no_args_is_help=True)
@click.argument("source", type=SOURCE)
@click.option(
    "--model", type=MODEL, help="The model to start from: a folder or a hub name; the chosen one when not given."
)
@click.option("--set", multiple=True, metavar="KEY=VALUE", help="Override a recipe value: training.learning_rate=1e-5.")
@click.option("-o", "--out", type=OUT, help="Folder for the checkpoint; the recipe's, or runs/ and SOURCE's name.")
@click.option("--processes", default=1, type=click.IntRange(1), help="Processes of this machine that train together.")
@click.option(
    "--force", is_flag=True, help="Train even if the plan does not fit this machine or required tools are missing."
)
def finetune(**parameters: Any) -> None:
    """Fine-tune a model on a corpus, on prepared data, or by a recipe.

    SOURCE is a folder of CHAT transcripts and recordings, a folder that prepare wrote, a recipe (YAML), or the name of
    a shipped recipe (see recipes). Without a recipe, one is chosen for this machine and written next to the result.
    Call it again to resume an interrupted run.

    Example: lsa-whisper finetune corpora/storybook --model nano -o runs/mine
    """
    show(call("finetune", **parameters).out)


@main.group(invoke_without_command=True)
@click.pass_context
def recipes(context: click.Context) -> None:
    """List the shipped recipes with what each needs.

    Example: lsa-whisper recipes
    """
    if context.invoked_subcommand is None:
        run("recipes")


@recipes.command("show")
@click.argument("name")
def recipes_show(**parameters: Any) -> None:
    """Print a shipped recipe, to be changed and given to finetune.

    Example: lsa-whisper recipes show whisper-large-v3-lora > mine.yaml
    """
    run("recipes show", **parameters)


@recipes.command("new", no_args_is_help=True)
@click.argument("data", type=PATH)
@click.option("-o", "--out", required=True, type=RECIPE, help="The recipe's file.")
@click.option(
    "--model", type=MODEL, help="The model to start from: a folder or a hub name; the chosen one when not given."
)
def recipes_new(**parameters: Any) -> None:
    """Write a recipe for prepared data and this machine, with comments.

    Example: lsa-whisper recipes new build/storybook --model nano -o mine.yaml
    """
    run("recipes new", **parameters)


@main.command("estimate-memory")
@click.argument("model")
@click.option("--recipe", type=PATH, help="Use this recipe's adapter, batch and checkpointing.")
@click.option("--set", multiple=True, metavar="KEY=VALUE", help="Override a recipe value: training.learning_rate=1e-5.")
@click.option("--gpus", default=1, help="Number of GPUs; 0 trains on the CPU.")
@click.option("--gpu-memory", default=24.0, help="GiB of each GPU.")
@click.option("--host-memory", type=float, help="GiB of host memory; default: not checked.")
@click.option(
    "--batch-size", type=int, help="Windows per GPU and step; the recipe's by default, or the largest that fits."
)
@click.option("--label-tokens", default=128, help="Tokens in the longest label.")
def estimate_memory(**parameters: Any) -> None:
    """Estimate memory for every strategy and recommend one, as lines of a recipe.

    Example: lsa-whisper estimate-memory large-v3 --gpu-memory 16
    """
    run("estimate-memory", **parameters)


@main.command()
@click.argument("checkpoint", type=MODEL)
@click.option("-o", "--out", required=True, type=OUT, help="Folder to write.")
@click.option("--to", default="hf", type=click.Choice(["hf", "ct2", "ggml"]), help="Format.")
@click.option(
    "--dtype", help="float32 (default), float16, bfloat16; for ct2 also int8, int8_float16; ggml is always float16."
)
def export(**parameters: Any) -> None:
    """Write a checkpoint that other programs load, an adapter merged into its base.

    Example: lsa-whisper export runs/demo/lora -o exported
    """
    run("export", **parameters)


@main.group(invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """List the models that this machine knows; an asterisk marks the chosen one.

    Example: lsa-whisper models
    """
    if context.invoked_subcommand is None:
        run("models")


@models.command("use")
@click.argument("model")
def use(**parameters: Any) -> None:
    """Choose the model that commands use where none is named.

    MODEL is a checkpoint folder, a hub name such as openai/whisper-small, or nano.

    Example: lsa-whisper models use runs/demo/full
    """
    run("models use", **parameters)


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
@click.option("--dtype", default="float32", help="float32, float16 or bfloat16.")
def merge(**parameters: Any) -> None:
    """Average the weights of several runs, or of a run and its base.

    CHECKPOINTS are two or more models trained from the same base; adapters are merged into their bases first.

    Example: lsa-whisper merge runs/demo/full runs/demo/lora --weight 0.5 -o merged
    """
    run("merge", **parameters)


@main.command()
@click.option("--model", type=MODEL, help="Check this model instead: a folder or a hub name.")
@click.option("--folder", type=PATH, help="Folder for models and transcripts; the current one when not given.")
@click.option("--nvme", type=PATH, help="A folder on a fast disk: check what offloading to it needs.")
def doctor(**parameters: Any) -> None:
    """Check this machine, or a model, for problems and print their remedies.

    Example: lsa-whisper doctor
    """
    run("doctor", **parameters)


@main.command()
@click.option("-o", "--out", default=Path("runs/demo"), type=OUT, help="Folder for all results.")
@click.option("--corpus", type=PATH, help="CHAT and audio with a card; the shipped storybook when not given.")
@click.option("--model", type=MODEL, help="The checkpoint to start from; the shipped nano when not given.")
@click.option("--seed", default=0, type=click.IntRange(0, 2**32 - 1), help="Decides the data's order and weights.")
def demo(**parameters: Any) -> None:
    """Run a small example of the complete workflow; the last line is the report's path.

    Example: lsa-whisper demo
    """
    run("demo", **parameters)
