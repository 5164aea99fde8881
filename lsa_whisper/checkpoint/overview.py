"""What a model is and what fits, for ``doctor --model`` and for the first line of every command that uses a model."""

from __future__ import annotations

import shlex
from pathlib import Path

from lsa_whisper.checkpoint.adapter_base import base_of
from lsa_whisper.checkpoint.description import describe_files
from lsa_whisper.checkpoint.hub import model_folder
from lsa_whisper.checkpoint.stored_labels import read_writing
from lsa_whisper.checkpoint.untrusted import ADAPTER_FILE, read_json, verify_settings
from lsa_whisper.checkpoint.verification import is_converted, read_metadata, verify_checkpoint
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system.machine import Finding
from lsa_whisper.system.terminal import counted

_IN_A_LINE = ("model", "mels", "context", "layers", "vocabulary", "timestamps", "languages")


def model_overview(model: str | Path) -> tuple[Finding, ...]:
    """Return what a model is and what of it does not fit, a row each.

    The model is a checkpoint folder, an adapter, a CTranslate2 folder, or a hub name (only what is cached is
    described).
    """
    try:
        return _rows(model)
    except CheckpointError as error:
        fact, _, remedy = str(error).rpartition("; ")
        return (Finding("model", "problem", fact, remedy),)


def _rows(model: str | Path) -> tuple[Finding, ...]:
    folder = model_folder(model)
    if folder is None:
        fact = f"{model} is not on this machine; it is downloaded when it is first used"
        return (Finding("model", "warn", fact, "without a network, name a local folder"),)
    writing = (Finding("labels", "ok", _labels(folder)), _disfluencies(folder))
    if is_converted(folder):
        verify_settings(folder)
        return (Finding("model", "ok", "Whisper, converted to CTranslate2"), *writing)
    verify_checkpoint(folder)
    if not (folder / ADAPTER_FILE).exists():
        return (*describe_files(folder), *writing)
    base = base_of(folder)
    place = model_folder(base)
    rank = read_json(folder / ADAPTER_FILE).get("r")
    adapter = Finding("adapter", "ok", f"rank {rank}, on {base}")
    if place is None:
        return (Finding("adapter", "problem", f"its base {base} is not on this machine", f"hf download {base}"),)
    return (*describe_files(folder, place), adapter, *writing)


def _disfluencies(folder: Path) -> Finding:
    """Return which disfluencies a model leaves out of its transcripts."""
    sentence = read_writing(folder).coverage.sentence()
    fact, _, remedy = sentence.partition(". ")
    return Finding("disfluencies", "warn", fact, remedy) if sentence else Finding("disfluencies", "ok", "all classes")


def _labels(folder: Path) -> str:
    labels = read_metadata(folder).get("labels")
    return str(labels.get("style")) if isinstance(labels, dict) else "none recorded: a model without fine-tuning here"


def overview_line(model: str | Path) -> str:
    """Return the overview in one line, with the number of remarks that ``doctor --model`` explains.

    Raises:
        CheckpointError: The model cannot be used.
    """
    rows = _rows(model)
    if problem := next((row for row in rows if row.state == "problem"), None):
        raise CheckpointError(f"{model}: {problem.fact}; {problem.remedy}")
    facts = ", ".join(row.fact for row in rows if row.name in _IN_A_LINE)
    remarks = sum(row.state != "ok" for row in rows if row.name != "disfluencies")
    more = f"; {counted(remarks, 'remark')}: lsa-whisper doctor --model {shlex.quote(str(model))}" if remarks else ""
    return f"{model}: {facts}{more}"
