"""The command ``convert``."""

from __future__ import annotations

import sys
from typing import Any

import click

from lsa_whisper.cli.group import PATH, call, main, show
from lsa_whisper.cli.types import LANGUAGE, OUT


@main.command()
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", required=True, type=OUT, help="Output folder.")
@click.option(
    "--format",
    default="cha",
    show_default=True,
    help="Output format: cha, eaf, textgrid, salt, json, srt, vtt, txt, csv, docx.",
)
@click.option("--from", "from_", multiple=True, metavar="SUFFIX", help="Read only these files: slt, eaf, json.")
@click.option("--conventions", type=PATH, help="YAML file with your speakers, tiers and brackets.")
@click.option(
    "--notation",
    default="auto",
    show_default=True,
    help="How the texts mark disfluencies: chat, salt, plain, or auto to find out.",
)
@click.option(
    "--language", type=LANGUAGE, default="eng", show_default=True, help="Language, ISO 639-3, of files that name none."
)
@click.option("--speaker", default="PAR", show_default=True, help="Speaker code, for files that name none.")
@click.option(
    "--infer-marks/--no-infer-marks",
    default=True,
    show_default=True,
    help="Mark fillers, cut-off words and repetitions in plain text.",
)
@click.option("--headers", type=PATH, help="CHAT file, or folder of them, whose headers are taken.")
@click.option("--lossless", is_flag=True, help="Fail each file that would lose anything, and do not write it.")
def convert(**parameters: Any) -> None:
    """Convert transcripts to CHAT, or CHAT to other formats.

    Reads SALT, ELAN, Praat TextGrid, Transcriber, subtitles, plain text, NXT words, CTM, STM and the output of speech
    recognizers. The report counts what the files held before and after, and names each loss.

    Example: lsa-whisper convert corpora/storybook/test -o build/eaf --format eaf
    """
    done = call("convert", **parameters)
    show(done.table())
    sys.exit(done.exit_code)
