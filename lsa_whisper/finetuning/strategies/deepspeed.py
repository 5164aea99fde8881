"""What ZeRO-2 and ZeRO-3 have in common: DeepSpeed trains, and can offload to the CPU and to NVMe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lsa_whisper.errors import RecipeError
from lsa_whisper.finetuning.settings.run import RunSettings
from lsa_whisper.finetuning.strategies.base import GpuLoad, Strategy
from lsa_whisper.system import machine

if TYPE_CHECKING:
    from lsa_whisper.system.machine import Finding

OPTIMIZER_OFFLOADS = (("optimizer", "cpu"), ("optimizer", "nvme"))
BUCKET, SWAPPED_BUCKET = 5e8, 5e7
"""Elements in DeepSpeed's bucket for gradient reduction; smaller if anything is on NVMe."""
LIVE = 1e9
"""Elements that ZeRO-3 keeps gathered at once; with parameters on NVMe, only those in use."""


class DeepSpeed(Strategy):
    """A stage of ZeRO (Rajbhandari et al. 2020). Weights, gradients and moments are in fp32, autocast computes."""

    stage: ClassVar[int]
    """DeepSpeed's number of it."""
    own_settings = ("deepspeed",)
    shards_optimizer = uses_deepspeed = True

    def check_requirements(self, recipe: RunSettings) -> None:
        """Raise if DeepSpeed is missing, or rejects the recipe's ``deepspeed`` entries."""
        from lsa_whisper.finetuning.distributed import zero

        if "nvme" in (recipe.offload.optimizer, recipe.offload.parameters):
            writing = next(machine.disk(Path(str(recipe.offload.nvme_path))))
            if writing.state == "problem":
                raise RecipeError(f"offload.nvme_path: {writing.fact}; {writing.remedy}")
        zero.require_deepspeed(recipe)
        if recipe.deepspeed:
            zero.check_entries(recipe.deepspeed, self._settings(recipe))

    def machine_findings(self, recipe: RunSettings, swap_gib: float | None) -> Iterator[Finding]:
        """Yield the state of the programs that compile its extensions, and of the disk that it swaps to."""
        yield from machine.stale_locks(machine.extension_caches()[:1])  # the cache this run compiles into
        yield from machine.programs()
        if "nvme" not in (recipe.offload.optimizer, recipe.offload.parameters):
            return
        yield from machine.libaio(needed=True)
        folder = Path(str(recipe.offload.nvme_path))
        with contextlib.suppress(OSError):  # the disk check reports why
            folder.mkdir(parents=True, exist_ok=True)
        yield from machine.disk(folder, name="swap folder", needed_gib=swap_gib)

    def start(self, recipe: RunSettings) -> None:
        """Initialize DeepSpeed's process group, also for a process alone."""
        from lsa_whisper.finetuning.distributed import zero

        zero.init_process_group()

    def computes_in(self, recipe: RunSettings) -> str | None:
        """Return the type that DeepSpeed's engine computes in; the trainer takes its weights for plain fp32."""
        from lsa_whisper.finetuning.distributed import zero

        return zero.AUTOCAST.get(recipe.precision)

    def trainer_arguments(self, recipe: RunSettings) -> dict[str, Any]:
        """Return DeepSpeed's configuration."""
        return {"deepspeed": self._settings(recipe), "bf16": False, "fp16": False}

    def _settings(self, recipe: RunSettings) -> dict[str, Any]:
        from lsa_whisper.finetuning.distributed import zero

        return zero.deepspeed_config(self.stage, recipe.offload, recipe.deepspeed, recipe.precision)

    def optimizer_class(self, recipe: RunSettings, arguments: Any) -> tuple[Any, dict[str, Any]] | None:
        """Return DeepSpeed's Adam for the CPU if the optimizer is offloaded and it can be compiled."""
        from lsa_whisper.finetuning.distributed import zero

        return zero.cpu_adam(recipe, arguments)

    def buffers(self, load: GpuLoad) -> tuple[int, int, int]:
        """Return the bucket and gathered weights, and autocast's copies of weights that are whole."""
        counts, ranks, offload = load.counts, load.ranks, load.configuration.offload
        width = load.configuration.computed_bytes
        gathers = self.shards_weights and (ranks > 1 or offload.parameters != "none")
        swaps = "nvme" in (offload.optimizer, offload.parameters)
        in_use = 2 * max(counts.shape.largest_layer, counts.shape.largest_weight)
        live = in_use if offload.parameters == "nvme" else LIVE
        bucket = min(SWAPPED_BUCKET if swaps else BUCKET, counts.trained)
        always = width * (bucket + (min(live, counts.total) if gathers else 0))
        casts = 0 if self.shards_weights else super().buffers(load)[1]
        return round(always), casts, 0
