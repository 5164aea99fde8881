"""The campaign for a borrowed GPU: order, limits, what a second call skips, and cases at a tiny size on the CPU."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pages import ROOT

from benchmarks.gpu import campaign, versions
from benchmarks.gpu.cases import CASES, LEASE_S, Case
from benchmarks.gpu.record import Record
from benchmarks.gpu.setting import Setting

NAMES = ("versions", "cpu-adam", "full-in-4-gib")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs cases whose ``run`` is Python code, which may use ``record``."""

    def command(case, path, setting):
        code = f"from benchmarks.gpu.record import Record\nrecord = Record(__import__('pathlib').Path({str(path)!r}))\n"
        return [sys.executable, "-c", code + case.run]

    monkeypatch.setattr(campaign, "command", command)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(*codes, **options):
        cases = [Case(name, code, options.pop("case_s", 60)) for name, code in zip(NAMES, codes, strict=False)]
        return campaign.run_all(cases, Setting(str(tmp_path / "work"), dry=True), tmp_path, **options)

    return run


def figures_so_far(folder, name):
    return Record(folder / f"{name}.json").figures


def figures(folder, name):
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def test_the_most_valuable_cases_are_first_and_every_function_exists():
    assert [case.name for case in CASES[:3]] == list(NAMES)
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(case.limit_s for case in CASES) <= LEASE_S
    for case in CASES:
        module, _, function = case.run.partition(":")
        source = (ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8")
        assert re.search(rf"^def {function}\(\s*setting: Setting,\s*record: Record\b", source, re.MULTILINE)
        json.dumps(dict(case.options))


def test_a_failing_case_keeps_its_figures_and_its_last_lines_and_the_others_go_on(run, tmp_path):
    states = run("record.add('a', 1)", "record.add('b', 2)\nraise ValueError('no such kernel')", "record.add('c', 3)")
    assert list(states.values()) == ["done", "failed", "done"]
    failed = figures(tmp_path, NAMES[1])
    assert failed["b"] == 2 and failed["failed"].endswith("ValueError: no such kernel")
    everything = json.loads((tmp_path / campaign.ALL).read_text("utf-8"))
    assert list(everything["cases"]) == list(NAMES) and everything["device"].startswith("NO GPU")


def test_a_second_call_skips_what_is_done_or_failed(run, tmp_path):
    count = f"with open({str(tmp_path / 'count')!r}, 'a') as file: file.write('x')\n"
    run(count, f"{count}raise SystemExit('broken')")
    assert list(run(count, count).values()) == ["done", "failed"]
    assert (tmp_path / "count").read_text() == "xx"
    assert list(run(count, count, repeat=("failed",)).values()) == ["done", "done"]
    assert (tmp_path / "count").read_text() == "xxx"


def test_the_file_of_all_records_is_enough_to_resume(run, tmp_path):
    run("record.add('a', 1)")
    (tmp_path / f"{NAMES[0]}.json").unlink()
    assert run("raise SystemExit('must not run')")[NAMES[0]] == "done"
    assert json.loads((tmp_path / campaign.ALL).read_text("utf-8"))["cases"][NAMES[0]]["a"] == 1


@pytest.mark.slow
def test_a_case_that_exceeds_its_own_limit_has_failed_and_leaves_no_process(run, tmp_path):
    child = "import subprocess, time\nrecord.add('pid', subprocess.Popen(['sleep', '60']).pid)\ntime.sleep(60)"
    assert run(child, case_s=2.5)[NAMES[0]] == "failed"
    found = figures(tmp_path, NAMES[0])
    assert found["failed"] == "stopped after 10 s"
    with pytest.raises(ProcessLookupError):
        for _ in range(50):
            os.kill(found["pid"], 0)
            time.sleep(0.1)


@pytest.mark.slow
def test_a_case_that_the_whole_limit_stops_runs_again(run, tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "_MIN_DURATION_S", 1.0)
    states = run("import time\nrecord.add('a', 1)\ntime.sleep(60)", "record.add('b', 2)", limit_s=10)
    assert states == {NAMES[0]: "interrupted", NAMES[1]: "no time was left"}
    assert figures(tmp_path, NAMES[0])["a"] == 1 and not (tmp_path / f"{NAMES[1]}.json").exists()
    assert list(run("record.add('c', 3)", "record.add('b', 2)").values()) == ["done", "done"]
    assert "a" not in figures(tmp_path, NAMES[0])


def test_an_unknown_case_is_named():
    asked = [sys.executable, "-m", "benchmarks.gpu.campaign", "--only", "versions,fp9"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "no case is called fp9; there are versions, cpu-adam" in done.stderr


def start(to, name):
    asked = [sys.executable, "-m", "benchmarks.gpu.campaign", "--dry", "--to", str(to), "--only", name]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(asked, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)


def processes(folder):
    """Return the running processes whose command names a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found += [line for line in [path.read_bytes()] if str(folder).encode() in line]
    return found


@pytest.mark.slow
def test_a_case_trains_on_the_cpu_after_a_killed_campaign(tmp_path):
    killed = start(tmp_path, "lora")
    while not figures_so_far(tmp_path, "lora").get("made_on"):
        assert killed.poll() is None
        time.sleep(0.1)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    ends = time.monotonic() + 300
    while processes(tmp_path):
        assert time.monotonic() < ends, "the case goes on without its campaign"
        time.sleep(0.1)
    assert figures(tmp_path, "lora")["state"] == "running"
    done = start(tmp_path, "lora")
    assert "lora: done" in done.communicate()[0] and done.returncode == 0
    found = figures(tmp_path, "lora")
    assert found["state"] == "done" and found["batch 1"]["samples_per_s"] > 0
    assert found["batch 2"]["planned_host_gib"] > 0 and "failed" not in found


@pytest.mark.slow
def test_the_first_case_looks_at_the_machine(tmp_path):
    record = Record(tmp_path / "versions.json")
    versions.look(Setting(str(tmp_path), dry=True), record)
    assert set(record.figures["imports"].values()) >= {"imported"} and record.figures["hardware"]["cores"]
    assert all(record.figures["imports"][module] == "imported" for module in versions.NEEDED)
