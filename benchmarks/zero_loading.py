"""Host memory of loading under ZeRO-3: two ranks on a CPU against one copy of the model.

Two ranks load a model with random weights as training does, up to the point where each keeps its part. Without a GPU
these parts are in host memory, too: one copy in all. The measure is the sum over both ranks of the proportional set
size (PSS) of ``/proc/PID/smaps_rollup``, in which a page that several processes share, such as one of a mapped file,
counts once. It is sampled all the time; what each rank had in use before (Python and libraries) is subtracted.

    python -m benchmarks.zero_loading
    python -m benchmarks.zero_loading --sizes test    # seconds
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import result
from lsa_whisper.finetuning.distributed.launch import free_port

RANKS = 2
ADAPTERS: dict[str, list[str]] = {"full": [], "LoRA": ["adapter.rank=32"]}
GIB = 2**30
_PAUSE_S = 3.0
"""Time for which a rank waits before and after loading, to be measured at rest."""


def main() -> None:
    """Write ``benchmarks/results/zero_loading.json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["medium"])
    parser.add_argument("--folder", type=Path, help="For models; a temporary one when not given.")
    parser.add_argument("--rank", nargs=2, help=argparse.SUPPRESS)
    options, settings = parser.parse_known_args()
    if options.rank:
        return load(Path(options.rank[0]), Path(options.rank[1]), settings)
    rows = []
    for size in options.sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            base = made(size, Path(name))
            for adapter, more in ADAPTERS.items():
                rows.append({"size": size, "adapter": adapter} | measured(base, Path(name), more))
                print(rows[-1], flush=True)
    result.write(
        "zero_loading",
        ("torch", "transformers", "peft", "deepspeed"),
        "random weights of the published sizes, saved in fp32",
        settings=f"{RANKS} ranks on one machine, fp32, nothing offloaded; PSS summed over the ranks, less that before",
        rows=rows,
    )


def made(size: str, folder: Path) -> Path:
    """Write the model in a process of its own, and return its folder."""
    code = "import sys\nfrom pathlib import Path\nfrom benchmarks import whisper_size\n"
    code += "whisper_size.save(sys.argv[1], Path(sys.argv[2]))\n"
    subprocess.run([sys.executable, "-c", code, size, str(folder / "base")], check=True)
    return folder / "base"


def measured(base: Path, folder: Path, settings: list[str]) -> dict[str, Any]:
    """Load in two ranks and return GiB at the peak and afterwards, beyond what they had in use before."""
    place = {"WORLD_SIZE": str(RANKS), "LOCAL_WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1"}
    place |= {"MASTER_PORT": str(free_port()), "OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu"}
    command = [sys.executable, "-m", "benchmarks.zero_loading", "--rank", str(base), str(folder), *settings]
    ranks = [
        subprocess.Popen(command, env=os.environ | place | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(RANKS)
    ]
    before, during, after = [], [0], [0]
    while all(rank.poll() is None for rank in ranks):
        now = sum(pss(rank.pid) for rank in ranks)
        loaded, begun = (len(list(folder.glob(f"{state}-*"))) for state in ("loaded", "began"))
        (after if loaded == RANKS else during if begun == RANKS else before).append(now)
        time.sleep(0.01)
    assert [rank.wait() for rank in ranks] == [0] * RANKS
    copies = [float(file.read_text()) for file in folder.glob("loaded-*")]
    for file in (*folder.glob("loaded-*"), *folder.glob("began-*")):
        file.unlink()
    figures = {"one_copy_gib": copies[0], "peak_gib": (max(during) - before[-1]) / GIB}
    figures |= {"afterwards_gib": (max(after) - before[-1]) / GIB, "before_gib": before[-1] / GIB}
    share = (max(during) - before[-1]) / GIB / copies[0]
    return {name: round(value, 3) for name, value in figures.items()} | {"peak_over_one_copy": round(share, 3)}


def load(base: Path, folder: Path, settings: list[str]) -> None:
    """Load as training does, in one rank."""
    from lsa_whisper.finetuning.distributed.division import finish_distributed
    from lsa_whisper.finetuning.distributed.ranks import rank
    from lsa_whisper.finetuning.recipe import parse_recipe
    from lsa_whisper.finetuning.strategies import strategy_of
    from lsa_whisper.finetuning.training.model import prepare_for_training, starting_checkpoint
    from lsa_whisper.labels import Labels

    text = f"{{data: {{train: t}}, out: o, model: {{base: {base}}}, strategy: zero3, training: {{use_cpu: true}}}}"
    recipe = parse_recipe(text, set=settings)
    strategy_of(recipe).start(recipe)
    import peft  # noqa: F401 -- libraries are loaded before the measurement begins
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    accelerator.wait_for_everyone()
    time.sleep(_PAUSE_S)
    (folder / f"began-{rank()}").touch()
    time.sleep(_PAUSE_S)
    start = starting_checkpoint(recipe, Labels())
    model = prepare_for_training(start, recipe)
    copy = 4 * sum(weight.numel() for weight in model.parameters()) / GIB
    strategy_of(recipe).divide(model, recipe, start.unread)
    accelerator.wait_for_everyone()
    (folder / f"loaded-{rank()}").write_text(str(copy))
    time.sleep(_PAUSE_S)
    finish_distributed(accelerator)


def pss(pid: int) -> int:
    """Return the proportional set size of a process in bytes; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
