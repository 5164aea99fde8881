"""Where the weights of a checkpoint come from."""

from __future__ import annotations

import importlib.metadata
import subprocess
from pathlib import Path
from typing import Any

from lsa_whisper import manifest
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.recipe.changes import recipe_values


def provenance(recipe: Recipe) -> dict[str, Any]:
    """Return what is needed to reproduce the checkpoint: recipe, hash of the data, versions, git revision."""
    packages = ("lsa-whisper", "torch", "transformers", "peft", "accelerate")
    return {
        "recipe": recipe_values(recipe),
        "manifest_sha256": manifest.sha256(Path(recipe.data.train)),
        "prompt": manifest.prompt_kind(recipe.data.train),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "revision": _revision(),
    }


def _revision(source: Path = Path(__file__)) -> str | None:
    """Return the git revision of the package's source, ``None`` when it is installed without one.

    An environment often lies inside another repository, which does not track ``source``.
    """
    git = ["git", "-C", str(source.parent)]
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", source.name], capture_output=True, check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
