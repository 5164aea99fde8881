"""Commands that prepare transcripts and data: ``convert``, ``prepare``, ``inspect`` and ``mark``."""

from __future__ import annotations

import sys
from typing import Any

import click

from lsa_whisper.cli.group import call, main, run, show
from lsa_whisper.cli.types import LANGUAGE, MODEL, OUT, PAGE, PATH, TABLE, page_language_option


@main.command()
@click.argument("corpora", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", required=True, type=OUT, help="Output folder for the manifests.")
@click.option(
    "--labels",
    default="chat",
    help="Label style: chat, verbatim or fluent. chat/1 uses CHAT's own codes instead of signs.",
)
@click.option("--speaker-codes", is_flag=True, help="Prefix each utterance with its speaker code (*CHI:).")
@click.option("--audio", type=PATH, help="Folder of the recordings, if they are not next to the transcripts.")
@click.option("--card", type=PATH, help="Corpus card. Default: card.yaml in the corpus folder.")
@click.option("--context", "context_s", default=30.0, help="Maximum window length in seconds; the model's context.")
@click.option("--one-utterance", is_flag=True, help="One utterance per window, no packing.")
@click.option("--without-timestamps", default=0.2, help="Share of windows without timestamps.")
@click.option(
    "--prompt-kind",
    default="previous",
    help="What a prompt is: the previous window's text, or the window's own fluent text (see verbatimize).",
)
@click.option(
    "--with-prompt", type=float, help="Share of windows with a prompt. Default: 0, or 1 with --prompt-kind fluent."
)
@click.option("--non-speech", default=0.01, help="Share of silent windows with empty text.")
@click.option("--seed", default=0, help="Random seed for margins, timestamps, prompts and silent windows.")
@click.option("--reviewed", is_flag=True, help="Take only utterances that a person has reviewed (see review).")
@click.option("--language", type=LANGUAGE, help="Language of all windows, in place of the transcripts'.")
@click.option("--shards", default=0, help="Also write each split as N Parquet files that contain the audio.")
@click.option("--processes", default=1, help="Number of worker processes; does not affect the result.")
@click.option("--repair-bullets", is_flag=True, help="Use times that lost their control characters: dog . 500_900")
@click.option(
    "--speaker-from", metavar="PATTERN", help="Which files have the same person, by their names: '{speaker}_{visit}'."
)
@click.option(
    "--splice",
    metavar="RATE",
    default=0.0,
    help="Spliced versions of each train utterance: the same speaker with more disfluencies.",
)
@click.option(
    "--splice-profile",
    type=PATH,
    help="How often each class is spliced: as in train (default), fluent-adults, or a file: see inspect --profile.",
)
@click.option(
    "--relabel",
    type=MODEL,
    help="Model that adds disfluencies that it finds to the labels of train; dev and test stay.",
)
@click.option("--relabel-threshold", default=0.7, help="Least probability of what --relabel adds.")
@click.option("--train-only", is_flag=True, help="All recordings train: of very little data, dev and test say nothing.")
def prepare(**parameters: Any) -> None:
    """Prepare training data from CHAT transcripts and recordings.

    Also reads Kaldi folders, manifests of NeMo and Lhotse, and folders of the library datasets.

    Example: lsa-whisper prepare corpora/storybook -o build/storybook --context 6
    """
    run("prepare", **parameters)


@main.command()
@click.argument("path", type=PATH)
@click.option(
    "--mode", default="strict", type=click.Choice(["strict", "flucalc"]), help="flucalc: counts as CLAN does."
)
@click.option("--json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--check", is_flag=True, help="List violations of CHAT's rules; exit status 1 if there are errors.")
@click.option("--fix", is_flag=True, help="Repair what has one correct repair, keep the original, list the others.")
@click.option("--strict", is_flag=True, help="Exit status 1 for remarks, which CLAN's CHECK does not make, too.")
@click.option("--model", type=MODEL, help="Checkpoint whose tokenizer counts label tokens. Default: an estimate.")
@click.option(
    "-o",
    "--out",
    type=PAGE,
    help="Write an HTML page: measures, timeline, trends and clips, or the plots and clips of data.",
)
@page_language_option
@click.option("--profile", is_flag=True, help="Count how often, where and how long each class of disfluency is.")
@click.option("--measures", is_flag=True, help="Measure language samples: MLU, NDW, TTR, D, maze words, rates.")
@click.option("--events", is_flag=True, help="List every disfluency with its line.")
@click.option("--csv", type=TABLE, help="Write all measures to a CSV file, a row for each speaker of each file.")
@click.option(
    "--against",
    type=PATH,
    metavar="FOLDER",
    help="Percentiles among your own samples in FOLDER: speakers of the same role and age.",
)
def inspect(**parameters: Any) -> None:
    """Count disfluencies and measure language samples in CHAT files, or summarize prepared training data.

    Example: lsa-whisper inspect corpora/storybook/test -o build/sample.html
    """
    report = call("inspect", **parameters)
    show(report)
    if getattr(report, "errors", 0):
        sys.exit(1)


@main.command()
@click.argument("transcripts", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", required=True, type=OUT, help="Output folder for the marked copies.")
@click.option("--threshold", default=0.23, help="Least probability of a retrace: higher gives fewer and surer marks.")
@click.option("--language", type=LANGUAGE, help="ISO 639-3 code. Default: the first of @Languages.")
def mark(**parameters: Any) -> None:
    """Propose fillers, cut-off words and retraces in transcripts without them.

    Writes marked copies and a table of all marks with their confidence. The
    originals are kept.

    Example: lsa-whisper mark corpora/storybook/test -o build/marked
    """
    run("mark", **parameters)


@main.command()
@click.argument("inputs", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", required=True, type=OUT, help="Output folder.")
@click.option(
    "--format", default="cha", help="Output format: cha, eaf, textgrid, salt, json, srt, vtt, txt, csv, docx."
)
@click.option("--from", "from_", multiple=True, metavar="SUFFIX", help="Read only these files: slt, eaf, json.")
@click.option("--conventions", type=PATH, help="YAML file with your speakers, tiers and brackets.")
@click.option(
    "--notation", default="auto", help="How the texts mark disfluencies: chat, salt, plain, or auto to find out."
)
@click.option("--language", type=LANGUAGE, default="eng", help="Language, ISO 639-3, of files that name none.")
@click.option("--speaker", default="PAR", help="Speaker code, for files that name none.")
@click.option(
    "--infer-marks/--no-infer-marks", default=True, help="Mark fillers, cut-off words and repetitions in plain text."
)
@click.option("--headers", type=PATH, help="CHAT file, or folder of them, whose headers are taken.")
@click.option("--lossless", is_flag=True, help="Fail each file that would lose anything, and do not write it.")
def convert(**parameters: Any) -> None:
    """Convert transcripts to CHAT, or CHAT to other formats.

    Reads SALT, ELAN, Praat TextGrid, Transcriber, subtitles, plain text, NXT words, CTM, STM and the output of speech
    recognizers. The report counts what the files held before and after, and names each loss.

    Example: lsa-whisper convert corpora/storybook/test -o build/eaf --format eaf
    """
    run("convert", **parameters)
