"""Commands about this machine: ``doctor`` and ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lsa_whisper.cli.group import main, run
from lsa_whisper.cli.types import MODEL, OUT, PATH


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
