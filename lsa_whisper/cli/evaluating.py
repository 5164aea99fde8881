"""The commands ``evaluate`` and ``compare-runs``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import main, run
from lsa_whisper.cli.types import OUT, PATH, page_language_option


@main.command()
@click.argument("reference", type=PATH)
@click.argument("hypotheses", nargs=-1, type=PATH)
@click.option("-o", "--out", type=OUT, help="Folder for report.html, report.md and report.json.")
@click.option("--name", "names", multiple=True, help="Name of the first; repeat the option for the next ones.")
@click.option("--audio", type=PATH, help="Folder of the recordings, to play utterances in the report.")
@click.option("--embed-audio", is_flag=True, help="Put the sound into report.html, to send it as one file.")
@page_language_option
@click.option("--summary/--no-summary", default=True, help="Also write summary.html: one page to print.")
@click.option(
    "--decide",
    default="auto",
    metavar="METRIC",
    help="Metric that decides which system is better: auto, wer_verbatim, wer_fluent, disfluency_f1 ...",
)
@click.option(
    "--group",
    default="auto",
    type=click.Choice(["auto", "name", "folder", "file"]),
    help="What tells that recordings are of one person, for the intervals.",
)
@click.option(
    "--samples", default=2000, type=click.IntRange(min=40), help="Bootstrap resamples for the confidence intervals."
)
@click.option(
    "--collar",
    default=500,
    type=click.IntRange(min=0),
    help="Milliseconds by which the onsets of a disfluency may differ to match in time.",
)
@click.option("--speaker-errors", is_flag=True, help="Also compute cpWER, tcpWER and ORC-WER (needs meeteval).")
@click.option(
    "--as",
    "as_",
    multiple=True,
    metavar="MODE",
    help="Also score by the rules of another tool: batchalign2, batchalign-compare, whisper or nyra.",
)
def evaluate(**parameters: Any) -> None:
    """Score transcripts against reference transcripts: words, disfluencies, language-sample measures.

    Hypotheses are CHAT, or what other recognizers write: JSON, CTM, STM, SRT, VTT, TextGrid, ELAN, SALT, plain text.

    Report and JSON have more figures than the table that is printed.

    Example: lsa-whisper evaluate corpora/storybook/test runs/demo/transcripts/full -o report

    (the demo writes these transcripts)
    """
    run("evaluate", **parameters)


@main.command("compare-runs")
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", type=OUT, help="Folder for report.html and report.json.")
@click.option("--name", "names", multiple=True, help="Name of the first; repeat the option for the next ones.")
def compare_runs(**parameters: Any) -> None:
    """Compare training runs: curves, best values and differences between recipes.

    Example: lsa-whisper compare-runs runs/demo/full runs/demo/lora -o report
    """
    run("compare-runs", **parameters)
