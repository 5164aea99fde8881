"""The recipe of a fine-tuning run: its fields, read from YAML, every problem reported at once."""

from lsa_whisper.finetuning.recipe.reading import (
    list_problems,
    parse_recipe,
    quote_override,
    read_recipe,
    verify_overrides,
    with_overrides,
)
from lsa_whisper.finetuning.recipe.schema import Recipe
from lsa_whisper.finetuning.settings.run import (
    CorpusSettings,
    DataSettings,
    FsdpSettings,
    ModelSettings,
    OffloadSettings,
    PipelineSettings,
    ScratchModel,
)
from lsa_whisper.finetuning.settings.sections import AdapterSettings, EvaluationSettings, LossSettings, TrainingSettings

__all__ = [
    "AdapterSettings",
    "CorpusSettings",
    "DataSettings",
    "EvaluationSettings",
    "FsdpSettings",
    "LossSettings",
    "ModelSettings",
    "OffloadSettings",
    "PipelineSettings",
    "Recipe",
    "ScratchModel",
    "TrainingSettings",
    "list_problems",
    "parse_recipe",
    "quote_override",
    "read_recipe",
    "verify_overrides",
    "with_overrides",
]
