"""How far training in ``pure-bf16`` moves the weights, compared with the same steps in fp32.

Both runs take the same windows in the same order; the seeds differ in the rounding alone. The distance is measured
along the way of the fp32 run: 1 is as far. One run rounds to the nearest, as bf16 weights are usually trained.

    python -m benchmarks.stochastic_rounding
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from unittest import mock

import torch
from safetensors.torch import load_file

from benchmarks import result
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.recipe import quote_override
from lsa_whisper.finetuning.training import arguments as optimizers
from lsa_whisper.preparation import prepare

CORPUS, BASE = Path("corpora/storybook"), Path("models/nano")
RECIPE = """
data: {train: t}
out: o
model: {base: models/nano}
optimizer: adafactor
training: {use_cpu: true, max_steps: 40, per_device_train_batch_size: 4, learning_rate: 1e-5, logging_steps: 1,
           max_grad_norm: 0}
"""


def main() -> None:
    """Train with every seed and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare([CORPUS], folder / "data", context_s=6)
        (folder / "r.yaml").write_text(RECIPE)
        start = _weights(BASE)
        whole = _trained(folder, "fp32", "fp32") - start
        nearest = mock.patch.object(optimizers, "round_stochastically", lambda values: values.bfloat16())
        with nearest:
            rounded = _share(_trained(folder, "nearest", "pure-bf16") - start.bfloat16(), whole)
        shares, ends = [], []
        for seed in range(options.seeds):
            with mock.patch.object(optimizers, "round_stochastically", _seeded(seed)):
                ends.append(_trained(folder, f"seed-{seed}", "pure-bf16"))
            shares.append(_share(ends[-1] - start.bfloat16(), whole))
            print(seed, shares[-1], flush=True)
        mean = torch.stack(ends).mean(0) - start.bfloat16()
    result.write(
        "stochastic_rounding",
        ("torch", "transformers"),
        f"{CORPUS}, 40 steps of {BASE} by Adafactor at 1e-5; SYNTHETIC speech",
        seeds=options.seeds,
        distance_rounded_to_nearest=rounded,
        distance={"mean": statistics.mean(shares), "least": min(shares), "most": max(shares)},
        distance_of_mean=_share(mean, whole),
        off_the_way=float((mean - whole).norm() / whole.norm()),
    )


def _seeded(seed: int) -> object:
    generator, rounds = torch.Generator().manual_seed(seed), optimizers.round_stochastically

    def rounded(values: torch.Tensor) -> torch.Tensor:
        with torch.random.fork_rng():
            torch.manual_seed(int(torch.randint(2**31, (), generator=generator)))
            return rounds(values)

    return rounded


def _trained(folder: Path, name: str, precision: str) -> torch.Tensor:
    settings = {"data.train": quote_override(folder / "data" / "train.jsonl"), "precision": precision}
    overrides = [f"{key}={value}" for key, value in settings.items()]
    return _weights(finetune(folder / "r.yaml", set=overrides, out=folder / name, report=lambda _: None).out)


def _weights(model: Path) -> torch.Tensor:
    tensors = load_file(model / "model.safetensors")
    return torch.cat([tensors[name].float().flatten() for name in sorted(tensors) if "encoder.embed_pos" not in name])


def _share(moved: torch.Tensor, whole: torch.Tensor) -> float:
    return float(moved @ whole / (whole @ whole))


if __name__ == "__main__":
    main()
