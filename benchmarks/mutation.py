"""Mutation testing of the code that reads CHAT marks and scores them: the share of mutants the tests detect, by file.

mutmut changes one thing at a time in the files that pyproject.toml names (``>`` to ``>=``, ``1`` to ``2``, an argument
to ``None``) and runs the tests that cover it. A mutant is detected if a test fails or does not end. Survivors are
listed by ``mutmut results`` and shown by ``mutmut show NAME``. Some survivors are equivalent: a number format that
numpy would choose itself, or a cost that is the same for every alignment of two files.

Results are kept in mutants/: an interrupted run resumes. A full run takes about ten minutes on two cores; a sample
consists of the mutants whose number within their function ends in certain digits, so every function is covered. Each
mutant is tested in a new process, because cached values would hide it.

    python -m benchmarks.mutation
    python -m benchmarks.mutation --digits 1 6
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import result

try:
    import resource
except ImportError:  # Windows, where mutmut does not run either
    resource = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parents[1]
MIN_PERCENT = 85.0
_MAX_BYTES = 6 << 30  # an endless loop may fill the memory before it times out
_NOTICED = {1, 3, 24, -24, 36, 152, 255}  # mutmut's codes: a test failed, pytest crashed, timeout
_NO_TEST = {5, 33}


def main() -> None:
    """Run mutmut, write the result, and fail below :data:`MIN_PERCENT` in any file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--digits", nargs="+", choices="0123456789", default=[], help="A sample, by last digits.")
    options = parser.parse_args()
    chosen = [f"*_mutmut_*{digit}" for digit in options.digits]
    with (ROOT / "pyproject.toml").open("rb") as settings:
        mutated: list[str] = tomllib.load(settings)["tool"]["mutmut"]["only_mutate"]
    if resource:
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
    _require_names()
    mutmut = Path(sys.executable).with_name("mutmut")
    subprocess.run([mutmut, "run", "--max-children", str(options.processes), *chosen], cwd=ROOT, check=True)
    files = {path: noticed(ROOT / "mutants" / f"{path}.meta") for path in mutated}
    unfinished = [path for path in mutated if files[path]["not_tried"]]
    result.write(
        "mutation",
        ("mutmut", "pytest", "hypothesis", "numpy", "rapidfuzz"),
        f"{len(mutated)} files, one change at a time, {sum(each['changes'] for each in files.values())} changes",
        least_percent=MIN_PERCENT,
        files=files,
    )
    if unfinished and not chosen:
        sys.exit(f"{', '.join(unfinished)}: not complete; run it again to resume")
    low = [path for path, each in files.items() if each["noticed_percent"] < MIN_PERCENT]
    if low:
        sys.exit(f"{', '.join(low)}: the tests notice less than {MIN_PERCENT} % of the changes; see mutmut results")


def _require_names() -> None:
    """Fail when mutmut cannot call a test by its name: every change that this test sees would count as noticed.

    pytest escapes signs beyond ASCII in names and, when it runs a second time in one process, does not know them again.
    """
    with (ROOT / "pyproject.toml").open("rb") as settings:
        chosen: list[str] = tomllib.load(settings)["tool"]["mutmut"]["pytest_add_cli_args_test_selection"]
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
    found = subprocess.run([*collect, *chosen], cwd=ROOT, check=True, capture_output=True, text=True)
    names = [line for line in found.stdout.splitlines() if "::" in line]
    if unlike := [name for name in names if "\\" in name]:
        sys.exit(f"{unlike[0]} and others cannot be called by name; give their parameters plain ids")


def noticed(kept: Path) -> dict[str, Any]:
    """Return the figures of one file, from what mutmut keeps of it; the percentage is of those tried."""
    codes: list[int | None] = list(json.loads(kept.read_text("utf-8"))["exit_code_by_key"].values())
    found = Counter(_verdict(code) for code in codes)
    tried = len(codes) - found["not_tried"]
    return {
        "changes": len(codes),
        **{name: found[name] for name in ("noticed", "unnoticed", "no_test", "not_tried")},
        "noticed_percent": round(100 * found["noticed"] / max(tried, 1), 1),
    }


def _verdict(code: int | None) -> str:
    if code is None:
        return "not_tried"
    return "noticed" if code in _NOTICED else "no_test" if code in _NO_TEST else "unnoticed"


if __name__ == "__main__":
    main()
