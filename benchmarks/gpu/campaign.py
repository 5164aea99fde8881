"""All measurements that need a GPU, most valuable first, in little time: for a borrowed GPU machine without network.

    python -m benchmarks.gpu.campaign --to results --limit 540
    python -m benchmarks.gpu.campaign --dry      # the same cases at a tiny size on the CPU

Each case runs in its own process with its own time limit and writes ``NAME.json`` as its figures become known; all
records together are in ``gpu.campaign.json``. Called again, finished and failed cases are skipped (``--again`` repeats
the failed ones, ``--only`` those it names), also if only ``gpu.campaign.json`` was kept.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.gpu.cases import CASES, Case, case_names
from benchmarks.gpu.record import DONE, FAILED, INTERRUPTED, RUNNING, Record
from benchmarks.gpu.setting import Setting
from lsa_whisper.system.atomic_write import write_atomic

ALL = "gpu.campaign.json"
_MIN_DURATION_S = 20.0
"""A case is not started with less time than this: it would end while it loads."""
_DRY_TIMES = 4
"""Times as long may a case take in the dry run: two busy cores compile what a GPU machine need not."""
_LAST_LINES = 12
"""Lines of a failed case's output that are kept."""


def main() -> None:
    """Run the cases that are asked for and not done."""
    options = parsed_arguments()
    if not options.dry and not has_gpu():
        raise SystemExit("there is no GPU here: add --dry to run the campaign at a tiny size on the CPU")
    to = options.to or Path("build/gpu-dry" if options.dry else "build/gpu")
    work = (options.work or to / "work").absolute()
    given = {
        name: str(path.absolute()) for name in ("processor", "model", "speech") if (path := getattr(options, name))
    }
    setting = Setting(str(work), options.dry, **given)
    asked = [case for case in CASES if not options.only or case.name in options.only]
    states = run_all(asked, setting, to, limit_s=options.limit, repeat=repeated(options), note=options.note)
    print(" ".join(f"{name}: {state};" for name, state in states.items()), f"all in {to / ALL}", flush=True)
    raise SystemExit(FAILED in states.values())


def parsed_arguments() -> argparse.Namespace:
    """Return the command line options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="Run every case at a tiny size on the CPU.")
    parser.add_argument("--only", type=lambda text: text.split(","), help=f"Of {','.join(case_names())}.")
    parser.add_argument("--to", type=Path, help="Folder for the records; build/gpu or build/gpu-dry if not given.")
    parser.add_argument("--work", type=Path, help="Folder for models and compiled extensions; TO/work if not given.")
    parser.add_argument("--limit", type=float, default=1e9, help="Seconds after which nothing runs any more.")
    parser.add_argument("--processor", type=Path, help="Folder of openai/whisper-large-v3's tokenizer and settings.")
    parser.add_argument("--model", type=Path, help="Folder of OpenAI's base, for the case accuracy.")
    parser.add_argument("--speech", type=Path, help="Folder of real recordings and transcripts, for the same case.")
    parser.add_argument("--again", action="store_true", help="Repeat failed cases, too.")
    parser.add_argument("--note", default="", help="About the machine, for the result.")
    options = parser.parse_args()
    unknown = set(options.only or ()) - set(case_names())
    if unknown:
        parser.error(f"--only: no case is called {', '.join(sorted(unknown))}; there are {', '.join(case_names())}")
    return options


def has_gpu() -> bool:
    """Return whether torch finds a GPU."""
    import torch

    return bool(torch.cuda.is_available())


def repeated(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the states of earlier records that do not keep a case from running."""
    if options.only:
        return DONE, FAILED, INTERRUPTED, RUNNING
    return (FAILED, INTERRUPTED, RUNNING) if options.again else (INTERRUPTED, RUNNING)


def run_all(
    cases: Sequence[Case],
    setting: Setting,
    to: Path,
    *,
    limit_s: float = 1e9,
    repeat: Sequence[str] = (INTERRUPTED, RUNNING),
    note: str = "",
) -> dict[str, str]:
    """Run each case that is not done and return the state of each.

    Args:
        cases: The cases, in order.
        setting: Given to each case.
        to: Folder of the records.
        limit_s: Seconds for all of them.
        repeat: States of earlier records with which a case runs again.
        note: About the machine.
    """
    ends, states = time.monotonic() + limit_s, {}
    to.mkdir(parents=True, exist_ok=True)
    setting.folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        before = earlier(to, case.name)
        left = ends - time.monotonic()
        if before and before not in repeat:
            states[case.name] = before
        elif left < min(_MIN_DURATION_S, case.limit_s):
            states[case.name] = "no time was left"
        else:
            states[case.name] = run(case, setting, to, left)
            write_all(to, setting, note)
        print(f"{case.name}: {states[case.name]}", flush=True)
    write_all(to, setting, note)
    return states


def records(to: Path) -> dict[str, dict[str, Any]]:
    """Return the records in a folder by case, those of ``gpu.campaign.json`` included."""
    kept = json.loads((to / ALL).read_text("utf-8"))["cases"] if (to / ALL).is_file() else {}
    own = {name: Record(to / f"{name}.json").figures for name in case_names() if (to / f"{name}.json").is_file()}
    return kept | own


def earlier(to: Path, name: str) -> str | None:
    """Return the state of a case's record, ``None`` if there is none."""
    path = to / f"{name}.json"
    return (Record(path).figures if path.is_file() else records(to).get(name, {})).get("state")


def run(case: Case, setting: Setting, to: Path, left_s: float) -> str:
    """Run a case in its own process, complete its record and return its state."""
    own_limit_s = case.limit_s * (_DRY_TIMES if setting.dry else 1)
    path, log, limit_s = to / f"{case.name}.json", setting.folder / f"{case.name}.log", min(own_limit_s, left_s)
    Record(path).start(state=RUNNING, dry=setting.dry)
    for lock in setting.extensions.glob("*/lock"):
        lock.unlink()  # of a case that was stopped while it compiled; this one would wait for it forever
    began = time.monotonic()
    with log.open("w") as output:
        code = wait(command(case, path, setting), environment(setting), output, limit_s)
    record = Record(path)
    record.add("seconds", round(time.monotonic() - began, 1))
    state = DONE
    if code is None:
        state = INTERRUPTED if left_s < own_limit_s else FAILED
        record.add("failed", f"stopped after {limit_s:.0f} s")
    elif code:
        state = FAILED
        lines = log.read_text("utf-8", "replace").strip().splitlines()
        record.add("failed", "\n".join(lines[-_LAST_LINES:]) or f"ended with status {code}")
    record.add("state", state)
    print(json.dumps({case.name: record.figures}), flush=True)
    return state


def command(case: Case, path: Path, setting: Setting) -> list[str]:
    """Return the command of a case's process; its record is at ``path``."""
    options = json.dumps(dict(case.options))
    return [sys.executable, "-m", "benchmarks.gpu.case", case.run, str(path), setting.to_json(), options]


def wait(arguments: list[str], environ: dict[str, str], output: Any, limit_s: float) -> int | None:
    """Run a command and return its exit status, ``None`` if it took too long; nothing it started is left running."""
    process = subprocess.Popen(arguments, env=environ, stdout=output, stderr=output, start_new_session=True)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def environment(setting: Setting) -> dict[str, str]:
    """Return the environment of a case's process."""
    found = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",  # ninja
        "TORCH_EXTENSIONS_DIR": os.environ.get("TORCH_EXTENSIONS_DIR", str(setting.extensions)),
        "HF_HUB_OFFLINE": "1",
        "DS_SKIP_CUDA_CHECK": "1",  # only CPU extensions are compiled
        "TOKENIZERS_PARALLELISM": "false",
    }
    return found | ({"DS_ACCELERATOR": "cpu", "CUDA_VISIBLE_DEVICES": ""} if setting.dry else {})


def write_all(to: Path, setting: Setting, note: str) -> None:
    """Write all records of the folder into one file, in the form of ``benchmarks/results``."""
    cases = {name: figures for name, figures in records(to).items() if name in case_names()}
    made_on = next((figures["made_on"] for figures in cases.values() if "made_on" in figures), {"versions": {}})
    about = {"command": f"python -m benchmarks.gpu.campaign {' '.join(sys.argv[1:])}".strip()} | made_on
    about["versions"] = {name: version for name, version in made_on["versions"].items() if version}
    about |= {"data": "random weights; noise, SYNTHETIC speech of corpora/storybook", "note": note}
    about |= {"dry": True, "device": "NO GPU: a tiny size on the CPU, to test the campaign"} if setting.dry else {}
    write_atomic(json.dumps(about | {"cases": cases}, indent=1, ensure_ascii=False) + "\n", to / ALL)


if __name__ == "__main__":
    main()
