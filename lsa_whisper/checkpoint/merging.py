"""Weighted averages of checkpoints: of several runs or seeds, or of a run and its base.

Wortsman et al. 2022 average runs of one base ("model soups") and interpolate a fine-tuned model with its base
("WiSE-FT"), which keeps more of what the base knew. Both need a common start: independently trained weights have no
meaningful average. An adapter is merged into its base first, because the average of products ``B A`` is not the product
of averaged factors.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsa_whisper.checkpoint.description import MODEL_SIZES
from lsa_whisper.checkpoint.exporting import write_verified
from lsa_whisper.checkpoint.folder import METADATA_FILE, atomic_folder, digest, verify_replaceable
from lsa_whisper.checkpoint.loading import Checkpoint, load
from lsa_whisper.checkpoint.overview import overview_line
from lsa_whisper.checkpoint.verification import is_local
from lsa_whisper.errors import CheckpointError
from lsa_whisper.system.terminal import print_progress
from lsa_whisper.system.umask import private_umask

_UNRELATED = 1.0
"""Relative distance from which two models have no common start: about 1.4 between independent random weights, well
below 1 between a model and what was fine-tuned from it."""
_ALIKE = (*MODEL_SIZES, "activation_function")


@dataclass(frozen=True)
class MergedSource:
    """One of the checkpoints that were averaged.

    Attributes:
        path: Its folder or hub name.
        weight: Its share of the average.
        distance: Norm of the difference between its weights and the average of those before it, relative to the norm
            of that average; ``0`` for the first.
        labels: Its label style, ``None`` for a model that names none.
    """

    path: str
    weight: float
    distance: float
    labels: str | None


@dataclass(frozen=True)
class Merged:
    """The result of :func:`merge`."""

    out: Path
    sources: tuple[MergedSource, ...]
    labels: str

    def table(self) -> str:
        """Return the sources with their weights and distances, and the folder on the last line."""
        lines = ["weight  distance  labels      checkpoint"]
        lines += [
            f"{source.weight:>6.3f}  {source.distance:>8.3f}  {source.labels or '-':<10}  {source.path}"
            for source in self.sources
        ]
        if {source.labels for source in self.sources} - {None, self.labels}:
            lines.append(f"the label styles differ; the merged model is set to {self.labels}")
        return "\n".join([*lines, str(self.out)])


@private_umask()
def merge(
    checkpoints: Sequence[str | Path], out: str | Path, *, weights: Sequence[float] = (), dtype: str = "float32"
) -> Merged:
    """Write the weighted average of checkpoints as a full model, verified as by ``export``, and return what was done.

    Args:
        checkpoints: Folders or hub names of two or more models of one architecture and vocabulary; adapters are merged
            into their bases first. The first that names a label style decides that of the result.
        out: The folder to write; a checkpoint in it is replaced, unless it is one of ``checkpoints``.
        weights: One for each checkpoint, or, with two checkpoints, that of the first; they are divided by their sum.
            Equal by default.
        dtype: ``float32``, ``float16`` or ``bfloat16``; the average is computed in float32.

    Raises:
        CheckpointError: The checkpoints do not fit together, the weights do not fit them, or one cannot be loaded;
            ``out`` is unchanged.
    """
    names, out = [str(path) for path in checkpoints], Path(out)
    shares = _shares(len(names), weights)
    _check_places(names, out)
    for name in names:
        print_progress(overview_line(name))
    mean, sources = _average(names, shares)
    labels = next((source.labels for source in sources if source.labels), mean.labels.name)
    with atomic_folder(out) as partial, tempfile.TemporaryDirectory(dir=partial) as scratch:
        folder = write_verified(_in_type(mean, dtype), Path(scratch) / "checkpoint")
        for file in sorted(folder.iterdir()):
            file.rename(partial / file.name)
    return Merged(out, tuple(sources), labels)


def _shares(count: int, weights: Sequence[float]) -> list[float]:
    """Return the share of each of ``count`` checkpoints.

    >>> _shares(3, ()), _shares(2, (0.7,)), _shares(2, (1, 3))
    ([0.3333333333333333, 0.3333333333333333, 0.3333333333333333], [0.7, 0.30000000000000004], [0.25, 0.75])
    """
    if count < 2:
        raise CheckpointError("merge needs two or more checkpoints; name the runs, or a run and its base")
    numbers = list(weights) or [1.0] * count
    if len(numbers) == 1 and count == 2 and 0 <= numbers[0] <= 1:
        numbers.append(1 - numbers[0])
    if len(numbers) != count:
        raise CheckpointError(
            f"{len(weights)} weight(s) for {count} checkpoints: give one for each, or with two checkpoints one between "
            "0 and 1, that of the first"
        )
    if not all(math.isfinite(number) and number >= 0 for number in numbers) or not sum(numbers) > 0:
        raise CheckpointError(f"weights must be 0 or more and not all 0, not {', '.join(f'{w:g}' for w in numbers)}")
    return [number / sum(numbers) for number in numbers]


def _check_places(names: Sequence[str], out: Path) -> None:
    folders = [Path(os.path.realpath(name)) if is_local(name) else name for name in names]
    if twice := next((name for place, name in enumerate(names) if folders[place] in folders[:place]), None):
        raise CheckpointError(f"{twice}: named twice; name each checkpoint once and give it a `weight`")
    if out.resolve() in folders:
        raise CheckpointError(f"{out}: is one of the checkpoints to merge; choose another output folder")
    verify_replaceable(out)


def _average(names: Sequence[str], shares: Sequence[float]) -> tuple[Checkpoint, list[MergedSource]]:
    """Return the average, with the processor and settings of the first checkpoint that names a label style.

    At most two models are in memory: each is added to the average of those before it.
    """
    checkpoints = map(load, names)
    average = next(checkpoints)
    sources, settings, rests, total = list[MergedSource](), list[Any](), list[Checkpoint](), 0.0
    for name, share, checkpoint in zip(names, shares, itertools.chain([average], checkpoints), strict=True):
        total += share
        distance = 0.0 if checkpoint is average else _add(average, checkpoint, share / total if total else 0.0)
        is_labeled = is_local(name) and (Path(name) / METADATA_FILE).exists()
        sources.append(MergedSource(name, share, distance, checkpoint.labels.name if is_labeled else None))
        settings.append(checkpoint.model.generation_config)
        rests.append(dataclasses.replace(checkpoint, model=None, recipe={}))
    main = next((at for at, source in enumerate(sources) if source.labels), 0)
    average.model.generation_config = _allowing_all(settings, settings[main])
    record = [{"path": s.path, "digest": digest(s.path), "weight": s.weight} for s in sources]
    margins = [rest.trim_margin_s for rest in rests]
    result = dataclasses.replace(
        rests[main],
        path=" + ".join(Path(name).name for name in names),
        model=average.model,
        provenance={"merged": record},
        trim_margin_s=None if None in margins else max(filter(None, margins), default=0.0),
    )
    return result, sources


def _add(average: Checkpoint, other: Checkpoint, share: float) -> float:
    """Move ``average`` towards ``other`` by ``share``; return their relative distance before. ``other`` is used up."""
    import torch

    _require_same_shape(average, other)
    squares, norm = 0.0, 0.0
    differences = dict(other.model.named_parameters())
    with torch.no_grad():
        for name, weight in average.model.named_parameters():
            differences[name].sub_(weight)
            squares += float(differences[name].norm()) ** 2
            norm += float(weight.norm()) ** 2
        distance = math.sqrt(squares / norm) if norm else math.inf
        if not distance < _UNRELATED:  # true for NaN, too
            raise CheckpointError(
                f"{other.path}: its weights are unrelated to those of {average.path} (relative distance "
                f"{distance:.2f}); only models trained from the same base have an average that works"
            )
        for name, weight in average.model.named_parameters():
            weight.add_(differences[name], alpha=share)
    return distance


def _require_same_shape(average: Checkpoint, other: Checkpoint) -> None:
    for key in _ALIKE:
        own, their = (getattr(source.model.config, key, None) for source in (average, other))
        if own != their:
            raise CheckpointError(
                f"{other.path}: {key} is {their}, but {own} in {average.path}; only models of one architecture can be "
                "merged"
            )
    if average.tokenizer.get_vocab() != other.tokenizer.get_vocab():
        raise CheckpointError(
            f"{other.path}: its vocabulary differs from that of {average.path}; only models of one vocabulary can be "
            "merged"
        )
    shapes = [{name: weight.shape for name, weight in source.model.named_parameters()} for source in (average, other)]
    if shapes[0] != shapes[1]:
        raise CheckpointError(f"{other.path}: other weights than in {average.path}; export both with one version first")


def _allowing_all(settings: Sequence[Any], main: Any) -> Any:
    """Return ``main`` without suppressed tokens that one of ``settings`` allows: that source may write them."""
    for key in ("suppress_tokens", "begin_suppress_tokens"):
        if own := getattr(main, key, None):
            common = set(own).intersection(*(getattr(setting, key, None) or () for setting in settings))
            setattr(main, key, [index for index in own if index in common])
    return main


def _in_type(mean: Checkpoint, dtype: str) -> Checkpoint:
    import torch

    if dtype not in ("float32", "float16", "bfloat16"):
        raise CheckpointError(f"numbers of type {dtype!r} are not known; choose float32, bfloat16 or float16")
    return dataclasses.replace(mean, model=mean.model.to(getattr(torch, dtype)))
