"""Each command's library function, imported when the command runs, so that ``--help`` loads none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def _prepare() -> Function:
    from lsa_whisper.preparation import prepare

    return prepare


def _convert() -> Function:
    from lsa_whisper.formats.convert import convert

    return convert


def _inspect() -> Function:
    from lsa_whisper.inspection import inspect

    return inspect


def _mark() -> Function:
    from lsa_whisper.retraces.propose import mark

    return mark


def _align() -> Function:
    from lsa_whisper.align import align_transcripts

    return align_transcripts


def _verbatimize() -> Function:
    from lsa_whisper.verbatimize import verbatimize

    return verbatimize


def _finetune() -> Function:
    from lsa_whisper.finetuning.from_corpus import finetune

    return finetune


def _estimate_memory() -> Function:
    from lsa_whisper.finetuning import estimate_memory

    return estimate_memory


def _transcribe() -> Function:
    from lsa_whisper.transcription import transcribe

    return transcribe


def _calibrate() -> Function:
    from lsa_whisper.transcription.calibrate import calibrate

    return calibrate


def _choose_heads() -> Function:
    from lsa_whisper.transcription.choose_heads import choose_heads

    return choose_heads


def _review() -> Function:
    from lsa_whisper.review import review

    return review


def _evaluate() -> Function:
    from lsa_whisper.evaluation import evaluate

    return evaluate


def _compare_runs() -> Function:
    from lsa_whisper.finetuning.compare_runs import compare_runs

    return compare_runs


def _models() -> Function:
    from lsa_whisper.checkpoint.choice import list_models

    return list_models


def _models_use() -> Function:
    from lsa_whisper.checkpoint.choice import use_model

    return use_model


def _export() -> Function:
    from lsa_whisper.checkpoint import export

    return export


def _merge() -> Function:
    from lsa_whisper.checkpoint import merge

    return merge


def _batchalign_transcribe() -> Function:
    from lsa_whisper.batchalign_engine import transcribe_with_batchalign

    return transcribe_with_batchalign


def _batchalign_run() -> Function:
    from lsa_whisper.batchalign_engine import run_batchalign

    return run_batchalign


def _doctor() -> Function:
    from lsa_whisper.doctor import doctor

    return doctor


def _demo() -> Function:
    from lsa_whisper.demo import demo

    return demo


def _recipes() -> Function:
    from lsa_whisper.finetuning.catalog import list_recipes

    return list_recipes


def _recipes_show() -> Function:
    from lsa_whisper.finetuning.catalog import show_recipe

    return show_recipe


def _recipes_new() -> Function:
    from lsa_whisper.finetuning.from_corpus import new_recipe

    return new_recipe


VERBS: dict[str, Callable[[], Function]] = {
    "align": _align,
    "verbatimize": _verbatimize,
    "prepare": _prepare,
    "convert": _convert,
    "inspect": _inspect,
    "mark": _mark,
    "finetune": _finetune,
    "recipes": _recipes,
    "recipes show": _recipes_show,
    "recipes new": _recipes_new,
    "estimate-memory": _estimate_memory,
    "transcribe": _transcribe,
    "calibrate": _calibrate,
    "choose-heads": _choose_heads,
    "review": _review,
    "evaluate": _evaluate,
    "compare-runs": _compare_runs,
    "models": _models,
    "models use": _models_use,
    "export": _export,
    "merge": _merge,
    "batchalign transcribe": _batchalign_transcribe,
    "batchalign run": _batchalign_run,
    "doctor": _doctor,
    "demo": _demo,
}
"""Each command and what imports the function that it calls."""
