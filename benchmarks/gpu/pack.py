"""Pack the project and the packages that a borrowed GPU machine lacks, for a machine without network.

    python -m benchmarks.gpu.pack --to bundle --carry PROCESSOR

PROCESSOR is a folder with the tokenizer and generation settings of openai/whisper-large-v3, which case 9 needs. The
packages that are there are listed in ``preinstalled.txt``; what their versions do not meet is an error. The versions of
the others are those of ``constraints.txt``. The last lines are the commands to type there.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tarfile
import tomllib
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
LIMIT_MIB = 60.0
MIB = 2**20


def main() -> None:
    """Pack, check the size and print the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True, help="A new folder, or one that this command made.")
    parser.add_argument("--carry", type=Path, nargs="*", default=[], help="Further folders to take along.")
    parser.add_argument("--use", nargs="*", default=[], help="Other versions than constraints.txt has: NAME==VERSION.")
    parser.add_argument("--only-carry", action="store_true", help="Pack nothing else: a second load, for a model.")
    parser.add_argument("--limit", type=float, default=LIMIT_MIB, help="MiB of everything together.")
    options = parser.parse_args()
    try:
        versions = Versions({}) if options.only_carry else pack(options.to, options.use)
        for folder in options.carry:
            carry(folder, options.to)
        check_size(options.to, options.limit)
    except LsaWhisperError as error:
        raise SystemExit(str(error)) from None
    if versions.brought:
        print("brought:", ", ".join(f"{name} {version}" for name, version in sorted(versions.brought.items())))
    for needed in sorted(set(versions.unknown)):
        print(f"check there, its version is not known: {needed}")
    print(commands(options.to, options.carry))


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


def carry(folder: Path, to: Path) -> None:
    """Write a folder as ``NAME.tar.gz``, which unpacks into ``carried``."""
    to.mkdir(parents=True, exist_ok=True)
    name = folder.resolve().name
    with tarfile.open(to / f"{name}.tar.gz", "w:gz", dereference=True) as out:
        out.add(folder, f"carried/{name}")


def archive(path: Path) -> None:
    """Write the files of the last commit that the campaign needs."""
    command = ["git", "-C", str(ROOT), "archive", "--format=tar.gz", "-o", str(path.absolute()), "HEAD"]
    done = subprocess.run([*command, *FOLDERS, "pyproject.toml", "constraints.txt"], capture_output=True, text=True)
    if done.returncode:
        raise LsaWhisperError(f"git archive: {done.stderr.strip()}; run this in a checkout")


def check_size(to: Path, limit_mib: float) -> None:
    """Print the sizes; raise if they are too large together.

    Raises:
        LsaWhisperError: If they exceed ``limit_mib``.
    """
    sizes = {path.name: path.stat().st_size / MIB for path in (*to.glob("*.tar.gz"), *to.glob("wheels/*.whl"))}
    for name, mib in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{mib:6.2f} MiB  {name}")
    total = sum(sizes.values())
    print(f"{total:6.2f} MiB  together")
    if total > limit_mib:
        raise LsaWhisperError(f"{to}: {total:.1f} MiB, more than {limit_mib:g}: carry less, or raise --limit")


def commands(to: Path, folders: list[Path]) -> str:
    """Return the commands to type on the other machine, in a folder that holds the contents of ``to``.

    A second load goes into the folder of the first.
    """
    names = [folder.resolve().name for folder in folders]
    processor = next((f" --processor ../carried/{name}" for name in names if "processor" in name), "")
    model = next((f" --model ../carried/{name}" for name in names if "processor" not in name), "")
    lines = [f"tar xzf {name}.tar.gz" for name in names]
    last = "--only curve-trained-model"
    if (to / "project.tar.gz").exists():
        lines.insert(0, "mkdir -p project && tar xzf project.tar.gz -C project")
        install = "python3 -m pip install --quiet --no-index --no-deps --no-compile --upgrade --target site"
        lines += [f"{install} wheels/*.whl"]
        last = "--limit 540"
    lines += ["cd project && export PYTHONPATH=../site:."]
    lines += [f"python3 -m benchmarks.gpu.campaign --to ../results {last}{processor}{model}"]
    return "\n".join(
        [
            f"\nThere, with the contents of {to}, and again until all is done (finished cases are skipped):\n",
            *lines,
            "\nBring back results/gpu.campaign.json as benchmarks/results/gpu.campaign.json and type "
            "python -m benchmarks.table here.",
        ]
    )


if __name__ == "__main__":
    main()
