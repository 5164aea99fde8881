"""Memory of fine-tuning on a CPU, measured and as ``lsa-whisper estimate-memory`` plans it.

Each case is a complete run in its own process: load, two steps, save. The measure is the process's peak resident
memory, which includes file-backed pages (the weights while they are read), as the plan does. Sizes and cases measured
in earlier calls stay in the result, each with its date and machine, also if they fail in this call.

    python -m benchmarks.memory_cpu --sizes tiny small
    python -m benchmarks.memory_cpu --sizes medium      # needs 20 GB of free memory
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from benchmarks import result

CASES: dict[str, dict[str, Any]] = {
    "AdamW fp32": {"strategy": "single"},
    "LoRA fp32": {"strategy": "single", "adapter": {"rank": 32}},
    "Adafactor pure-bf16": {"strategy": "single", "optimizer": "adafactor", "precision": "pure-bf16"},
    "LoRA pure-bf16": {"strategy": "single", "adapter": {"rank": 32}, "precision": "pure-bf16"},
    "ZeRO-3 + CPU offload bf16": {
        "strategy": "zero3",
        "offload": {"optimizer": "cpu", "parameters": "cpu"},
        "precision": "bf16",
    },
    "ZeRO-3, optimizer on NVMe, bf16": {
        "strategy": "zero3",
        "offload": {"optimizer": "nvme", "parameters": "cpu", "nvme_path": "swap"},
        "precision": "bf16",
    },
    "ZeRO-3 + CPU offload fp32": {"strategy": "zero3", "offload": {"optimizer": "cpu", "parameters": "cpu"}},
    "ZeRO-3 LoRA + CPU offload bf16": {
        "strategy": "zero3",
        "offload": {"optimizer": "cpu", "parameters": "cpu"},
        "adapter": {"rank": 32},
        "precision": "bf16",
    },
}
LETTERS = 120
TIME_LIMIT_S = 1800


def main() -> None:
    """Run every case of every size and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["tiny", "small"])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--folder", type=Path, help="For models and swap files; a temporary one when not given.")
    parser.add_argument("--note", default="", help="About the machine, for the result.")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        for size in options.sizes:
            made(size, Path(name))
            for case in options.cases:
                rows.append({"size": size, "case": case} | measured(size, case, Path(name)))
                print(rows[-1], flush=True)
                written(rows, options.note)
            shutil.rmtree(Path(name) / size)


def written(rows: list[dict[str, Any]], note: str) -> None:
    """Write the result so far; a later case may end the machine's patience."""
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for row in (*result.last("memory_cpu").get("rows", []), *rows):
        key = row["size"], row["case"]
        if "failed" not in row or "measured_gib" not in known.get(key, {}):
            known[key] = row
    result.write(
        "memory_cpu",
        ("torch", "transformers", "peft", "deepspeed"),
        f"noise, windows of 30 s, labels of about {LETTERS} tokens",
        model="random weights of the published sizes",
        settings="one window per step, gradient checkpointing, two steps, one process",
        note=note,
        rows=list(known.values()),
    )


def made(size: str, folder: Path) -> None:
    """Write model and windows in a process of their own, so that their memory is not this one's."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom benchmarks import whisper_size\n"
        "size, folder, letters = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])\n"
        "whisper_size.save(size, folder / size / 'base')\n"
        "whisper_size.windows(folder / size / 'data', 2, letters=letters)\n"
    )
    subprocess.run([sys.executable, "-c", code, size, str(folder), str(LETTERS)], check=True)


def measured(size: str, case: str, folder: Path) -> dict[str, Any]:
    """Run one case and return its planned and measured peak in GiB."""
    from lsa_whisper.finetuning.memory import Hardware, estimate_run
    from lsa_whisper.finetuning.recipe import read_recipe

    place = folder / size
    swap = place / "swap"
    swap.mkdir(exist_ok=True)
    recipe = write_recipe(CASES[case], place, swap)
    plan = estimate_run(read_recipe(recipe), Hardware(gpus=0), label_tokens=LETTERS + 6)
    began = time.monotonic()
    peak_kib, anonymous_kib, failed = watch([sys.executable, "-m", "lsa_whisper", "finetune", str(recipe), "--force"])
    seconds = time.monotonic() - began
    shutil.rmtree(place / "out", ignore_errors=True)
    shutil.rmtree(swap)
    figures: dict[str, Any] = {"date": date.today().isoformat(), "machine": result.machine()}
    figures |= {"planned_gib": round(plan.host_gib, 2)}
    figures |= {"seconds_of_the_run": round(seconds)}
    if failed:
        return figures | {"failed": failed}
    measured_gib = peak_kib / 2**20
    return figures | {
        "measured_gib": round(measured_gib, 2),
        "measured_without_file_pages_gib": round(anonymous_kib / 2**20, 2),
        "planned_over_measured": round(plan.host_gib / measured_gib, 2),
    }


def write_recipe(case: dict[str, Any], place: Path, swap: Path) -> Path:
    """Write the recipe of a case and return its path."""
    training = {"use_cpu": True, "max_steps": 2, "per_device_train_batch_size": 1, "gradient_checkpointing": True}
    training["save_strategy"] = "no"
    recipe = {
        "data": {"train": str(place / "data" / "train.jsonl")},
        "out": str(place / "out"),
        "model": {"base": str(place / "base")},
        **case,
        "training": training,
    }
    if case.get("offload", {}).get("nvme_path"):
        recipe["offload"] = case["offload"] | {"nvme_path": str(swap)}
    path = place / "recipe.yaml"
    path.write_text(yaml.safe_dump(recipe))
    return path


def watch(command: list[str]) -> tuple[int, int, str]:
    """Run ``command``; return its peaks of resident and anonymous memory in KiB, and its last words if it failed."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": programs, "DS_ACCELERATOR": "cpu"}
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        peak = anonymous = 0
        began = time.monotonic()
        while process.poll() is None:
            sizes = memory_of(process.pid)
            peak, anonymous = max(peak, sizes.get("VmHWM", 0)), max(anonymous, sizes.get("RssAnon", 0))
            if time.monotonic() - began > TIME_LIMIT_S:
                process.kill()
            time.sleep(0.05)
        log.seek(0)
        return peak, anonymous, log.read()[-2000:] if process.returncode else ""


def memory_of(pid: int) -> dict[str, int]:
    """Return the kernel's figures of a process in KiB; none once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    fields = (line.split() for line in lines if line.startswith(("VmHWM", "RssAnon")))
    return {words[0].rstrip(":"): int(words[1]) for words in fields}


if __name__ == "__main__":
    main()
