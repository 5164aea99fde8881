"""The recipe's ``trainer_args``: arguments for transformers' trainer that no setting of the recipe covers."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from lsa_whisper.finetuning.settings.sections import TrainingSettings
from lsa_whisper.finetuning.settings.values import TYPE_NAMES, OneOf, Range, number_of, shorten, similar_name

_TRAINING = tuple(field.name for field in dataclasses.fields(TrainingSettings))
_OWNERS: dict[str, str] = {
    "output_dir": "out",
    "data_seed": "seed",
    "bf16": "precision: bf16",
    "fp16": "precision: fp16",
    "bf16_full_eval": "precision: bf16",
    "fp16_full_eval": "precision: fp16",
    "optim": "optimizer",
    "optim_args": "optimizer",
    "optim_target_modules": "optimizer",
    "logging_strategy": "training.logging_steps",
    "eval_delay": "evaluation.every_steps",
    "eval_on_start": "evaluation.every_steps",
    "prediction_loss_only": "evaluation.generate",
    "gradient_checkpointing_kwargs": "training.gradient_checkpointing",
    "activation_checkpointing": "training.gradient_checkpointing",
    "dataloader_num_workers": "data.workers",
    "auto_find_batch_size": "auto_micro_batch",
    "fsdp": "strategy: fsdp2",
    "fsdp_config": "fsdp",
    "eval_strategy": "evaluation",
    "eval_steps": "evaluation.every_steps",
    "per_device_eval_batch_size": "evaluation.batch_size",
    "predict_with_generate": "evaluation.generate",
    "load_best_model_at_end": "evaluation.keep_best",
    "metric_for_best_model": "evaluation.metric",
    "greater_is_better": "evaluation.metric",
    "report_to": "evaluation.trackers",
    "no_cuda": "training.use_cpu",
    "warmup_ratio": "training.warmup_steps (below 1 it is a share of all steps)",
    "per_gpu_train_batch_size": "training.per_device_train_batch_size",
    "max_duration_in_seconds": "lsa-whisper prepare --context",
}
"""Arguments of transformers, present and former, that a setting of the recipe takes the place of."""
_REFUSED: dict[str, str] = {
    "remove_unused_columns": "this trainer sets it itself",
    "label_names": "this trainer sets it itself",
    "use_cache": "this trainer sets it itself",
    "logging_nan_inf_filter": "it would hide a loss that is not a number",
    "length_column_name": "the lengths are those of the windows",
    "sortish_sampler": "data.trim takes windows of similar length into a step",
    "batch_eval_metrics": "this trainer scores whole dev sets",
    "eval_accumulation_steps": "this trainer scores whole dev sets",
    "eval_do_concat_batches": "this trainer scores whole dev sets",
    "eval_use_gather_object": "this trainer scores whole dev sets",
    "include_for_metrics": "this trainer scores whole dev sets",
    "label_smoothing_factor": "this trainer's loss smooths no labels",
    "save_only_model": "a run could not resume from such a checkpoint",
    "resume_from_checkpoint": "a run resumes by itself when the same command is called again",
    "ignore_data_skip": "a resumed run would train on other windows",
    "parallelism_config": "strategy and fsdp set it",
    "accelerator_config": "this trainer sets it itself",
    "local_rank": "the launcher sets it",
    "do_train": "finetune always trains",
    "do_eval": "evaluation sets it",
    "do_predict": "finetune does not predict",
    "restore_callback_states_from_checkpoint": "evaluation.patience sets it",
    "push_to_hub": "not supported; upload the finished folder yourself",
}
_HUB, _GENERATION = ("hub_", "trackio_"), "generation_"
_MIN_VALUES: dict[str, float] = {"ddp_timeout": 1, "ddp_bucket_cap_mb": 1, "neftune_noise_alpha": 0}
_VALUES: dict[str, tuple[str, ...]] = {
    "ddp_backend": ("nccl", "gloo", "mpi", "ccl", "hccl", "cncl", "mccl"),
    "log_level": ("debug", "info", "warning", "error", "critical", "detail", "passive"),
    "log_level_replica": ("debug", "info", "warning", "error", "critical", "detail", "passive"),
    "torch_compile_backend": ("inductor", "cudagraphs", "eager", "aot_eager", "onnxrt", "tensorrt", "tvm"),
    "torch_compile_mode": ("default", "lite", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"),
    "train_sampling_strategy": ("random", "sequential", "group_by_length", "batch_rebalance"),
}
"""Values that transformers checks only when the model is loaded, or never."""


def place_of(name: str, *, all_arguments: bool = False) -> str | None:
    """Return what to write in place of a trainer's argument that a recipe names in another section.

    With ``all_arguments``, also look at those that no setting covers, for which transformers is imported.

    >>> place_of("bf16"), place_of("learning_rate"), place_of("nothing")
    ('set precision: bf16 instead', 'set training.learning_rate instead', None)
    """
    if name in _TRAINING:
        return f"set training.{name} instead"
    if name in _OWNERS:
        return f"set {_OWNERS[name]} instead"
    if name == "seed":
        return "the recipe's seed sets it; leave this one out"
    if name in _REFUSED:
        return f"{_REFUSED[name]}; leave it out"
    is_argument = all_arguments and name in _kinds()
    return f"an argument of transformers' trainer; set trainer_args.{name} instead" if is_argument else None


def trainer_args_problems(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield each problem of ``trainer_args``, starting with its key.

    >>> list(trainer_args_problems({"group_by_lenght": 1, "learning_rate": 1e-5, "tf32": "yess"}))[1:]
    ['trainer_args.learning_rate: set training.learning_rate instead', "trainer_args.tf32: expected true or false, ..."]
    """
    for name, value in arguments.items():
        if place := place_of(name):
            yield f"trainer_args.{name}: {place}"
        elif str(name).startswith(_HUB):
            yield f"trainer_args.{name}: nothing is uploaded during training; leave it out"
        elif str(name).startswith(_GENERATION):
            yield f"trainer_args.{name}: dev sets are decoded as transcribe decodes; leave it out"
        elif name == "deepspeed":
            yield "trainer_args.deepspeed: set strategy and deepspeed instead"
        elif name not in _kinds():
            similar = similar_name(name, [*_kinds(), *_TRAINING])
            where = f"training.{similar}" if similar in _TRAINING else similar
            hint = f" (did you mean {where!r}?)" if similar else ""
            yield f"trainer_args.{name}: unknown key{hint}"
        elif (kind := _mismatch(_kinds()[name], value)) is not None:
            yield f"trainer_args.{name}: expected {kind}, not {shorten(value)}"
        elif value is not None:
            yield from (f"trainer_args.{name}: {problem}" for problem in _value_problems(name, value))


def _value_problems(name: str, value: Any) -> Iterator[str]:
    """Yield what is wrong with a value of the right type."""
    if name in _MIN_VALUES:
        yield from Range(least=_MIN_VALUES[name]).problems(value)
    elif name in _VALUES:
        yield from OneOf(*_VALUES[name]).problems(value)


@functools.cache
def _kinds() -> dict[str, Any]:
    """Return the type of each argument of transformers' trainer by its name; importing it takes some seconds."""
    from transformers import Seq2SeqTrainingArguments

    names = {field.name for field in dataclasses.fields(Seq2SeqTrainingArguments)}
    hints = typing.get_type_hints(Seq2SeqTrainingArguments)
    return {name: hint for name, hint in hints.items() if name in names}


def _mismatch(hint: Any, value: Any) -> str | None:
    """Return what an argument of type ``hint`` takes, ``None`` if ``value`` is that."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        enums = [argument for argument in arguments if isinstance(argument, type) and issubclass(argument, enum.Enum)]
        kinds = enums or arguments  # transformers takes the values of an enumeration as text, and no other text
        if value is None and type(None) in arguments:
            return None
        mismatches = [_mismatch(kind, value) for kind in kinds if kind is not type(None)]
        return None if None in mismatches else " or ".join(dict.fromkeys(text for text in mismatches if text))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        values = [str(member.value) for member in hint]
        return None if value in values else f"one of {', '.join(values)}"
    if origin is typing.Literal:
        return None if value in arguments else f"one of {', '.join(map(str, arguments))}"
    if hint is float:
        value = number_of(value)
        return None if isinstance(value, int | float) and not isinstance(value, bool) else TYPE_NAMES[float]
    kind = origin or hint
    if kind in TYPE_NAMES:
        return None if type(value) is kind else TYPE_NAMES[kind]
    return None if kind is not list or isinstance(value, list) else "a list"
