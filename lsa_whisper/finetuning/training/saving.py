"""The finished checkpoint folder: weights, logs, where they come from, and what the corpus says of retraces."""

from __future__ import annotations

import contextlib
import importlib.metadata
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lsa_whisper import checkpoint, manifest
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.trimming import TRIM_MARGIN_S
from lsa_whisper.errors import CheckpointError
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.recipe.changes import recipe_values
from lsa_whisper.finetuning.training.curves import CURVE, plot_curves
from lsa_whisper.finetuning.training.dev_evaluation import SAMPLES, TENSORBOARD
from lsa_whisper.finetuning.training.resume import (
    last_complete_checkpoint,
)
from lsa_whisper.finetuning.training.weight_average import move_to_base
from lsa_whisper.labels import Labels, decode
from lsa_whisper.languages import chat_code
from lsa_whisper.manifest import TIMESTAMP, Segment
from lsa_whisper.retraces.training import corpus_weights

MAX_WINDOWS = 5000
"""Windows of each language to learn from: about a minute's work, and enough for hundreds of retraces."""


def save_trained(trainer: Any, start: Checkpoint, record: dict[str, Any], out: Path, weights: Any) -> Path:
    """Save the model of ``trainer``, which was made from ``start``, as a checkpoint folder; return its path.

    ``weights`` are the gathered ones of a model that is divided over ranks, ``record`` is its provenance.
    """
    model = trainer.accelerator.unwrap_model(trainer.model)
    if hasattr(model, "ctc_head"):
        del model.ctc_head
    move_to_base(trainer.recipe, model, weights)
    model.config.use_cache, model.config.apply_spec_augment = True, False
    data = trainer.recipe.data
    learned = learn_retraces(manifest.stream(Path(data.train)), start.labels, data.language)
    return checkpoint.save(
        out,
        model=model,
        feature_extractor=start.feature_extractor,
        tokenizer=start.tokenizer,
        labels=start.labels,
        provenance=record,
        recipe=record["recipe"],
        trained_tokens=trainer.train_dataset.trained_tokens,
        trained_codes=trainer.train_dataset.trained_codes,
        state_dict=weights,
        place=record["recipe"]["out"],
        retraces={**start.retraces, **learned},
        trim_margin_s=TRIM_MARGIN_S if record["recipe"]["data"]["trim"] else None,
    )


def learn_retraces(windows: Iterable[Segment], labels: Labels, language: str | None = None) -> dict[str, Any]:
    """Return the weights of a tagger for each language (ISO 639-3) that has enough retraces.

    Args:
        windows: The training data.
        labels: Their style; only ``chat`` has retraces.
        language: Whisper's code of all windows, in place of their own.
    """
    if labels.style != "chat":
        return {}
    texts: dict[str, list[str]] = {}
    for window in windows:
        kept = texts.setdefault(chat_code(language or window.lang), [])
        if window.text and len(kept) < MAX_WINDOWS:
            kept.append(TIMESTAMP.sub(" ", window.text))
    found = {
        code: corpus_weights(
            (tier.text for text in kept for tier in decode(text, labels, language=code).utterances), code
        )
        for code, kept in texts.items()
    }
    return {code: weights for code, weights in found.items() if weights}


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


@contextlib.contextmanager
def kept_weights(unfinished: Path) -> Iterator[None]:
    """Say where the trained weights are if they cannot be saved as a checkpoint folder; disk errors pass as they are.

    Raises:
        CheckpointError: With the reason and the last checkpoint, from which the same command saves again.
    """
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        kept = last_complete_checkpoint(unfinished, lambda _: None)
        where = f"the trained weights are in {kept}, and the same command tries again" if kept else "none are kept"
        raise CheckpointError(f"the trained model cannot be saved ({error}); {where}") from error


def keep_log(unfinished: Path, out: Path, *, plot: bool) -> None:
    """Copy the logs of the training to the checkpoint."""
    if plot:
        plot_curves(unfinished, out / "curve.png")
    for name in (CURVE, SAMPLES):
        if (unfinished / name).is_file():
            shutil.copyfile(unfinished / name, out / name)
    if (unfinished / TENSORBOARD).is_dir():
        shutil.copytree(unfinished / TENSORBOARD, out / TENSORBOARD)
