"""The commands ``transcribe``, ``calibrate`` and ``choose-heads``."""

from __future__ import annotations

import sys
from typing import Any

import click

from lsa_whisper.cli.group import PATH, call, main, show


@main.command()
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@click.option("--model", help="A checkpoint folder or a hub name; the chosen one when not given (see models).")
@click.option("-o", "--out", type=PATH, help="Folder for the transcripts; beside the audio when not given.")
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=("cha",),
    show_default=True,
    help="Besides cha: srt, vtt, txt, json, textgrid, eaf, salt.",
)
@click.option("--language", default="eng", show_default=True, help="Language of the speech, as CHAT writes it.")
@click.option("--speaker", default="PAR", show_default=True, help="The speaker's code, when the model writes none.")
@click.option("--role", default="Participant", show_default=True, help="That speaker's role in @ID.")
@click.option("--corpus", default="", help="Name of the corpus in @ID.")
@click.option("--batch-size", default=8, show_default=True, help="Windows decoded at once.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
@click.option("--dtype", default="auto", show_default=True, help="auto, float32, bfloat16, float16; for ct2 also int8.")
@click.option("--engine", default="transformers", show_default=True, help="What decodes: transformers or ct2.")
@click.option("--draft", help="A small checkpoint that guesses ahead for the model; the text stays the same.")
@click.option("--wor/--nowor", "word_times", default=False, show_default=True, help="Write the time of each word.")
@click.option(
    "--windows",
    default="speech",
    show_default=True,
    help="Cut in silence (speech), or go on after the last complete timestamp with the text before as prompt "
    "(sequential).",
)
@click.option("--vad", default="auto", show_default=True, help="What finds speech: auto, silero or energy.")
@click.option("--speakers", type=PATH, help="Who speaks when: RTTM, TextGrid or CHAT, or a folder of them by stem.")
@click.option("--review", type=PATH, help="Table (CSV) of the words the model was least sure of, worst first.")
@click.option("--log", type=PATH, help="File that gets a line for each recording.")
@click.option("--processes", type=int, help="Recordings worked on at once: one per GPU, or one, when not given.")
@click.option("--ray", metavar="ADDRESS", help="Let a Ray cluster do the work: its address, auto, or local.")
def transcribe(**parameters: Any) -> None:
    """Write down recordings with every stumble, as CHAT.

    Example: lsa-whisper transcribe interview.wav
    """
    done = call("transcribe", **parameters)
    show(done.table())
    sys.exit(done.exit_code)


@main.command()
@click.argument("model", type=PATH)
@click.argument("sessions", type=PATH)
@click.option("--language", default="eng", show_default=True, help="Language of the speech, as CHAT writes it.")
@click.option("--batch-size", default=8, show_default=True, help="Windows decoded at once.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
def calibrate(**parameters: Any) -> None:
    """Learn from held-out sessions what a model's confidences are worth; transcribe --review uses it from then on.

    Example: lsa-whisper calibrate runs/demo/full corpora/storybook/dev
    """
    show(call("calibrate", **parameters).table())


@main.command("choose-heads")
@click.argument("model", type=PATH)
@click.argument("corpus", nargs=-1, required=True, type=PATH)
@click.option("--windows", default=40, show_default=True, help="Windows of the corpus to listen to.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:1.")
def choose_heads(**parameters: Any) -> None:
    """Find the attention heads that tell when words are said, on a corpus with word times (%wor).

    They are written into MODEL's generation_config.json, where transcribe --wor and other programs look for them.

    Example: lsa-whisper choose-heads models/nano corpora/storybook/dev
    """
    show(call("choose-heads", **parameters).table())
