"""The command ``evaluate``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import PATH, call, main, show


@main.command()
@click.argument("reference", type=PATH)
@click.argument("hypotheses", nargs=-1, type=PATH)
@click.option("-o", "--out", type=PATH, help="Folder for report.html and report.json; of systems, report.md too.")
@click.option("--name", "names", multiple=True, help="Name of each system or run, in order.")
@click.option("--audio", type=PATH, help="Folder of the recordings, to play utterances in the report.")
@click.option(
    "--samples",
    default=2000,
    show_default=True,
    type=click.IntRange(min=40),
    help="Bootstrap samples for the intervals.",
)
@click.option(
    "--collar",
    default=500,
    show_default=True,
    type=click.IntRange(min=0),
    help="Milliseconds apart that a disfluency may begin and agree in time.",
)
@click.option("--speakers", is_flag=True, help="Also score who said what: cpWER and tcpWER (needs meeteval).")
@click.option(
    "--as",
    "as_",
    multiple=True,
    metavar="MODE",
    help="Score by foreign rules too, apart from ours: batchalign2, batchalign-compare or whisper.",
)
@click.option("--compare", is_flag=True, help="The paths are training runs: lay their curves side by side.")
def evaluate(**parameters: Any) -> None:
    """Compare transcripts with reference transcripts: words, disfluencies, language-sample measures.

    Example: lsa-whisper evaluate corpora/storybook/test runs/demo/full-transcripts -o report
    """
    show(call("evaluate", **parameters).table())
