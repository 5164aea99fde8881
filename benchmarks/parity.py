"""Parity of strategies: each takes the same steps as one plain process and saves the same model.

A small random Whisper is trained for twenty steps on twelve windows of synthetic audio, on the CPU, with each strategy,
fully and with a LoRA: in fp32, and in bf16 with trimmed windows. Losses, saved weights and the logits after loading
with plain transformers and PEFT are compared with those of one process in the same precision, and the weights that
ZeRO saves with its own fp32 master copies. The same runs are the test ``tests/finetuning/distributed/test_parity.py``.

    python -m benchmarks.parity
    python -m benchmarks.parity --only 'tensor|pipeline'    # these rows only; the others of the last result are kept
    python -m benchmarks.parity --precisions bf16
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import soundfile
import torch

from benchmarks import result
from benchmarks.zero_masters import master_difference, save_masters
from lsa_whisper import checkpoint, manifest
from lsa_whisper.finetuning import finetune
from lsa_whisper.finetuning.distributed.zero import can_compile
from lsa_whisper.finetuning.training.trainer import SpeechTrainer
from tests.rank_work import run_ranks
from tests.tiny_whisper import build_checkpoint, voice

STEPS, WINDOWS, BATCH = 20, 12, 4
KEYS = ("strategy", "adapter", "ranks", "precision")
PRECISIONS = {"fp32": (), "bf16": ("precision=bf16", "data.trim=true")}
"""Each precision's settings."""
ADAPTERS = {"full": (), "lora": ("adapter.rank=16",)}
TEXTS = ("&-um I want it .", "the cat [//] the dog sat on a mat .", "she said I go !")

_CUT = "deepspeed.zero_optimization.stage3_param_persistence_threshold=0"  # else so small a model stays whole
_TWO = f"training.per_device_train_batch_size={BATCH // 2}"
ZERO3 = ("strategy=zero3", _CUT)
NVME = ("offload.optimizer=nvme", "offload.parameters=nvme", "offload.nvme_path=swap")
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
_WHISPER, _PIPELINE = "WhisperForConditionalGeneration", "strategy=pipeline"
PIPELINES = {
    "pipeline, 1f1b": (_WHISPER, (_PIPELINE,)),
    "pipeline, gpipe": (_WHISPER, (_PIPELINE, "pipeline.schedule=gpipe", "pipeline.micro_batches=3")),
}
TWO_PROCESSES = {
    "ddp": ("DistributedDataParallel", ("strategy=ddp", _TWO)),
    "zero2": ("DeepSpeedEngine", ("strategy=zero2", _TWO)),
    "zero3": ("DeepSpeedEngine", (*ZERO3, _TWO)),
    "zero3, everything on nvme": ("DeepSpeedEngine", (*ZERO3, *NVME, _TWO)),
    "fsdp2": ("FSDP", ("strategy=fsdp2", _TWO)),
    "fsdp2, gradients only": ("FSDP", ("strategy=fsdp2", "fsdp.sharding_strategy=shard_grad_op", _TWO)),
    "fsdp2, read by one process": ("FSDP", ("strategy=fsdp2", "fsdp.cpu_ram_efficient_loading=true", _TWO)),
    "fsdp2, everything on cpu": ("FSDP", ("strategy=fsdp2", "offload.parameters=cpu", _TWO)),
    "tensor_parallel": (_WHISPER, ("strategy=tensor_parallel",)),
    **PIPELINES,
}
FOUR_PROCESSES = {
    **PIPELINES,
    "tensor_parallel x fsdp2": ("FSDP", ("strategy=tensor_parallel", "tensor_parallel=2", _TWO)),
}
TOGETHER = {2: TWO_PROCESSES, 4: FOUR_PROCESSES}
"""The strategies of several processes, by their number."""


def build_here(set_variable: Callable[[str, str], Any] = os.environ.__setitem__) -> None:
    """Let DeepSpeed build its parts once for this folder, whatever a killed build left locked elsewhere."""
    if "TORCH_EXTENSIONS_DIR" not in os.environ:
        set_variable("TORCH_EXTENSIONS_DIR", str(Path("build/torch_extensions").resolve()))
    set_variable("DS_ACCELERATOR", "cpu")
    set_variable("PYTHONPATH", str(Path.cwd()))


def has_nvme() -> bool:
    """Return whether DeepSpeed can build what it swaps to NVMe with."""
    from deepspeed.ops.op_builder import AsyncIOBuilder

    return can_compile() and bool(AsyncIOBuilder().is_compatible())


def prepare(folder: Path, steps: int = STEPS) -> Path:
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
        f"use_cpu: true, max_steps: {steps}, per_device_train_batch_size: {BATCH}, learning_rate: 1e-3,"
        " weight_decay: 0.1, logging_steps: 1}}",
        encoding="utf-8",
    )
    return recipe


Row = tuple[str, str, int, str]
"""Strategy, adapter, ranks and precision."""


def train(recipe: Path, row: Row, wrapped: str, settings: Sequence[str], steps: int = STEPS) -> Path:
    """Train one row and return its checkpoint, having seen that the model was really wrapped.

    Raises:
        AssertionError: If it was not: a strategy that is silently another one would agree with it in everything.
    """
    strategy, adapter, _, precision = row
    seen: list[str] = []
    save = SpeechTrainer.save_model

    def look(trainer: Any, *given: Any, **named: Any) -> None:
        model = trainer.model_wrapped
        plain = model.get_base_model() if hasattr(model, "get_base_model") else model
        seen.append(" ".join(kind.__name__ for one in (model, plain) for kind in type(one).__mro__))
        if trainer.pipeline is not None:
            assert any(not each.numel() for each in model.parameters()), strategy
        elif trainer.mesh is not None:
            divided = [each for name, each in model.named_parameters() if name.endswith("fc1.weight")]
            assert divided and all(each.to_local().numel() < each.numel() for each in divided), strategy
        save(trainer, *given, **named)
        if trainer.is_deepspeed_enabled:
            save_masters(trainer.model_wrapped.module, out)

    out = _out(recipe, row)
    swap = [setting.replace("=swap", f"={recipe.parent / 'swap'}") for setting in settings]
    SpeechTrainer.save_model = look  # type: ignore[method-assign]
    try:
        more = [
            "training.save_strategy=steps",
            f"training.save_steps={steps}",
            *ADAPTERS[adapter],
            *PRECISIONS[precision],
        ]
        finetune(recipe, set=[*swap, *more], out=out, force=True, report=lambda _: None)
    finally:
        SpeechTrainer.save_model = save  # type: ignore[method-assign]
    assert wrapped == "single" or (seen and all(wrapped in kinds for kinds in seen)), (strategy, seen)
    return out


def compare(recipe: Path, found: Path, wanted: Path, steps: int = STEPS) -> dict[str, float | None]:
    """Return how far losses, merged weights, plainly loaded logits, and weights from masters lie apart at most."""
    curves = [torch.tensor(losses(out)) for out in (found, wanted)]
    weights = [checkpoint.load(out).model.state_dict() for out in (found, wanted)]
    logits = [_logits(recipe, out) for out in (found, wanted)]
    assert len(curves[0]) == steps and weights[0].keys() == weights[1].keys()
    return {
        "max_abs_loss_difference": float((curves[0] - curves[1]).abs().max()),
        "max_abs_weight_difference": max(float((weights[0][k] - weights[1][k]).abs().max()) for k in weights[0]),
        "max_abs_logit_difference": float((logits[0] - logits[1]).abs().max()),
        "max_abs_master_difference": master_difference(found),
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


def rows(
    folder: Path,
    *,
    nvme: bool = True,
    only: str = "",
    precisions: Sequence[str] = tuple(PRECISIONS),
    steps: int = STEPS,
) -> Iterator[dict[str, Any]]:
    """Train under every strategy in ``folder``, or those whose names match ``only``, and yield one row for each."""
    recipe = prepare(folder, steps)
    wanted = {ranks: list(_chosen(names, only, nvme=nvme)) for ranks, names in TOGETHER.items()}
    outs: dict[Row, Path] = {}
    environment = dict(os.environ)
    with ThreadPoolExecutor(len(TOGETHER)) as pool:  # it only waits for the ranks
        together = [
            pool.submit(_train_together, recipe, ranks, chosen, steps, environment)
            for ranks, names in wanted.items()
            if (chosen := tuple(itertools.product(ADAPTERS, precisions, names)))
        ]
        for adapter, precision in itertools.product(ADAPTERS, precisions):
            for name in dict.fromkeys(("single", *_chosen(ONE_PROCESS, only, nvme=nvme))):
                row = name, adapter, 1, precision
                outs[row] = train(recipe, row, *ONE_PROCESS[name], steps)
        for trained in together:
            trained.result()
    for ranks, names in wanted.items():
        outs |= {row: _out(recipe, row) for row in itertools.product(names, ADAPTERS, [ranks], precisions)}
    for row, out in outs.items():
        if re.search(only, row[0]):
            found = compare(recipe, out, outs["single", row[1], 1, row[3]], steps)
            yield dict(zip(KEYS, row, strict=True)) | found


def _chosen(names: Iterable[str], only: str, *, nvme: bool) -> Iterator[str]:
    return (name for name in names if re.search(only, name) and (nvme or "nvme" not in name))


def _out(recipe: Path, row: Row) -> Path:
    return recipe.parent / "-".join(map(str, row)).replace(", ", "-").replace(" ", "-")


def _train_together(
    recipe: Path, ranks: int, chosen: Sequence[tuple[str, str, str]], steps: int, environment: Mapping[str, str]
) -> None:
    log = recipe.parent / f"{ranks}.log"
    run_ranks(_rank, ranks, recipe, ranks, chosen, steps, trainings=len(chosen), log=log, environment=environment)


def _rank(
    rank: int, port: Callable[[int], None], recipe: Path, ranks: int, chosen: Sequence[tuple[str, str, str]], steps: int
) -> None:
    for number, (adapter, precision, name) in enumerate(chosen):
        port(number)
        train(recipe, (name, adapter, ranks, precision), *TOGETHER[ranks][name], steps)


def main() -> None:
    """Write ``benchmarks/results/parity.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/parity"))
    parser.add_argument("--only", default="", help="Run the strategies whose names match this expression.")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    options = parser.parse_args()
    build_here()
    shutil.rmtree(options.out, ignore_errors=True)
    found = []
    for row in rows(options.out, nvme=has_nvme(), only=options.only, precisions=options.precisions):
        print(row, flush=True)
        found.append(row)
    before = result.last("parity") if options.only or len(options.precisions) < len(PRECISIONS) else {}
    again = [{key: row[key] for key in KEYS} for row in found]
    kept = [row for row in before.get("rows", []) if {key: row.get(key) for key in KEYS} not in again]
    packages = ("torch", "transformers", "peft", "accelerate", "deepspeed")
    note = (
        {"note": "rows that were not asked for are those of the result before, with the same versions"}
        if before
        else {}
    )
    data = f"{WINDOWS} windows of made-up sound, fp32, and bf16 with trimmed windows, CPU"
    path = result.write("parity", packages, data, steps=STEPS, **note, rows=[*kept, *found])
    written = json.loads(path.read_text("utf-8"))
    if before and before["versions"] != written["versions"]:
        path.write_text(json.dumps(before, indent=1, ensure_ascii=False) + "\n", "utf-8")
        sys.exit("the last result is of other versions; run all rows")


if __name__ == "__main__":
    main()
