"""The recipe of a fine-tuning run: its fields, read from YAML, every problem reported at once."""

from lsa_whisper.finetune.recipe.reading import changed, parse, quoted, read
from lsa_whisper.finetune.recipe.schema import Data, Fsdp, Model, Offload, Recipe, Scratch
from lsa_whisper.finetune.recipe.sections import Adapter, Evaluation, Loss
from lsa_whisper.finetune.recipe.validation import SHARDS, STRATEGIES

__all__ = [
    "SHARDS",
    "STRATEGIES",
    "Adapter",
    "Data",
    "Evaluation",
    "Fsdp",
    "Loss",
    "Model",
    "Offload",
    "Recipe",
    "Scratch",
    "changed",
    "parse",
    "quoted",
    "read",
]
