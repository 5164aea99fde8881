"""Known advisories on the packages that are installed or pinned, without a network: from ``advisories.txt``.

    python -m tests.lint_advisories

Prints a line for each affected version and what to do, and exits with 1 if there is one. It cannot know of advisories
that are newer than the list; its date is in its first line and is printed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_name("advisories.txt")
PINS = ("constraints.txt", "constraints-batchalign.txt")


def advisories(text: str) -> Iterator[tuple[str, SpecifierSet, str, SpecifierSet | None]]:
    """Yield package, affected versions, advisory, and versions that are accepted, of each line of the list."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            package, affected, advisory, *accepted = line.split()
            yield package, SpecifierSet(affected), advisory, SpecifierSet(accepted[1]) if accepted else None


def findings(text: str, versions: dict[str, str], place: str) -> Iterator[str]:
    """Yield a line for each version, by the normalized name of its package, that an advisory is about."""
    for package, affected, advisory, accepted in advisories(text):
        version = versions.get(package, "").partition("+")[0]
        if version and affected.contains(version, prereleases=True) and not (accepted and version in accepted):
            yield f"{place}: {package} {version} has {advisory} (affected: {affected}); take another version"


def normalized(name: str) -> str:
    """Return the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(text: str) -> dict[str, str]:
    """Return the versions in a file of constraints."""
    return {normalized(found[1]): found[2] for found in re.finditer(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)}


def main() -> int:
    """Check the environment and the pins."""
    text = LIST.read_text("utf-8")
    installed = {normalized(each.metadata["Name"]): each.version for each in distributions() if each.metadata["Name"]}
    found = list(findings(text, installed, "installed"))
    for name in PINS:
        found += findings(text, pinned((ROOT / name).read_text("utf-8")), name)
    print(*found, f"advisories as of {re.findall(r'20[0-9-]+', text)[0]}: {len(found)} affected", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
