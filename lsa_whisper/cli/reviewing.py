"""The command ``review``."""

from __future__ import annotations

from typing import Any

import click

from lsa_whisper.cli.group import PATH, call, main, show
from lsa_whisper.cli.types import MODEL, page_language_option


@main.command()
@click.argument("path", type=PATH)
@click.option("--audio", type=PATH, help="Folder of the recordings, if they are not next to the transcripts.")
@click.option("--model", type=MODEL, help="Model for recordings without a transcript; its calibration is used.")
@click.option("--compare", type=PATH, help="A second transcript, or a folder of them, to show side by side.")
@click.option("--flag", default="10%", show_default=True, help="Share of the words that are flagged, the worst ones.")
@click.option("--open/--no-open", "open_page", default=True, show_default=True, help="Open the page in the browser.")
@page_language_option
@click.option("--port", default=0, show_default=True, help="Port on this machine; 0 takes a free one.")
def review(**parameters: Any) -> None:
    """Check and correct transcripts beside their recordings, on a page of this machine.

    Example: lsa-whisper review visits
    """
    show(call("review", **parameters))
