"""Pack the project and the packages that a borrowed GPU machine lacks, for a machine without network.

    python -m benchmarks.gpu.pack --to bundle --processor PROCESSOR --model BASE --speech RECORDINGS

PROCESSOR is a folder with the tokenizer and generation settings of openai/whisper-large-v3, which transcription needs;
BASE is that of OpenAI's base, and RECORDINGS one of real recordings with transcripts, each of its folders a set. All of
it is cut into parts small enough for one call each. The packages that are there are listed in ``preinstalled.txt``;
what their versions do not meet is an error. The versions of the others are those of ``constraints.txt``. The last lines
are the commands to type there.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from benchmarks.gpu.wheels import Versions, bring, metadata_wheel, read_versions
from lsa_whisper.errors import LsaWhisperError
from lsa_whisper.version import __version__

ROOT = Path(__file__).parents[2]
PREINSTALLED = Path(__file__).with_name("preinstalled.txt")
EXTRAS = ("deepspeed", "torchao", "quantize")
MORE = ("openai-whisper>=20250625",)
"""Another program to compare with. CTranslate2 and faster-whisper stay away: they need CUDA 12's cuBLAS."""
FOLDERS = ("lsa_whisper", "benchmarks", "corpora", "models", "recipes", "tests", "docs")
LIMIT_MIB = 45.0
"""Of a part: a call carries 64 MiB, the tracked files of this repository included."""
MIB = 2**20
CARRIED = ("processor", "model", "speech")


def main() -> None:
    """Pack, divide and print the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True, help="A new folder, or one that this command made.")
    for name in CARRIED:
        parser.add_argument(f"--{name}", type=Path, help="A folder to take along.")
    parser.add_argument("--use", nargs="*", default=[], help="Other versions than constraints.txt has: NAME==VERSION.")
    parser.add_argument("--limit", type=float, default=LIMIT_MIB, help="MiB of each part.")
    options = parser.parse_args()
    given = {name: folder for name in CARRIED if (folder := getattr(options, name))}
    try:
        versions = pack(options.to / "all", options.use)
    except LsaWhisperError as error:
        raise SystemExit(str(error)) from None
    for name, folder in given.items():
        carry(name, folder, options.to / "all")
    parts = divide(options.to, options.limit)
    if versions.brought:
        print("brought:", ", ".join(f"{name} {version}" for name, version in sorted(versions.brought.items())))
    for needed in sorted(set(versions.unknown)):
        print(f"check there, its version is not known: {needed}")
    print(commands(parts, tuple(given)))


def pack(to: Path, use: list[str]) -> Versions:
    """Write ``project.tar.gz`` and ``wheels`` into a folder; return what was brought.

    Raises:
        LsaWhisperError: If a version does not fit what is there.
    """
    wheels = to / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [*project["dependencies"], *(each for extra in EXTRAS for each in project["optional-dependencies"][extra])]
    pins = read_versions(ROOT / "constraints.txt") | dict(each.split("==") for each in use)
    versions = Versions(read_versions(PREINSTALLED))
    bring([*needs, *MORE], versions, pins, wheels)
    if versions.problems:
        raise LsaWhisperError("\n".join(versions.problems))
    metadata_wheel("lsa-whisper", __version__, project["dependencies"], wheels)
    archive(to / "project.tar.gz")
    return versions


def carry(name: str, folder: Path, to: Path) -> None:
    """Write a folder as ``NAME.tar.gz``, which unpacks into ``carried/NAME``."""
    with tarfile.open(to / f"{name}.tar.gz", "w:gz", dereference=True) as out:
        out.add(folder, f"carried/{name}")


def archive(path: Path) -> None:
    """Write the files of the last commit that the campaign needs."""
    command = ["git", "-C", str(ROOT), "archive", "--format=tar.gz", "-o", str(path.absolute()), "HEAD"]
    done = subprocess.run([*command, *FOLDERS, "pyproject.toml", "constraints.txt"], capture_output=True, text=True)
    if done.returncode:
        raise LsaWhisperError(f"git archive: {done.stderr.strip()}; run this in a checkout")


def divide(to: Path, limit_mib: float) -> list[Path]:
    """Write what is in ``to/all`` as one archive, cut into parts, each in a folder of its own; return the parts."""
    whole = to / "bundle.tar"
    with tarfile.open(whole, "w") as out:
        for path in sorted((to / "all").iterdir()):
            print(f"{_mib(path):6.2f} MiB  {path.name}")
            out.add(path, path.name)
    for earlier in to.glob("part-*"):
        shutil.rmtree(earlier)
    parts = []
    with whole.open("rb") as stream:
        while piece := stream.read(round(limit_mib * MIB)):
            parts.append(to / f"part-{len(parts) + 1}" / f"bundle.{len(parts):02}")
            parts[-1].parent.mkdir()
            parts[-1].write_bytes(piece)
    whole.unlink()
    return parts


def _mib(path: Path) -> float:
    return sum(each.stat().st_size for each in (path, *path.rglob("*")) if each.is_file()) / MIB


def commands(parts: list[Path], carried: Sequence[str]) -> str:
    """Return the commands to type on the other machine."""
    options = "".join(f" --{name} ../carried/{name}" for name in carried)
    install = "python3 -m pip install --quiet --no-index --no-deps --no-compile --upgrade --target site wheels/*.whl"
    return "\n".join(
        [
            f"\nThere, the machine kept between the calls, with the contents of each of {len(parts)} parts:\n",
            "mkdir -p ~/gpu && cp bundle.* ~/gpu",
            "\nThen, and the last line again until all is done (finished cases are skipped):\n",
            "cd ~/gpu && cat bundle.* | tar x && mkdir -p project && tar xzf project.tar.gz -C project",
            *(f"tar xzf {name}.tar.gz" for name in carried),
            install,
            "cd project && export PYTHONPATH=../site:.",
            f"python3 -m benchmarks.gpu.campaign --to ../results --limit 540{options}",
            "\nBring back results/gpu.campaign.json as benchmarks/results/gpu.campaign.json and type "
            "python -m benchmarks.table here.",
        ]
    )


if __name__ == "__main__":
    main()
