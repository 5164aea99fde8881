from __future__ import annotations

import os
import stat
import time

import pytest

from lsa_whisper import doctor as room
from lsa_whisper import machine
from lsa_whisper.doctor import Diagnosis, doctor
from lsa_whisper.machine import Row, stale_locks


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
    assert rows["peft"].state == "problem" and "pip install peft" in rows["peft"].remedy
    assert rows["ctranslate2"].state == "warn" and "lsa-whisper[ct2]" in rows["ctranslate2"].remedy


def test_missing_programs_say_what_they_are_for(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine.sys, "executable", str(tmp_path / "python"))
    rows = {row.name: row for row in machine.programs()}
    assert rows["ffmpeg"].state == rows["compiler"].state == rows["ninja"].state == "warn"
    ninja = tmp_path / "bin" / "ninja"
    ninja.parent.mkdir()
    ninja.write_text("#!/bin/sh\n")
    ninja.chmod(0o755)
    monkeypatch.setattr(machine.sys, "executable", str(ninja.with_name("python")))
    assert "PATH" in {row.name: row for row in machine.programs()}["ninja"].found


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path):
    (row,) = machine.disk(tmp_path / "absent")
    assert row.state == "problem"
    if os.getuid() == 0:
        pytest.skip("the superuser may write anywhere")
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert next(machine.disk(tmp_path)).state == "problem"


def test_the_table_has_every_row_and_every_remedy():
    table = Diagnosis((Row("ffmpeg", "warn", "not found", "install it"), Row("python", "ok", "3.11"))).table()
    assert table.splitlines() == [
        "warn     ffmpeg  not found",
        "                 -> install it",
        "ok       python  3.11",
    ]


def test_too_little_room_is_a_problem_when_it_is_known_how_much_is_needed(tmp_path):
    rows = {row.name: row.state for row in machine.disk(tmp_path, name="swap", needed_gib=0.0001)}
    assert rows == {"writing": "ok", "swap": "ok"} or rows["swap"] == "warn"
    (_, row) = machine.disk(tmp_path, name="swap", needed_gib=1e9)
    assert row.state == "problem" and "needed" in row.found and row.remedy


def test_offloading_to_a_disk_makes_its_tools_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine.sys, "executable", str(tmp_path / "python"))
    rows = {row.name: row for row in doctor(folder=tmp_path, nvme=tmp_path / "absent").rows}
    assert rows["compiler"].state == rows["ninja"].state == "problem" and rows["ffmpeg"].state == "warn"
    assert doctor(folder=tmp_path, nvme=tmp_path / "absent").exit_code == 1
