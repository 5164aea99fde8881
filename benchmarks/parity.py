"""Parity of strategies: each takes the same steps as one plain process and saves the same model.

A small random Whisper is trained for twenty steps on twelve windows of synthetic audio, in fp32 on the CPU, with each
strategy, fully and with a LoRA. Losses, saved weights and the logits after loading with plain transformers and PEFT are
compared with those of one process. The same runs are the test ``tests/finetune/distributed/test_parity.py``.

    python -m benchmarks.parity
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import soundfile
import torch

from benchmarks import result
from lsa_whisper import checkpoint, manifest
from lsa_whisper.finetune import finetune
from lsa_whisper.finetune.distributed.launch import free_port
from lsa_whisper.finetune.distributed.zero import can_compile
from lsa_whisper.finetune.training.trainer import SpeechTrainer
from tests.tiny_whisper import build_checkpoint, voice

STEPS, WINDOWS, BATCH = 20, 12, 4
ADAPTERS = {"full": (), "lora": ("adapter.rank=16",)}
TEXTS = ("&-um I want it .", "the cat [//] the dog sat on a mat .", "she said I go !")

_CUT = "deepspeed.zero_optimization.stage3_param_persistence_threshold=0"  # else so small a model stays whole
_TWO = f"training.per_device_train_batch_size={BATCH // 2}"
ZERO3 = ("strategy=zero3", _CUT)
ONE_PROCESS = {
    "single": ("single", ()),
    "accumulation": ("single", ("training.per_device_train_batch_size=1", "training.gradient_accumulation_steps=4")),
    "zero2": ("DeepSpeedEngine", ("strategy=zero2",)),
    "zero3": ("DeepSpeedEngine", ZERO3),
    "zero3, optimizer on cpu": ("DeepSpeedEngine", (*ZERO3, "offload.optimizer=cpu")),
    "zero3, everything on cpu": ("DeepSpeedEngine", (*ZERO3, "offload.optimizer=cpu", "offload.parameters=cpu")),
    "zero3, optimizer on nvme": ("DeepSpeedEngine", (*ZERO3, "offload.optimizer=nvme", "offload.nvme_path=swap")),
}
"""Each strategy's name, the class its model is wrapped in, and its recipe's settings."""
TWO_PROCESSES = {
    "ddp": ("DistributedDataParallel", ("strategy=ddp", _TWO)),
    "zero3": ("DeepSpeedEngine", (*ZERO3, _TWO)),
    "fsdp2": ("FSDP", ("strategy=fsdp2", _TWO)),
    "fsdp2, gradients only": ("FSDP", ("strategy=fsdp2", "fsdp.sharding_strategy=shard_grad_op", _TWO)),
    "fsdp2, read by one process": ("FSDP", ("strategy=fsdp2", "fsdp.cpu_ram_efficient_loading=true", _TWO)),
    "fsdp2, everything on cpu": ("FSDP", ("strategy=fsdp2", "offload.parameters=cpu", _TWO)),
}


def build_here(set_variable: Callable[[str, str], Any] = os.environ.__setitem__) -> None:
    """Let DeepSpeed build its parts once for this folder, whatever a killed build left locked elsewhere."""
    set_variable("TORCH_EXTENSIONS_DIR", str(Path("build/torch_extensions").resolve()))
    set_variable("DS_ACCELERATOR", "cpu")
    set_variable("PYTHONPATH", str(Path.cwd()))


def has_nvme() -> bool:
    """Return whether DeepSpeed can build what it swaps to NVMe with."""
    from deepspeed.ops.op_builder import AsyncIOBuilder

    return can_compile() and bool(AsyncIOBuilder().is_compatible())


def prepare(folder: Path) -> Path:
    """Write data, a base and a recipe into ``folder``; return the recipe."""
    rows = []
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(WINDOWS):
        soundfile.write(folder / f"{number}.wav", voice(1 + 0.3 * number, seed=number), 16_000)
        text = f"<|0.20|>{TEXTS[number % len(TEXTS)]}<|{0.8 + 0.02 * number:.2f}|>"
        rows.append(manifest.Segment(f"{number}.wav", 0.0, 1 + 0.3 * number, text))
    manifest.write(rows, folder / "train.jsonl")
    base = build_checkpoint(folder / "base", width=96)
    recipe = folder / "recipe.yaml"
    recipe.write_text(
        f"{{data: {{train: {folder / 'train.jsonl'}, cache: true}}, out: x, model: {{base: {base}}}, training: {{"
        f"use_cpu: true, max_steps: {STEPS}, per_device_train_batch_size: {BATCH}, learning_rate: 1e-3,"
        " weight_decay: 0.1, logging_steps: 1}}",
        encoding="utf-8",
    )
    return recipe


def train(recipe: Path, strategy: str, adapter: str, ranks: int, wrapped: str, settings: Sequence[str]) -> Path:
    """Train one row and return its checkpoint, having seen that the model was really wrapped.

    Raises:
        AssertionError: If it was not: a strategy that is silently another one would agree with it in everything.
    """
    seen: list[str] = []
    save = SpeechTrainer.save_model

    def look(trainer: Any, *given: Any, **named: Any) -> None:
        seen.append(" ".join(kind.__name__ for kind in type(trainer.model_wrapped).__mro__))
        save(trainer, *given, **named)

    out = recipe.parent / f"{strategy}-{adapter}-{ranks}".replace(", ", "-").replace(" ", "-")
    swap = [setting.replace("=swap", f"={recipe.parent / 'swap'}") for setting in settings]
    SpeechTrainer.save_model = look  # type: ignore[method-assign]
    try:
        more = ["training.save_strategy=steps", f"training.save_steps={STEPS}", *ADAPTERS[adapter]]
        finetune(recipe, set=[*swap, *more], out=out, report=lambda _: None)
    finally:
        SpeechTrainer.save_model = save  # type: ignore[method-assign]
    assert wrapped == "single" or (seen and all(wrapped in kinds for kinds in seen)), (strategy, seen)
    return out


def compare(recipe: Path, found: Path, wanted: Path) -> dict[str, float]:
    """Return how far losses, merged weights and plainly loaded logits lie apart at most."""
    curves = [torch.tensor(losses(out)) for out in (found, wanted)]
    weights = [checkpoint.load(out).model.state_dict() for out in (found, wanted)]
    logits = [_logits(recipe, out) for out in (found, wanted)]
    assert len(curves[0]) == STEPS and weights[0].keys() == weights[1].keys()
    return {
        "max_abs_loss_difference": float((curves[0] - curves[1]).abs().max()),
        "max_abs_weight_difference": max(float((weights[0][k] - weights[1][k]).abs().max()) for k in weights[0]),
        "max_abs_logit_difference": float((logits[0] - logits[1]).abs().max()),
    }


def losses(out: Path) -> list[float]:
    """Return the loss of every step of a run."""
    lines = map(json.loads, (out / "curve.jsonl").read_text("utf-8").splitlines())
    return [line["loss"] for line in lines if "loss" in line]


def _logits(recipe: Path, out: Path) -> torch.Tensor:
    """Return what the checkpoint says to a fixed input when transformers and PEFT load it without our help."""
    from peft import PeftModel
    from transformers import WhisperForConditionalGeneration

    adapted = (out / "adapter_config.json").exists()
    base = recipe.parent / "base" / "model"
    model = WhisperForConditionalGeneration.from_pretrained(base if adapted else out)
    model = PeftModel.from_pretrained(model, out) if adapted else model
    given = torch.Generator().manual_seed(0)
    features = torch.randn(1, model.config.num_mel_bins, 2 * model.config.max_source_positions, generator=given)
    with torch.no_grad():
        return model.eval()(input_features=features, decoder_input_ids=torch.tensor([[1, 2, 3]])).logits


def rows(folder: Path, *, nvme: bool = True) -> Iterator[dict[str, Any]]:
    """Train under every strategy in ``folder`` and yield one row for each."""
    recipe = prepare(folder)
    together = _two_processes(recipe)
    for adapter in ADAPTERS:
        outs = {}
        for name, (wrapped, settings) in ONE_PROCESS.items():
            if nvme or "nvme" not in name:
                outs[name, 1] = train(recipe, name, adapter, 1, wrapped, settings)
        for name in TWO_PROCESSES:
            outs[name, 2] = recipe.parent / f"{name}-{adapter}-2".replace(", ", "-").replace(" ", "-")
        assert together.wait(1800) == 0, (folder / "two.log").read_text("utf-8", "replace")[-3000:]
        for (name, ranks), out in outs.items():
            found = compare(recipe, out, outs["single", 1])
            yield {"strategy": name, "adapter": adapter, "ranks": ranks, **found}


def _two_processes(recipe: Path) -> subprocess.Popen[bytes]:
    """Start the two processes that train all rows of two together, so that Python and torch are loaded once."""
    command = [sys.executable, "-m", "benchmarks.parity", "--launch", str(recipe)]
    with (recipe.parent / "two.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _launch(recipe: Path) -> int:
    place = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "OMP_NUM_THREADS": "1"}
    ports = ",".join(str(free_port()) for _ in range(len(ADAPTERS) * len(TWO_PROCESSES)))
    command = [sys.executable, "-m", "benchmarks.parity", "--rank-of", str(recipe), "--ports", ports]
    both = [
        subprocess.Popen(command, env=os.environ | place | {"RANK": str(number), "LOCAL_RANK": str(number)})
        for number in range(2)
    ]
    try:
        return max(abs(process.wait(1800)) for process in both)
    finally:
        for process in both:
            process.kill()


def _rank(recipe: Path, ports: list[str]) -> None:
    for adapter in ADAPTERS:
        for name, (wrapped, settings) in TWO_PROCESSES.items():
            os.environ["MASTER_PORT"] = ports.pop()
            train(recipe, name, adapter, 2, wrapped, settings)


def main() -> None:
    """Write ``benchmarks/results/parity.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/parity"))
    parser.add_argument("--launch", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rank-of", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ports", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.launch:
        sys.exit(_launch(options.launch))
    if options.rank_of:
        return _rank(options.rank_of, options.ports.split(","))
    build_here()
    shutil.rmtree(options.out, ignore_errors=True)
    found = []
    for row in rows(options.out, nvme=has_nvme()):
        print(row, flush=True)
        found.append(row)
    packages = ("torch", "transformers", "peft", "accelerate", "deepspeed")
    result.write("parity", packages, f"{WINDOWS} windows of made-up sound, fp32, CPU", steps=STEPS, rows=found)


if __name__ == "__main__":
    main()
