"""The cases of the campaign, most valuable first: what each runs, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lsa_whisper.finetuning.memory.configuration import TrainingConfiguration
from lsa_whisper.finetuning.recipe import AdapterSettings, OffloadSettings

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
    return Case(name, _TRAIN, limit_s, {"settings": configuration.settings} | options)


_OFFLOADED = TrainingConfiguration("zero3", _ALL_ON_CPU)
_SMALL_BUCKETS = {
    "zero_optimization": {
        "reduce_bucket_size": 50_000_000,
        "stage3_prefetch_bucket_size": 50_000_000,
        "stage3_max_live_parameters": 200_000_000,
        "stage3_max_reuse_distance": 200_000_000,
    }
}
"""Less is gathered ahead and kept; the plan does not know of these."""
_LORA, _QLORA = AdapterSettings(rank=32), AdapterSettings(rank=32, quantize="4bit")
CASES = (
    Case("versions", "benchmarks.gpu.versions:look", 120),
    Case("cpu-adam", "benchmarks.gpu.cpu_adam:build", 300),
    _trained("full-in-4-gib", 240, _OFFLOADED, batches=[1, 2], cap_gib=4.0),
    Case(
        "full-in-4-gib-small-buckets",
        _TRAIN,
        150,
        {"settings": _OFFLOADED.settings | {"deepspeed": _SMALL_BUCKETS}, "batches": [1, 4], "cap_gib": 4.0},
    ),
    Case("packed", "benchmarks.gpu.loops:packed", 120),
    Case("plain", "benchmarks.gpu.loops:plain", 120),
    _trained("lora", 90, TrainingConfiguration(adapter=_LORA)),
    _trained("qlora", 120, TrainingConfiguration(adapter=_QLORA), on_cpu=TrainingConfiguration(adapter=_LORA).settings),
    _trained("zero2-offload", 120, TrainingConfiguration("zero2", _CPU)),
    _trained("single", 90, TrainingConfiguration()),
    _trained("adamw-8bit", 90, TrainingConfiguration(optimizer="adamw-8bit"), on_cpu=TrainingConfiguration().settings),
    _trained("adamw-cpu", 90, TrainingConfiguration(optimizer="adamw-cpu"), on_cpu=TrainingConfiguration().settings),
    Case("fp8", _TRAIN, 120, {"settings": {"precision": "fp8"}, "on_cpu": TrainingConfiguration().settings}),
    Case("transcribe-turbo", "benchmarks.gpu.transcription:transcribe", 240, {"size": "turbo"}),
    Case("transcribe-large-v3", "benchmarks.gpu.transcription:transcribe", 360, {"size": "large-v3"}),
    Case("curve-nano", "benchmarks.gpu.learning_curves:nano", 180),
    Case("curve-trained-model", "benchmarks.gpu.learning_curves:trained_model", 240),
)


def case_names() -> list[str]:
    """Return the names of all cases, in the order in which they run."""
    return [case.name for case in CASES]
