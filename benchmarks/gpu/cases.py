"""The cases of the campaign, most valuable first: what each runs, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.finetuning.memory.configuration import recipe_keys
from lsa_whisper.finetuning.recipe import AdapterSettings, OffloadSettings
from lsa_whisper.finetuning.workload.configuration import TrainingConfiguration

_CPU, _ALL_ON_CPU = OffloadSettings("cpu"), OffloadSettings("cpu", "cpu")
_TRAIN = "benchmarks.gpu.training:fine_tune"


@dataclass(frozen=True)
class Case:
    """One case, which runs in its own process.

    Attributes:
        name: Name of its record, ``NAME.json``.
        run: ``module:function``, called with the setting, the record and ``options``.
        limit_s: Seconds after which it is stopped.
        options: Keyword arguments of the function, as JSON has them.
    """

    name: str
    run: str
    limit_s: float
    options: Mapping[str, Any] = field(default_factory=dict)


def _trained(name: str, limit_s: float, configuration: TrainingConfiguration, **options: Any) -> Case:
    return Case(name, _TRAIN, limit_s, {"settings": recipe_keys(configuration)} | options)


_OFFLOADED = TrainingConfiguration("zero3", _ALL_ON_CPU)
_LORA, _QLORA = AdapterSettings(rank=32), AdapterSettings(rank=32, quantize="4bit")
_LOW = TrainingConfiguration(precision="pure-bf16", optimizer="adafactor")
LEASE_S = 1800
"""A borrowed machine is there for half an hour; the cases together take no longer."""
CASES = (
    Case("versions", "benchmarks.gpu.versions:look", 60),
    Case("cpu-adam", "benchmarks.gpu.cpu_adam:build", 120),
    _trained("full-in-4-gib", 180, _OFFLOADED, batches=[1, 2], cap_gib=4.0),
    _trained("low-memory", 120, _LOW, batches=[4, 8]),
    Case("accuracy", "benchmarks.gpu.accuracy:real_people", 260),
    Case("packed", "benchmarks.gpu.loops:packed", 80),
    Case("plain", "benchmarks.gpu.loops:plain", 80),
    _trained("lora", 60, TrainingConfiguration(adapter=_LORA)),
    _trained(
        "fp16", 60, TrainingConfiguration(precision="fp16"), on_cpu=recipe_keys(TrainingConfiguration(precision="fp32"))
    ),
    _trained("zero2-offload", 90, TrainingConfiguration("zero2", _CPU)),
    _trained("single", 60, TrainingConfiguration()),
    Case("transcribe-turbo", "benchmarks.gpu.transcription:transcribe", 160, {"size": "turbo"}),
    Case("transcribe-large-v3", "benchmarks.gpu.transcription:transcribe", 190, {"size": "large-v3"}),
    _trained(
        "qlora", 70, TrainingConfiguration(adapter=_QLORA), on_cpu=recipe_keys(TrainingConfiguration(adapter=_LORA))
    ),
    _trained(
        "adamw-8bit", 60, TrainingConfiguration(optimizer="adamw-8bit"), on_cpu=recipe_keys(TrainingConfiguration())
    ),
    Case("fp8", _TRAIN, 70, {"settings": {"precision": "fp8"}, "on_cpu": recipe_keys(TrainingConfiguration())}),
    Case("curve-nano", "benchmarks.gpu.learning_curves:nano", 80),
)


def case_names() -> list[str]:
    """Return the names of all cases, in the order in which they run."""
    return [case.name for case in CASES]
