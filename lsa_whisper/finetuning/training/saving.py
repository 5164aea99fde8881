"""The finished checkpoint folder: weights, logs, where they come from, and what the corpus says of retraces.

Weights may be averages: over the steps of a run, and of a finished model with its base.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch.optim.swa_utils import get_ema_multi_avg_fn
from transformers import TrainerCallback

from lsa_whisper import checkpoint, manifest
from lsa_whisper.chat import Disfluency, Utterance
from lsa_whisper.checkpoint import Checkpoint
from lsa_whisper.checkpoint.trimming import TRIM_MARGIN_S
from lsa_whisper.errors import CheckpointError, first_line
from lsa_whisper.finetuning.recipe import Recipe
from lsa_whisper.finetuning.recipe.schema import recipe_values
from lsa_whisper.finetuning.training.adapter import base_to_load
from lsa_whisper.finetuning.training.callbacks import CURVE, plot_curves
from lsa_whisper.finetuning.training.dev_evaluation import SAMPLES, TENSORBOARD
from lsa_whisper.finetuning.training.precision import weights_dtype
from lsa_whisper.finetuning.training.resume import last_complete_checkpoint
from lsa_whisper.labels import Labels, decode
from lsa_whisper.languages import chat_code
from lsa_whisper.manifest import TIMESTAMP, Segment
from lsa_whisper.retraces.training import corpus_weights
from lsa_whisper.system.library_internals import load_undivided

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
    spoken = spoken_labels(manifest.stream(Path(data.train)), start.labels, data.language)
    retraces = learn_retraces(spoken) if start.labels.style == "chat" else {}
    seen = {event.kind for tiers in spoken.values() for tier in tiers for event in tier.events()}
    # A model of fluent labels leaves out all classes, whatever it saw.
    unseen = tuple(kind for kind in start.labels.unseen if Disfluency(kind) not in seen) * (
        start.labels.style != "fluent"
    )
    return checkpoint.save(
        out,
        model=model,
        feature_extractor=start.feature_extractor,
        tokenizer=start.tokenizer,
        labels=dataclasses.replace(start.labels, unseen=unseen),
        provenance=record,
        recipe=record["recipe"],
        trained_tokens=trainer.train_dataset.trained_tokens,
        trained_codes=trainer.train_dataset.trained_codes,
        state_dict=weights,
        place=record["recipe"]["out"],
        retraces={**start.retraces, **retraces},
        trim_margin_s=TRIM_MARGIN_S if record["recipe"]["data"]["trim"] else None,
    )


def spoken_labels(
    windows: Iterable[Segment], labels: Labels, language: str | None = None
) -> dict[str, list[Utterance]]:
    """Return the utterances in the labels of windows, by language (ISO 639-3); those of :data:`MAX_WINDOWS` of each.

    ``language``, Whisper's code, stands in place of the windows' own.
    """
    texts: dict[str, list[str]] = {}
    for window in windows:
        sample = texts.setdefault(chat_code(language or window.lang), [])
        if window.text and len(sample) < MAX_WINDOWS:
            sample.append(TIMESTAMP.sub(" ", window.text))
    return {
        code: [tier for text in kept for tier in decode(text, labels, language=code).utterances]
        for code, kept in texts.items()
    }


def learn_retraces(spoken: Mapping[str, Sequence[Utterance]]) -> dict[str, Any]:
    """Return the weights of a tagger for each language that has enough retraces, from labels of style ``chat``."""
    retraces = {code: corpus_weights((tier.text for tier in tiers), code) for code, tiers in spoken.items()}
    return {code: weights for code, weights in retraces.items() if weights}


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


AVERAGE_FILE = "weight_average.safetensors"


class WeightAverage(TrainerCallback):
    """The exponential moving average (EMA) of a model's trained weights, in fp32 on their device.

    It is often better than the weights of the last step. It is updated after each optimizer step (Polyak and Juditsky
    1992), evaluated and saved in place of the weights; training itself continues from the weights. Each checkpoint
    holds it, so that a resumed run continues it.
    """

    def __init__(self, model: Any, decay: float):
        """Start the average at the weights of ``model``, which one process holds in full."""
        self.decay = decay
        self.weights = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        self.averages = {name: weight.detach().float().clone() for name, weight in self.weights.items()}

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Move the average towards the weights; in the first steps faster, because it still holds the start."""
        decay = min(self.decay, (1 + state.global_step) / (10 + state.global_step))
        current = [weight.detach().float() for weight in self.weights.values()]
        get_ema_multi_avg_fn(decay)(list(self.averages.values()), current, state.global_step)

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the averages while the block runs, and its own weights back afterwards."""
        own = {name: weight.detach().clone() for name, weight in self.weights.items()}
        self.copy_to_model()
        try:
            yield
        finally:
            self._assign(own)

    def copy_to_model(self) -> None:
        """Replace the model's weights by the averages, for good."""
        self._assign(self.averages)

    def _assign(self, values: Mapping[str, torch.Tensor]) -> None:
        with torch.no_grad():
            for name, weight in self.weights.items():
                weight.copy_(values[name])

    def save(self, folder: Path) -> None:
        """Write the average into a checkpoint's folder."""
        tensors = {name: average.contiguous() for name, average in self.averages.items()}
        save_file(tensors, str(folder / AVERAGE_FILE), metadata={"format": "pt"})

    def load(self, folder: Path) -> None:
        """Continue with the average that a checkpoint holds.

        Raises:
            CheckpointError: It holds none, or one of other weights.
        """
        path = folder / AVERAGE_FILE
        try:
            tensors = load_file(str(path))
        except Exception as error:  # safetensors has errors of its own
            raise CheckpointError(
                f"{path}: cannot be read ({first_line(error)}); remove the checkpoint to begin again"
            ) from error
        if {name: value.shape for name, value in tensors.items()} != {n: a.shape for n, a in self.averages.items()}:
            raise CheckpointError(f"{path}: holds other weights than are trained; remove the checkpoint to begin again")
        for name, average in self.averages.items():
            average.copy_(tensors[name])


_UPDATE = ".lora_B."


def move_to_base(recipe: Recipe, model: Any, weights: dict[str, Any] | None) -> None:
    """Give trained weights their share of the base's, in place, so that they keep more of what the base knew.

    The model is interpolated with what it was trained from (WiSE-FT, Wortsman et al. 2022): ``share * base + (1 -
    share) * trained``. The base is read one weight at a time. The update that an adapter holds is a product of two
    factors, of which one is scaled. ``weights`` are the gathered ones of a model that is divided over ranks; ``None``
    if ``model`` has all of them.

    Raises:
        CheckpointError: The base cannot be read again.
    """
    if not (share := recipe.training.base_share):
        return
    current = dict(model.named_parameters(remove_duplicate=False)) if weights is None else weights
    with torch.no_grad():
        if recipe.adapter is not None:
            for name, weight in current.items():
                if _UPDATE in name:
                    weight.mul_(1 - share)
            return
        addresses: set[int] = set()  # the token embeddings have two names
        for name, value in _base_weights(recipe):
            if (weight := current.get(name)) is not None and weight.data_ptr() not in addresses:
                addresses.add(weight.data_ptr())
                weight.copy_(weight.float().lerp(value.to(weight.device).float(), share))


def _base_weights(recipe: Recipe) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the weights that training started from, by name; those of an adapter's folder are merged first."""
    load_undivided()  # of all ranks, only one is here
    is_merged = checkpoint.folder_of_weights(base_to_load(recipe)) is None
    start = checkpoint.load(base_to_load(recipe), dtype=weights_dtype(recipe), weights=is_merged)
    for name, weight in start.model.named_parameters(remove_duplicate=False):
        yield name, weight.detach() if start.unread is None else start.unread.read(weight)
