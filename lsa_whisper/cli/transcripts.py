"""Commands that correct or complete transcripts with their recordings: ``review``, ``align`` and ``verbatimize``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import main, run
from lsa_whisper.cli.types import LANGUAGE, MODEL, OUT, PATH, TABLE, device_option, page_language_option, verbose_option


@main.command()
@click.argument("path", type=PATH)
@click.option("--audio", type=PATH, help="Folder of the recordings, if they are not next to the transcripts.")
@click.option("--model", type=MODEL, help="Model for recordings without a transcript; its calibration is used.")
@click.option("--compare", type=PATH, help="A second transcript, or a folder of them, to show side by side.")
@click.option("--flag", default="10%", help="Share of the words that are flagged, the worst ones.")
@click.option("--open/--no-open", "open_page", default=True, help="Open the page in the browser.")
@page_language_option
@click.option("--port", default=0, help="Port on this machine; 0 takes a free one.")
def review(**parameters: Any) -> None:
    """Check and correct transcripts beside their recordings, on a page of this machine.

    Example: lsa-whisper review visits
    """
    run("review", **parameters)


@main.command()
@click.argument("transcripts", nargs=-1, required=True, type=PATH)
@click.option("--audio", type=PATH, help="The recording, or a folder of recordings; default: next to the transcript.")
@click.option(
    "--model", type=MODEL, help="A checkpoint folder or a hub name; the chosen one when not given (see models)."
)
@click.option("-o", "--out", type=OUT, help="Folder for the results; default: aligned, next to the transcript.")
@click.option("--in-place", is_flag=True, help="Write the times into the transcripts themselves.")
@click.option("--review", type=TABLE, help="CSV file for what was not found, is uncertain, or differs from the sound.")
@click.option("--check-times", is_flag=True, help="Compare the existing bullets with the sound; write no transcript.")
@click.option("--language", type=LANGUAGE, help="Language of the speech; default: the first one of the transcript.")
@click.option(
    "--vad",
    default="energy",
    type=click.Choice(["energy", "either", "silero"]),
    help="Voice activity detection: either, silero or energy.",
)
@click.option("--batch-size", type=click.IntRange(1), default=8, help="Windows decoded together.")
@device_option
@verbose_option
def align(**parameters: Any) -> None:
    """Write the time of each utterance and word into transcripts without times.

    The text is not changed. A file that ends in .txt has one utterance per line.

    Example: lsa-whisper align interview.cha --audio interview.wav
    """
    run("align", **parameters)


@main.command()
@click.argument("transcripts", nargs=-1, required=True, type=PATH)
@click.option("--audio", type=PATH, help="The recording, or a folder of recordings; default: next to the transcript.")
@click.option(
    "--model", type=MODEL, help="A checkpoint folder or a hub name; the chosen one when not given (see models)."
)
@click.option("-o", "--out", type=OUT, help="Folder for the results; default: verbatim, next to the transcript.")
@click.option(
    "--prompt-kind",
    default="auto",
    type=click.Choice(["auto", "fluent", "none"]),
    help="Give the model the cleaned text as a prompt; auto: if it was trained with that (see prepare --prompt-kind).",
)
@click.option("--language", type=LANGUAGE, help="Language of the speech; default: the first one of the transcript.")
@device_option
@verbose_option
def verbatimize(**parameters: Any) -> None:
    """Write what was spoken: cleaned transcripts with their disfluencies.

    The words stay. Utterances need times: lsa-whisper align adds them.

    Example: lsa-whisper verbatimize interview.cha --audio interview.wav --model runs/verbatim
    """
    run("verbatimize", **parameters)
