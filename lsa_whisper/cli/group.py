"""The group that all commands belong to, the functions they call, and the place where errors become exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from lsa_whisper.disk import disk_error_reason
from lsa_whisper.errors import LsaWhisperError, printable
from lsa_whisper.version import __version__

VERBS = {
    "prepare": "lsa_whisper.prepare:prepare",
    "inspect": "lsa_whisper.inspection:inspect",
    "finetune": "lsa_whisper.finetune:finetune",
    "estimate-memory": "lsa_whisper.finetune:estimate_memory",
    "transcribe": "lsa_whisper.transcribe:transcribe",
    "calibrate": "lsa_whisper.transcribe.calibrate:calibrate",
    "evaluate": "lsa_whisper.evaluate:evaluate",
    "compare-runs": "lsa_whisper.compare_runs:compare_runs",
    "export": "lsa_whisper.checkpoint:export",
    "choose-heads": "lsa_whisper.transcribe.choose_heads:choose_heads",
    "batchalign transcribe": "lsa_whisper.batchalign_engine:transcribe",
    "batchalign run": "lsa_whisper.batchalign_engine:run",
    "doctor": "lsa_whisper.doctor:doctor",
    "demo": "lsa_whisper.demo:demo",
}
"""Each command and the library function it calls."""

_SILENT = ("HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK", "WANDB_DISABLED", "DISABLE_SAFETENSORS_CONVERSION")
"""What the libraries are told: report nothing, and do not ask a server to convert a model's weights."""

PATH = click.Path(path_type=Path)


class _Commands(click.Group):
    """The place where errors become exit codes."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LsaWhisperError as error:
            click.echo(f"lsa-whisper: {printable(str(error))}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("lsa-whisper: stopped; the same command goes on from here", err=True)
            sys.exit(130)
        except BrokenPipeError:
            # The reader (head, less) has gone; what is left unsaid cannot be said to anyone.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)
        except OSError as error:
            reason = disk_error_reason(error)
            if reason is None or error.filename:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            click.echo(f"lsa-whisper: what is said here cannot be written ({reason}); make room", err=True)
            sys.exit(1)


@click.group(cls=_Commands, context_settings={"max_content_width": 110, "help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lsa-whisper")
def main() -> None:
    """Transcripts that keep every um, repetition and restart: prepare, fine-tune, transcribe, evaluate.

    Example: lsa-whisper transcribe interview.wav --model models/nano
    """
    # Recordings of patients and children stay here: nothing below may report to a server unasked.
    for variable in _SILENT:
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Threads that wait for each other asleep cost 3 % alone; awake, they take three times as long beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def show(found: Any) -> None:
    """Print what a command found."""
    click.echo(printable(str(found)))


def call(command: str, **parameters: Any) -> Any:
    """Call the command's library function; it is imported only now, so that ``--help`` loads none of it."""
    module, name = VERBS[command].split(":")
    return getattr(importlib.import_module(module), name)(**parameters)
