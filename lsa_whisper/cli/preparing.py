"""Commands about data: ``prepare`` and ``inspect``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import PATH, call, main, show


@main.command()
@click.argument("corpora", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", required=True, type=PATH, help="Folder for the manifests.")
@click.option(
    "--labels",
    default="chat",
    show_default=True,
    help="What the model learns to write: chat, verbatim or fluent; chat/1 spells CHAT out instead of using signs.",
)
@click.option("--roles", is_flag=True, help="Write the speaker's code (*CHI:) in front of each utterance.")
@click.option("--media", type=PATH, help="Folder of the recordings, when they are not beside the transcripts.")
@click.option("--card", type=PATH, help="The corpus card, when it is not card.yaml in the corpus' own folder.")
@click.option(
    "--context", "context_s", default=30.0, show_default=True, help="Longest window in seconds; the model's context."
)
@click.option("--one-utterance", is_flag=True, help="One utterance per window instead of packed windows.")
@click.option("--without-timestamps", default=0.2, show_default=True, help="Share of windows without time stamps.")
@click.option(
    "--with-prompt", default=0.0, show_default=True, help="Share of windows with the previous text as prompt."
)
@click.option("--non-speech", default=0.01, show_default=True, help="Share of windows that are silent, without text.")
@click.option("--seed", default=0, show_default=True, help="Decides window margins and which windows get what.")
@click.option("--shards", default=0, show_default=True, help="Also write each split to N Parquet files with its audio.")
@click.option("--processes", default=1, show_default=True, help="Processes that work at once; the result is the same.")
def prepare(**parameters: Any) -> None:
    """Turn folders of CHAT transcripts and recordings into training data.

    Example: lsa-whisper prepare corpora/storybook -o build/storybook --context 6
    """
    show(call("prepare", **parameters).table())


@main.command()
@click.argument("path", type=PATH)
@click.option(
    "--mode", default="strict", show_default=True, type=click.Choice(["strict", "flucalc"]), help="How to count."
)
@click.option("--json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--check", is_flag=True, help="List what breaks CHAT's rules.")
@click.option("--model", type=PATH, help="Checkpoint whose tokenizer counts the labels' tokens; else an estimate.")
@click.option("-o", "--out", type=PATH, help="HTML page to write: plots of prepared data and clips to listen to.")
def inspect(**parameters: Any) -> None:
    """Show the fluency of a CHAT file, or what a folder of prepared data holds.

    Example: lsa-whisper inspect build/storybook -o build/storybook.html
    """
    show(call("inspect", **parameters))
