"""The recipe of a fine-tuning run: its fields, read from YAML, every problem reported at once."""

from lsa_whisper.finetune.recipe.reading import parse_recipe, quote_override, read_recipe, with_overrides
from lsa_whisper.finetune.recipe.schema import (
    DataSettings,
    FsdpSettings,
    ModelSettings,
    OffloadSettings,
    Recipe,
    ScratchModel,
)
from lsa_whisper.finetune.recipe.sections import AdapterSettings, EvaluationSettings, LossSettings
from lsa_whisper.finetune.recipe.validation import SHARDING_STRATEGIES, STRATEGIES

__all__ = [
    "SHARDING_STRATEGIES",
    "STRATEGIES",
    "AdapterSettings",
    "DataSettings",
    "EvaluationSettings",
    "FsdpSettings",
    "LossSettings",
    "ModelSettings",
    "OffloadSettings",
    "Recipe",
    "ScratchModel",
    "parse_recipe",
    "quote_override",
    "read_recipe",
    "with_overrides",
]
