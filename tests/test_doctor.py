from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from packaging.specifiers import SpecifierSet

from lsa_whisper import doctor as room
from lsa_whisper.doctor import Diagnosis, doctor
from lsa_whisper.finetuning.distributed.zero import can_compile
from lsa_whisper.system import machine
from lsa_whisper.system.machine import Finding, stale_locks
from lsa_whisper.system.shipped import NANO, shipped


def test_a_working_machine_has_no_problem_with_its_packages(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    diagnosis = doctor(folder=tmp_path)
    states = {row.name: row.state for row in diagnosis.rows}
    assert states["torch"] == states["python"] == states["writing"] == "ok"
    assert diagnosis.exit_code == 0
    assert all(row.remedy for row in diagnosis.rows if row.state != "ok")
    assert not list(tmp_path.iterdir())


def test_an_old_lock_is_a_problem_and_a_fresh_one_is_not(tmp_path):
    old = tmp_path / "py311_cpu" / "cpu_adam" / "lock"
    old.parent.mkdir(parents=True)
    old.touch()
    assert [row.state for row in stale_locks([tmp_path])] == ["warn"]
    os.utime(old, (time.time() - 7200,) * 2)
    (row,) = stale_locks([tmp_path, tmp_path / "absent"])
    assert row.state == "problem" and str(old) in row.remedy
    assert Diagnosis((row,)).exit_code == 1


def test_a_missing_package_is_a_problem_and_a_missing_extra_is_not(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "_version", lambda name: None if name in ("peft", "ctranslate2") else "1.0")
    rows = {row.name: row for row in doctor(folder=tmp_path).rows}
    assert rows["peft"].state == "problem" and "pip install 'peft" in rows["peft"].remedy
    assert rows["ctranslate2"].state == "warn" and "lsa-whisper[ct2]" in rows["ctranslate2"].remedy


def test_missing_programs_say_what_they_are_for(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine.sys, "executable", str(tmp_path / "python"))
    rows = {row.name: row for row in machine.programs()}
    assert rows["compiler"].state == rows["ninja"].state == "warn"
    ninja = tmp_path / "bin" / "ninja"
    ninja.parent.mkdir()
    ninja.write_text("#!/bin/sh\n")
    ninja.chmod(0o755)
    monkeypatch.setattr(machine.sys, "executable", str(ninja.with_name("python")))
    assert {row.name: row for row in machine.programs()}["ninja"].fact == str(ninja)  # finetune finds it there, too


def test_the_compiler_is_the_one_that_torch_would_call(monkeypatch, tmp_path):
    for name in ("c++", "of-mine"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(machine.sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert machine.compiler() == str(tmp_path / "c++") and not can_compile()  # ninja lacks
    monkeypatch.setenv("CXX", "of-mine -m64")
    assert machine.compiler() == str(tmp_path / "of-mine")
    (tmp_path / "of-mine").unlink()
    assert machine.compiler() is None


def test_files_that_were_read_lately_are_not_counted_as_used_memory(tmp_path):
    assert machine._left_to_group(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("900\n")
    assert machine._left_to_group(tmp_path) == 100
    (tmp_path / "memory.stat").write_text("anon 300\ninactive_file 500\nactive_file 100\n")
    assert machine._left_to_group(tmp_path) == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert machine._left_to_group(tmp_path) is None


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path):
    (tmp_path / "file").touch()
    (row,) = machine.disk(tmp_path / "file")
    assert row.state == "problem"
    absent = next(machine.disk(tmp_path / "not" / "yet"))
    assert absent.state == "ok" and not (tmp_path / "not").exists()
    assert "does not exist" in absent.fact and absent.remedy and not next(machine.disk(tmp_path)).remedy
    if os.getuid() == 0:
        pytest.skip("the superuser may write anywhere")
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert next(machine.disk(tmp_path)).state == "problem"


def test_the_table_has_every_row_and_every_remedy():
    table = Diagnosis((Finding("ninja", "warn", "not found", "install it"), Finding("python", "ok", "3.11"))).table()
    assert table.splitlines() == [
        "warn     ninja   not found",
        "                 -> install it",
        "ok       python  3.11",
    ]


def test_nvidias_driver_and_torch_must_belong_together(tmp_path, monkeypatch):
    said = tmp_path / "version"
    assert machine.nvidia_driver(said) is None
    said.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build\n")
    driver = machine.nvidia_driver(said)
    assert driver == "550.54.15"
    cpu = SimpleNamespace(__version__="2.13.0+cpu", version=SimpleNamespace(cuda=None), get_num_threads=lambda: 2)
    cuda = SimpleNamespace(__version__="2.13.0", version=SimpleNamespace(cuda="13.0"), get_num_threads=lambda: 2)
    assert room._no_gpu(cpu, None).state == room._no_gpu(cuda, None).state == "warn"
    for torch, word in ((cpu, "without CUDA"), (cuda, "CUDA 13.0")):
        row = room._no_gpu(torch, driver)
        assert row.state == "problem" and word in row.fact and driver in row.fact and row.remedy


def test_a_package_of_the_wrong_version_is_a_problem(monkeypatch):
    wanted = {"soxr": SpecifierSet(">=999"), "numpy": SpecifierSet(">=1"), "absent-package": SpecifierSet("")}
    monkeypatch.setattr(room, "_requirements", lambda: wanted)
    rows = {row.name: row for row in room._packages()}
    assert rows["soxr"].state == "problem" and "pip install 'soxr>=999'" in rows["soxr"].remedy
    assert "numpy" not in rows and rows["absent-package"].fact == "not installed"
    monkeypatch.undo()
    assert room._requirements() == {} or "torch" in room._requirements()


def test_an_old_python_is_a_problem(monkeypatch):
    assert [row.state for row in room._python()] == ["ok"]
    monkeypatch.setattr(room, "_OLDEST_PYTHON", (99, 0))
    assert [row.state for row in room._python()] == ["problem"]


def test_locks_are_looked_for_where_torch_compiles(tmp_path, monkeypatch):
    """torch follows XDG_CACHE_HOME, too; a lock there was once not found."""
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lock = tmp_path / "torch_extensions" / "py311_cpu" / "cpu_adam" / "lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (time.time() - 7200,) * 2)
    diagnosis = doctor(folder=tmp_path)
    assert diagnosis.exit_code == 1 and f"rm '{lock}'" in diagnosis.table()
    lock.unlink()
    (lock.parent / "cpu_adam.so").touch()
    (row,) = machine.compiled(machine.extension_caches())
    assert row.fact == "cpu_adam"


def test_the_hub_cache(tmp_path, monkeypatch):
    for name in ("HF_HUB_CACHE", "HF_HOME", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (row,) = machine.hub_cache()
    assert row.state == "ok" and row.fact == f"{tmp_path / 'huggingface' / 'hub'}: 0 models"
    (tmp_path / "own" / "models--openai--whisper-tiny").mkdir(parents=True)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "own"))
    (row,) = machine.hub_cache()
    assert row.fact == f"{tmp_path / 'own'}: 1 model"
    monkeypatch.setattr(machine, "_MIN_DISK_GIB", 1e9)
    (row,) = machine.hub_cache()
    assert row.state == "warn" and "HF_HOME" in row.remedy
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (row,) = machine.hub_cache()
    assert row.state == "ok" and "HF_HUB_OFFLINE" in row.fact


def test_little_shared_memory_is_a_warning(tmp_path, monkeypatch):
    assert list(machine.shared_memory(tmp_path / "absent")) == []
    monkeypatch.setattr(machine, "_MIN_SHARED_GIB", 1e9)
    (row,) = machine.shared_memory(tmp_path)
    assert row.state == "warn" and "--shm-size" in row.remedy


def test_extras_are_listed_whether_installed_or_not(monkeypatch):
    monkeypatch.setattr(room, "_version", lambda name: "1.0" if name in ("ray", "meeteval") else None)
    found = {row.name: row for row in room._extras()}["other extras"].fact
    assert found.startswith("ray, speakers; not installed: quantize, ")


def test_it_is_quick_and_ends_with_a_status(tmp_path):
    """Processor time, for the machine may be busy; importing torch is nearly all of it."""
    lock = tmp_path / "torch_extensions" / "x" / "lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    os.utime(lock, (time.time() - 7200,) * 2)
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PATH": "/nonexistent"}
    before = os.times()
    command = [sys.executable, "-m", "lsa_whisper", "doctor", "--folder", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    after = os.times()
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "problem  build locks" in done.stdout and "warn     compiler" in done.stdout
    assert after.children_user + after.children_system - before.children_user - before.children_system < 8


def test_too_little_room_is_a_problem_when_it_is_known_how_much_is_needed(tmp_path):
    rows = {row.name: row.state for row in machine.disk(tmp_path, name="swap", needed_gib=0.0001)}
    assert rows == {"writing": "ok", "swap": "ok"} or rows["swap"] == "warn"
    (_, row) = machine.disk(tmp_path, name="swap", needed_gib=1e9)
    assert row.state == "problem" and "needed" in row.fact and row.remedy


def test_offloading_to_a_disk_makes_its_tools_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine.sys, "executable", str(tmp_path / "python"))
    rows = {row.name: row for row in doctor(folder=tmp_path, nvme=tmp_path / "absent").rows}
    assert rows["compiler"].state == rows["ninja"].state == "problem"
    assert doctor(folder=tmp_path, nvme=tmp_path / "absent").exit_code == 1


def test_a_model_that_leaves_disfluencies_out_says_so(tmp_path):
    stock = shutil.copytree(shipped(NANO), tmp_path / "stock")
    (stock / "lsa_whisper.json").unlink()
    for model, found in ((stock, "this model leaves out disfluencies"), (shipped(NANO), "all classes")):
        (row,) = [row for row in doctor(model=model).rows if row.name == "disfluencies"]
        assert row.fact.startswith(found) and bool(row.remedy) == (model is stock)
