"""The command line: each command parses options, makes one call to a library function, and prints.

A command's parameters are its function's parameters, by name; ``VERBS`` says which function that is.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from lsa_whisper import __version__
from lsa_whisper.errors import LsaWhisperError

VERBS = {
    "prepare": "lsa_whisper.prepare:prepare",
    "inspect": "lsa_whisper.inspection:inspect",
    "finetune": "lsa_whisper.finetune:finetune",
    "estimate-memory": "lsa_whisper.finetune:estimate_memory",
    "transcribe": "lsa_whisper.transcribe:transcribe",
    "evaluate": "lsa_whisper.evaluate:evaluate",
    "export": "lsa_whisper.checkpoint:export",
    "batchalign transcribe": "lsa_whisper.batchalign_engine:transcribe",
    "batchalign run": "lsa_whisper.batchalign_engine:run",
    "doctor": "lsa_whisper.doctor:doctor",
    "demo": "lsa_whisper.demo:demo",
}
"""Each command and the library function it calls."""

_path = click.Path(path_type=Path)


class _Commands(click.Group):
    """The place where errors become exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LsaWhisperError as error:
            click.echo(f"lsa-whisper: {error}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("lsa-whisper: stopped; the same command goes on from here", err=True)
            sys.exit(130)
        except BrokenPipeError:
            # The reader (head, less) has gone; what is left unsaid cannot be said to anyone.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)


@click.group(cls=_Commands, context_settings={"max_content_width": 110, "help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lsa-whisper")
def main() -> None:
    """Transcripts that keep every um, repetition and restart: prepare, fine-tune, transcribe, evaluate.

    Example: lsa-whisper transcribe interview.wav --model models/nano
    """
    # Recordings of patients and children stay here: nothing below may report to a server unasked.
    for variable in ("HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK", "WANDB_DISABLED"):
        os.environ.setdefault(variable, "1")
    # Threads that wait for each other asleep cost 3 % alone; awake, they take three times as long beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _call(command: str, **parameters: Any) -> Any:
    """Call the command's library function; it is imported only now, so that ``--help`` loads none of it."""
    module, name = VERBS[command].split(":")
    return getattr(importlib.import_module(module), name)(**parameters)


@main.command()
@click.argument("corpora", nargs=-1, required=True, type=_path)
@click.option("-o", "--out", required=True, type=_path, help="Folder for the manifests.")
@click.option(
    "--labels",
    default="chat",
    show_default=True,
    help="What the model learns to write: chat, verbatim or fluent; chat/1 spells CHAT out instead of using signs.",
)
@click.option("--roles", is_flag=True, help="Write the speaker's code (*CHI:) in front of each utterance.")
@click.option("--media", type=_path, help="Folder of the recordings, when they are not beside the transcripts.")
@click.option("--card", type=_path, help="The corpus card, when it is not card.yaml in the corpus' own folder.")
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
    click.echo(_call("prepare", **parameters).table())


@main.command()
@click.argument("path", type=_path)
@click.option(
    "--mode", default="strict", show_default=True, type=click.Choice(["strict", "flucalc"]), help="How to count."
)
@click.option("--json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--check", is_flag=True, help="List what breaks CHAT's rules.")
@click.option("--model", type=_path, help="Checkpoint whose tokenizer counts the labels' tokens; else an estimate.")
@click.option("-o", "--out", type=_path, help="HTML page to write: plots of prepared data and clips to listen to.")
def inspect(**parameters: Any) -> None:
    """Show the fluency of a CHAT file, or what a folder of prepared data holds.

    Example: lsa-whisper inspect build/storybook -o build/storybook.html
    """
    click.echo(_call("inspect", **parameters))


@main.command()
@click.argument("recipe", type=_path)
@click.option("--set", multiple=True, metavar="KEY=VALUE", help="Override a recipe value: training.learning_rate=1e-5.")
@click.option("-o", "--out", type=_path, help="Folder for the checkpoint, instead of the recipe's.")
@click.option("--processes", default=1, show_default=True, help="Processes of this machine that train together.")
def finetune(**parameters: Any) -> None:
    """Train as a recipe says; called again, go on where it stopped.

    Example: lsa-whisper finetune recipes/whisper-large-v3-zero3-offload.yaml
    """
    click.echo(_call("finetune", **parameters).out)


@main.command("estimate-memory")
@click.argument("model")
@click.option("--recipe", type=_path, help="Count this recipe's adapter, batch and checkpointing.")
@click.option("--set", multiple=True, metavar="KEY=VALUE", help="Override a recipe value.")
@click.option("--gpus", default=1, show_default=True, help="GPUs that share the work.")
@click.option("--gpu-memory", default=24.0, show_default=True, help="GB of each GPU.")
@click.option("--batch-size", default=1, show_default=True, help="Windows per GPU and step, without a recipe.")
def estimate_memory(**parameters: Any) -> None:
    """Say what training needs, for every strategy.

    Example: lsa-whisper estimate-memory large-v3 --gpu-memory 16
    """
    click.echo(_call("estimate-memory", **parameters).table())


@main.command()
@click.argument("inputs", nargs=-1, required=True, type=_path)
@click.option("--model", required=True, help="A checkpoint folder or a hub name such as openai/whisper-small.")
@click.option("-o", "--out", type=_path, help="Folder for the transcripts; beside the audio when not given.")
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
@click.option("--dtype", default="auto", show_default=True, help="auto, float32, bfloat16 or float16.")
@click.option("--engine", default="transformers", show_default=True, help="The decoder's library.")
@click.option("--wor/--nowor", "word_times", default=False, show_default=True, help="Write the time of each word.")
def transcribe(**parameters: Any) -> None:
    """Write down recordings with every stumble, as CHAT.

    Example: lsa-whisper transcribe interview.wav --model runs/demo/full
    """
    done = _call("transcribe", **parameters)
    click.echo(done.table())
    sys.exit(done.exit_code)


@main.command()
@click.argument("reference", type=_path)
@click.argument("hypotheses", nargs=-1, type=_path)
@click.option("-o", "--out", type=_path, help="Folder for report.html, report.md and report.json.")
@click.option("--name", "names", multiple=True, help="Name of each system, in order.")
@click.option("--audio", type=_path, help="Folder of the recordings, to play utterances in the report.")
@click.option("--samples", default=2000, show_default=True, help="Bootstrap samples for the intervals.")
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
    click.echo(_call("evaluate", **parameters).table())


@main.command()
@click.argument("checkpoint", type=_path)
@click.option("-o", "--out", required=True, type=_path, help="Folder to write.")
@click.option("--to", default="hf", show_default=True, type=click.Choice(["hf", "ct2"]), help="Format.")
@click.option("--merge/--no-merge", default=True, show_default=True, help="Merge an adapter into its base.")
@click.option(
    "--dtype", default="float32", show_default=True, help="float32, or float16 or bfloat16 for half the size."
)
def export(**parameters: Any) -> None:
    """Write a checkpoint that other programs load.

    Example: lsa-whisper export runs/demo/lora -o exported
    """
    click.echo(_call("export", **parameters))


@main.group()
def batchalign() -> None:
    """Use a model in Batchalign, TalkBank's pipeline, without losing what it writes.

    Example: lsa-whisper batchalign transcribe visits -o transcripts --model runs/demo/full --lang eng
    """


@batchalign.command("transcribe")
@click.argument("paths", nargs=-1, required=True, type=_path)
@click.option("--model", required=True, help="A checkpoint folder, an adapter's too, or a hub name.")
@click.option("--lang", required=True, help="Language of the speech, three letters (ISO 639-3): eng, spa.")
@click.option("-o", "--out", type=_path, help="Folder for the transcripts; beside the audio when not given.")
@click.option("--engine", default="lsa", show_default=True, help="lsa is the only one here; see batchalign run.")
@click.option(
    "-n", "--num-speakers", type=int, help="Say so when another number was written; the model decides who speaks."
)
@click.option("--force-cpu", is_flag=True, help="Leave a GPU alone.")
@click.option("--wor/--nowor", default=False, show_default=True, help="Write the time of each word.")
@click.option("--batch-size", default=8, show_default=True, help="Windows decoded at once.")
def batchalign_transcribe(**parameters: Any) -> None:
    """Write down recordings through Batchalign, every stumble kept.

    Example: lsa-whisper batchalign transcribe visits -o transcripts --model runs/demo/full --lang eng
    """
    done = _call("batchalign transcribe", **parameters)
    click.echo(done.table())
    sys.exit(done.exit_code)


@batchalign.command("run", context_settings={"ignore_unknown_options": True})
@click.argument("args", nargs=-1, required=True, type=click.UNPROCESSED)
def batchalign_run(**parameters: Any) -> None:
    """Run Batchalign's own command with the engine lsa among its engines.

    Example: lsa-whisper batchalign run -- transcribe visits -o out --engine lsa --model runs/demo/full --lang eng
    """
    _call("batchalign run", **parameters)


@main.command()
@click.option("--folder", type=_path, help="Where models and transcripts will be written; here when not given.")
def doctor(**parameters: Any) -> None:
    """Look for what would stop a run on this machine, with the remedy.

    Example: lsa-whisper doctor
    """
    found = _call("doctor", **parameters)
    click.echo(found.table())
    sys.exit(found.exit_code)


@main.command()
@click.option(
    "-o", "--out", default=Path("runs/demo"), show_default=True, type=_path, help="Folder for everything it makes."
)
@click.option(
    "--corpus", default=Path("corpora/storybook"), show_default=True, type=_path, help="CHAT and audio with a card."
)
@click.option("--model", default="models/nano", show_default=True, help="The checkpoint to start from.")
@click.option(
    "--seed", default=0, show_default=True, help="Decides the order of the data and the adapter's first weights."
)
def demo(**parameters: Any) -> None:
    """Run the whole job in small: prepare, fine-tune, transcribe, evaluate; the report's path comes last.

    Example: lsa-whisper demo
    """
    click.echo(_call("demo", **parameters))
