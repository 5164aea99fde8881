"""Whether DeepSpeed accepts the entries of a recipe's ``deepspeed``, seen before any weights are loaded."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

from lsa_whisper.errors import RecipeError

_AUTO = {"gradient_clipping": 1.0, "gradient_accumulation_steps": 1, "train_micro_batch_size_per_gpu": 1}
"""In place of what transformers fills in."""


def check_entries(entries: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Let DeepSpeed parse the configuration, and return if it can.

    Args:
        entries: The recipe's ``deepspeed``.
        settings: The whole configuration, of which they are a part.

    Raises:
        RecipeError: With what DeepSpeed says of a wrong entry, or what the machine lacks.
    """
    from deepspeed.runtime.config import DeepSpeedConfig, DtypeEnum
    from deepspeed.runtime.zero.config import DeepSpeedZeroConfig
    from pydantic import ValidationError

    zero = settings["zero_optimization"]
    if not isinstance(zero, Mapping):
        raise RecipeError(f"deepspeed.zero_optimization: expected a mapping of keys, not {zero!r}")
    numbers = {name: value for name, value in settings.items() if value != "auto"} | _AUTO
    try:
        DeepSpeedZeroConfig(**zero)
        DeepSpeedConfig(numbers)
        DtypeEnum(settings.get("data_types", {}).get("grad_accum_dtype", "fp32"))
    except ValidationError as error:
        first = "zero_optimization" if error.title == DeepSpeedZeroConfig.__name__ else ""
        said = (".".join(map(str, (first, *each["loc"]))).strip(".") + f": {each['msg']}" for each in error.errors())
        raise RecipeError(f"deepspeed.{', deepspeed.'.join(said)}") from None
    except Exception as error:  # each section raises what its parser happens to raise
        reason = " ".join(str(error).split()).partition(". See http")[0] or type(error).__name__
        raise RecipeError(f"deepspeed: DeepSpeed refuses {', '.join(entries)} ({reason}); correct the entry") from None
    _check_machine(entries)


def _check_machine(entries: Mapping[str, Any]) -> None:
    """Raise if an entry needs a package or a GPU that is not here."""
    import torch

    wandb = entries.get("wandb")
    if isinstance(wandb, Mapping) and wandb.get("enabled") and importlib.util.find_spec("wandb") is None:
        raise RecipeError("deepspeed.wandb: needs the package wandb, which is not installed; leave it out")
    quantized = [name for name, value in entries.get("zero_optimization", {}).items() if "quantized" in name and value]
    if quantized and not torch.cuda.is_available():
        raise RecipeError(f"deepspeed.zero_optimization.{quantized[0]}: needs a GPU, but this machine has none")
