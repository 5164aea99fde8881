"""What is packed for a GPU machine without network: the packages it lacks, in versions that fit what it has."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distributions

import pytest
from packaging.requirements import Requirement
from pages import ROOT

from benchmarks.gpu import pack, wheels

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LIBRARIES = ("libbits_cpu.so", "libbits_cuda130.so", "libbits_cuda128.so", "libbits_rocm72.so", "libbits_xpu2026.so")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Return a function that makes a wheel with requirements, which is then found in place of the package index's."""

    def make(name, version, *requirements):
        return wheels.metadata_wheel(name, version, requirements, tmp_path)

    def fetch(requirement, folder):
        needed = Requirement(requirement)
        return next(folder.glob(f"{needed.name.replace('-', '_')}-*.whl"))

    monkeypatch.setattr(wheels, "fetch", fetch)
    return make


def brought(folder, there, *roots):
    versions = wheels.Versions(there)
    found = wheels.bring(roots, versions, {}, folder)
    return versions, [path.name.partition("-")[0] for path in found]


def test_what_is_missing_is_brought_with_what_it_needs(index, tmp_path):
    index("deepspeed", "0.19.8", "torch", "pydantic>=2", "aifc; python_version >= '3.13'", "mpi4py; extra == 'mpi'")
    index("pydantic", "2.14", "typing-extensions>=4.16")
    there = {"torch": "2.11.0", "typing-extensions": None}
    versions, names = brought(tmp_path, there, "deepspeed>=0.19", "torch>=2.8")
    assert names == ["deepspeed", "pydantic"] and not versions.problems
    assert versions.unknown == ["pydantic: typing-extensions>=4.16"]


def test_a_version_that_does_not_fit_is_a_problem(index, tmp_path):
    index("datasets", "5.2.0", "huggingface-hub<3,>=2", "dill<0.4")
    index("dill", "0.4.1")
    versions, _ = brought(tmp_path, {"huggingface-hub": "1.33.0"}, "datasets")
    assert versions.problems == [
        "datasets needs huggingface-hub<3,>=2, but there is 1.33.0",
        "datasets needs dill<0.4, but there is 0.4.1",
    ]


def test_the_project_accepts_the_versions_that_are_there():
    versions = wheels.Versions(wheels.read_versions(pack.PREINSTALLED))
    needs = [
        *PROJECT["dependencies"],
        *(each for name in pack.EXTRAS for each in PROJECT["optional-dependencies"][name]),
    ]
    missing = [each.name for each in wheels.applicable(needs) if not versions.check(each, "lsa-whisper")]
    assert not versions.problems
    assert {"deepspeed", "torchao", "datasets", "soundfile", "rapidfuzz"} <= set(missing)
    assert not {"torch", "transformers", "peft", "accelerate", "pyarrow"} & set(missing)


def test_libraries_for_other_gpus_are_left_out(tmp_path):
    path = tmp_path / "bits-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in LIBRARIES:
            archive.writestr(f"bits/{name}", name)
        archive.writestr("bits-1.dist-info/RECORD", "".join(f"bits/{name},sha256=x,9\n" for name in LIBRARIES))
    with zipfile.ZipFile(wheels.without(path, wheels.OTHER_CUDA)) as archive:
        assert archive.namelist() == ["bits/libbits_cpu.so", "bits/libbits_cuda130.so", "bits-1.dist-info/RECORD"]
        assert archive.read("bits-1.dist-info/RECORD").decode().count("\n") == 2


@pytest.mark.slow
def test_the_metadata_of_the_project_can_be_installed(tmp_path):
    path = wheels.metadata_wheel("lsa-whisper", "0.1.0", PROJECT["dependencies"], tmp_path)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target"]
    subprocess.run([*install, str(tmp_path / "site"), str(path)], check=True)
    (found,) = distributions(path=[str(tmp_path / "site")])
    assert found.version == "0.1.0" and set(found.requires) == set(PROJECT["dependencies"])


def test_parts_of_one_call_each_are_joined_there(tmp_path, capsys):
    for name in pack.CARRIED:
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    everything = tmp_path / "bundle" / "all"
    (everything / "wheels").mkdir(parents=True)
    (everything / "wheels" / "a.whl").write_bytes(random.Random(0).randbytes(2 * pack.MIB))
    for name in pack.CARRIED:
        pack.carry(name, tmp_path / name, everything)
    for _ in range(2):
        parts = pack.divide(tmp_path / "bundle", 0.75)
    assert [path.parent.name for path in parts] == ["part-1", "part-2", "part-3"]
    assert max(path.stat().st_size for path in parts) <= 0.75 * pack.MIB
    assert "2.00 MiB  wheels" in capsys.readouterr().out
    there, told = tmp_path / "there", pack.commands(parts, pack.CARRIED)
    assert "cat bundle.* | tar x" in told and "tar xzf model.tar.gz" in told
    with tarfile.open(fileobj=io.BytesIO(b"".join(path.read_bytes() for path in parts))) as joined:
        joined.extractall(there)
    with tarfile.open(there / "model.tar.gz") as carried:
        carried.extractall(there)
    assert (there / "wheels" / "a.whl").read_bytes() == (everything / "wheels" / "a.whl").read_bytes()
    assert (there / "carried" / "model" / "config.json").exists()
    assert " --processor ../carried/processor --model ../carried/model --speech ../carried/speech\n" in told


def test_the_project_is_packed_with_what_the_cases_need(tmp_path):
    pack.archive(tmp_path / "project.tar.gz")
    with tarfile.open(tmp_path / "project.tar.gz") as packed:
        names = set(packed.getnames())
    assert {"pyproject.toml", "models/nano/model.safetensors", "corpora/storybook/card.yaml"} <= names
    assert (tmp_path / "project.tar.gz").stat().st_size < 30 * pack.MIB
