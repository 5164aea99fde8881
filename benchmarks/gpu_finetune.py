"""Memory and speed of fine-tuning on a GPU for each configuration, against the plan and against a plain loop.

Each configuration trains in its own process, so that one failure does not end the others; its figures are written as
they come. Within a configuration several batch sizes follow each other, so that the model is loaded once. Without a GPU
it runs at a tiny size on the CPU, and the result states this.

    python -m benchmarks.gpu_finetune
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import yaml

from benchmarks import result
from lsa_whisper import manifest
from lsa_whisper.finetune.memory.configuration import TrainingConfiguration, configuration_of
from lsa_whisper.finetune.memory.estimate import micro_batch_of
from lsa_whisper.finetune.memory.plan import Hardware, TrainingJob
from lsa_whisper.finetune.recipe import AdapterSettings, OffloadSettings, read_recipe

CONFIGURATIONS = {
    "single, fp32 master weights, bf16": TrainingConfiguration(),
    "single, 8-bit AdamW": TrainingConfiguration(optimizer="adamw-8bit"),
    "single, torchao AdamW on the CPU": TrainingConfiguration(optimizer="adamw-cpu"),
    "zero2, optimizer on the CPU": TrainingConfiguration("zero2", OffloadSettings("cpu")),
    "zero3, all on the CPU": TrainingConfiguration("zero3", OffloadSettings("cpu", "cpu")),
    "LoRA r32": TrainingConfiguration(adapter=AdapterSettings(rank=32)),
}
PACKED, PLAIN = "packed windows, this project's trainer", "one padded utterance a row, plain loop"
STEPS = 5
"""Of each batch size; the first is not timed."""
TOTAL_S = 540.0
CASE_S = 110.0
SLOW_CASE_S = 600.0
"""Without a GPU there is no lease that ends, and perhaps other work."""
UTTERANCES = 192
LETTERS_PER_S = 4


def main() -> None:
    """Run every configuration and both loops, and write the result after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", help="A published size; large-v3 on a GPU, a tiny one without, when not given.")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 16])
    parser.add_argument("--total", type=float, default=TOTAL_S, help="Seconds for everything, on a GPU.")
    parser.add_argument("--note", default="", help="About the machine, for the result.")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], Path(options.child[1]), options.batches)
        return
    gpu = torch.cuda.is_available()
    options.size = options.size or ("large-v3" if gpu else "test")
    options.batches = options.batches if gpu else options.batches[:2]
    cases: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        ends = time.monotonic() + options.total
        made(options.size, Path(name), max(options.batches))
        for case in (*CONFIGURATIONS, PACKED, PLAIN):
            left = min(CASE_S, ends - time.monotonic()) if gpu else SLOW_CASE_S
            cases[case] = run(case, Path(name), options, left) if left > 5 else {"failed": "no time was left"}
            print(case, json.dumps(cases[case]), flush=True)
            written(options, cases)


def written(options: argparse.Namespace, cases: dict[str, Any]) -> None:
    """Write what there is so far, and how the two loops compare when both have run."""
    speeds = [cases.get(case, {}).get("audio_s_per_s") for case in (PACKED, PLAIN)]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    result.write(
        "gpu_finetune",
        ("torch", "transformers", "peft", "deepspeed", "torchao", "accelerate"),
        f"noise; {UTTERANCES} utterances of 1 to 8 s for the two loops",
        device=device or "NO GPU: a tiny size on the CPU, which only shows that this script runs",
        model=f"{options.size}, random weights",
        settings=f"gradient checkpointing, batches of {options.batches}, {STEPS} steps each, the first not timed",
        note=options.note,
        packed_over_plain=round(speeds[0] / speeds[1], 2) if all(speeds) else None,
        cases=cases,
    )


def made(size: str, folder: Path, windows: int) -> None:
    """Write the model in a separate process, the windows and the utterances."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom benchmarks import whisper_size\n"
        "whisper_size.save(sys.argv[1], Path(sys.argv[2]) / 'base')\n"
        "whisper_size.windows(Path(sys.argv[2]) / 'windows', int(sys.argv[3]))\n"
    )
    subprocess.run([sys.executable, "-c", code, size, str(folder), str(windows)], check=True)
    utterances(folder)


def utterances(folder: Path) -> None:
    """Write manifests of the same utterances twice: one a row, and packed in order to windows of up to 30 s."""
    draw, lengths = random.Random(0), []
    while len(lengths) < UTTERANCES:
        lengths.append(round(draw.uniform(1, 8), 2))
    noise = str(folder / "windows" / "0.wav")  # any part of the noise will do
    single, packed, filled, texts = [], [], 0.0, []
    for length in lengths:
        text = "".join(draw.choices(string.ascii_lowercase, k=round(LETTERS_PER_S * length)))
        single.append(manifest.Segment(noise, 0.0, length, text))
        if filled + length > 30:
            packed.append(manifest.Segment(noise, 0.0, round(filled, 2), " ".join(texts)))
            filled, texts = 0.0, []
        filled, texts = filled + length, [*texts, text]
    packed.append(manifest.Segment(noise, 0.0, round(filled, 2), " ".join(texts)))
    manifest.write(single, folder / "single.jsonl")
    manifest.write(packed, folder / "packed.jsonl")


def run(case: str, folder: Path, options: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """Run one case in its own process and return its figures, those that came before a failure included."""
    command = [sys.executable, "-m", "benchmarks.gpu_finetune", "--child", case, str(folder)]
    command += ["--batches", *map(str, options.batches)]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment |= {} if torch.cuda.is_available() else {"DS_ACCELERATOR": "cpu"}
    figures: dict[str, Any] = {}
    lines, errors = folder / "lines.txt", folder / "errors.txt"
    began = time.monotonic()
    with lines.open("w") as out, errors.open("w") as err:
        try:
            code = subprocess.run(command, env=environment, stdout=out, stderr=err, timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            code = -1
    for line in lines.read_text().splitlines():
        if line.startswith("{"):
            figures |= json.loads(line)
    if code:
        message = errors.read_text().strip()
        print(message, file=sys.stderr)
        figures["failed"] = f"stopped after {seconds:.0f} s" if code == -1 else message[message.rfind("\n") + 1 :]
    shutil.rmtree(folder / "out", ignore_errors=True)
    return figures | {"seconds_of_the_process": round(time.monotonic() - began)}


def child(case: str, folder: Path, batches: list[int]) -> None:
    """Measure one case and print a line of JSON for everything that is known, as soon as it is."""
    if case == PLAIN:
        plain_loop(folder)
        return
    training: dict[str, Any] = {"max_steps": STEPS * len(batches), "per_device_train_batch_size": max(batches)}
    data, settings = folder / "windows" / "train.jsonl", CONFIGURATIONS.get(case, TrainingConfiguration()).settings
    if case == PACKED:
        data = folder / "packed.jsonl"
        training = {"num_train_epochs": 1, "per_device_train_batch_size": 8}
    training |= {"gradient_checkpointing": True, "learning_rate": 1e-5, "logging_steps": 1, "save_strategy": "no"}
    training |= {} if torch.cuda.is_available() else {"use_cpu": True}
    recipe = {
        "data": {"train": str(data), "cache": case != PACKED},
        "out": str(folder / "out"),
        "model": {"base": str(folder / "base")},
    }
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe | settings | {"training": training}))
    trainer(path, folder, [] if case == PACKED else batches)


def trainer(path: Path, folder: Path, batches: list[int]) -> None:
    """Train by the recipe with this project's own trainer; nothing is saved."""
    from transformers import TrainerCallback

    from lsa_whisper.finetune.distributed.strategy import init_distributed
    from lsa_whisper.finetune.training.model import prepare_for_training, starting_checkpoint
    from lsa_whisper.finetune.training.trainer import SpeechTrainer
    from lsa_whisper.labels import Labels

    recipe = read_recipe(path)
    init_distributed(recipe)
    start = starting_checkpoint(recipe, Labels())
    (folder / "out").mkdir(exist_ok=True)
    ours = SpeechTrainer(recipe, start, prepare_for_training(start, recipe), folder / "out", print)
    measure = Measure(recipe, batches)
    if batches:
        ours.data_collator = measure.cut(ours.data_collator)

    class MeasureSteps(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            measure.step_ended(state.global_step)

    ours.add_callback(MeasureSteps())
    ours.train()
    if not batches:
        measure.report_speed(ours.train_dataset.durations, 8)


class Measure:
    """Sizes of batches in turn, and what each takes."""

    def __init__(self, recipe: Any, batches: list[int]):
        """Measure a recipe's run in which every size of ``batches`` gets its steps."""
        self.recipe, self.batches = recipe, batches
        self.asked = 0
        self.ends: list[float] = []

    def cut(self, collator: Any) -> Any:
        """Return a collator that leaves as many windows in a batch as are its turn."""

        def cut(rows: list[dict[str, Any]]) -> Any:
            size = self.batches[min(self.asked // STEPS, len(self.batches) - 1)]
            self.asked += 1
            return collator(rows[:size])

        return cut

    def step_ended(self, step: int) -> None:
        """Note the time, and after the last step of a size, its figures."""
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.ends.append(time.perf_counter())
        if self.batches and step % STEPS == 0:
            size = self.batches[step // STEPS - 1]
            seconds = (self.ends[-1] - self.ends[-STEPS]) / (STEPS - 1)
            print(json.dumps({f"batch {size}": self.figures(size, seconds)}), flush=True)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()

    def figures(self, size: int, seconds: float) -> dict[str, Any]:
        """Return what a batch of ``size`` took, beside what was planned for it."""
        from lsa_whisper.finetune.memory.shape import recipe_shape

        gpu = torch.cuda.is_available()
        load = micro_batch_of(self.recipe, size, 126)
        job = TrainingJob(recipe_shape(self.recipe), Hardware(int(gpu), 1e6))
        plan = job.plan(configuration_of(self.recipe), load)
        host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        found = {
            "samples_per_s": round(size / seconds, 2),
            "audio_s_per_s": round(30 * size / seconds, 1),
            "host_gib": round(host, 2),
            "planned_host_gib": round(plan.host_gib, 2),
        }
        if not gpu:
            return found
        free, total = torch.cuda.mem_get_info()
        used = (total - free) / 2**30
        return found | {
            "gpu_gib": round(used, 2),
            "gpu_allocated_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2),
            "planned_gpu_gib": round(plan.gpu_gib, 2),
            "planned_over_measured": round(plan.gpu_gib / used, 2),
        }

    def report_speed(self, durations: Any, batch: int) -> None:
        """Print seconds of sound per second, the first step left out."""
        spoken = float(sum(durations)) * (1 - batch / len(durations))
        print(json.dumps({"audio_s_per_s": round(spoken / (self.ends[-1] - self.ends[0]), 1)}), flush=True)


def plain_loop(folder: Path, batch: int = 8) -> None:
    """Train as public examples do: every utterance padded to 30 s, transformers' own loss, AdamW; bf16 autocast."""
    from lsa_whisper import checkpoint
    from lsa_whisper.dataset import Collator, WindowDataset

    device = "cuda" if torch.cuda.is_available() else "cpu"
    start = checkpoint.load(folder / "base", device=device)
    model = start.model.train()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    model.config.use_cache = False
    data = WindowDataset(folder / "single.jsonl", start)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5, fused=device == "cuda")
    began, spoken = 0.0, 0.0
    most = len(data) if device == "cuda" else 4 * batch
    for first in range(0, most - batch + 1, batch):
        if first == batch:  # the first step is not timed
            began = time.perf_counter()
        rows = Collator(start.tokenizer.eos_token_id)([data[index] for index in range(first, first + batch)])
        given = {name: tensor.to(device) for name, tensor in rows.items()}
        with torch.autocast(device, torch.bfloat16):
            loss = model(**given).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if device == "cuda":
            torch.cuda.synchronize()
        spoken += float(sum(data.durations[first : first + batch])) if first else 0.0
    print(json.dumps({"audio_s_per_s": round(spoken / (time.perf_counter() - began), 1)}), flush=True)


if __name__ == "__main__":
    main()
