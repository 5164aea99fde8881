"""The commands ``batchalign transcribe`` and ``batchalign run``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import call, main, run
from lsa_whisper.cli.types import LANGUAGE, OUT, PATH


@main.group()
def batchalign() -> None:
    """Run a model in Batchalign, TalkBank's pipeline, with every disfluency.

    Example: lsa-whisper batchalign transcribe visits -o transcripts --model runs/demo/full --lang eng
    """


@batchalign.command("transcribe")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--model", required=True, help="A checkpoint folder, an adapter's too, or a hub name.")
@click.option(
    "--lang", type=LANGUAGE, required=True, help="Language of the speech, three letters (ISO 639-3): eng, spa."
)
@click.option("-o", "--out", type=OUT, help="Folder for the transcripts; default: next to the audio.")
@click.option("-n", "--num-speakers", type=int, help="Report transcripts with another number of speakers.")
@click.option("--force-cpu", is_flag=True, help="Run on the CPU.")
@click.option("--wor/--nowor", default=False, help="Write the time of each word.")
@click.option("--batch-size", type=click.IntRange(1), default=8, help="Windows decoded together.")
def batchalign_transcribe(**parameters: Any) -> None:
    """Transcribe recordings through Batchalign, with every disfluency.

    Example: lsa-whisper batchalign transcribe visits -o transcripts --model runs/demo/full --lang eng
    """
    run("batchalign transcribe", **parameters)


@batchalign.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("args", nargs=-1, required=True, type=click.UNPROCESSED)
def batchalign_run(**parameters: Any) -> None:
    """Run Batchalign's own command with the engine lsa among its engines.

    Example: lsa-whisper batchalign run -- transcribe visits -o out --engine lsa --model runs/demo/full --lang eng
    """
    call("batchalign run", **parameters)
