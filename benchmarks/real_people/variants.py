"""Training as ``finetune FOLDER`` chooses it but for one choice: what each choice is worth on real people.

    python -m benchmarks.real_people.variants ../shared/data ../shared/data/whisper/base --seeds 1

The recordings and parts are those of ``benchmarks.real_people``.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.real_people.measuring import System, measure
from lsa_whisper import checkpoint
from lsa_whisper.finetuning.from_corpus import finetune
from lsa_whisper.preparation import prepare

ADAPTER = (
    "model.freeze_encoder=false",
    "model.top_layers=null",
    "adapter={rank: 16, alpha: 32, stacks: decoder}",
    "training.learning_rate=3e-4",
)
"""What ``finetune FOLDER`` chooses for a larger model."""
SYNTHETIC = Path("corpora/storybook/train")
_SYNTHETIC_RECORDINGS = 2
"""About as many minutes of synthetic speech as there are of real speech."""


def finetuned(source: Path, base: Path, out: Path, seed: int, settings: Sequence[str] = ()) -> Path:
    """Return the model that ``finetune`` trains on a folder as typed, with overrides of its recipe."""
    return finetune(source, model=base, out=out / "model", set=[f"seed={seed}", *settings]).out


def trained(settings: Sequence[str] = (), style: str | None = None) -> System:
    """Return the system that :func:`finetuned` trains."""
    return System(partial(finetuned, settings=settings), style)


def train_prepared(
    corpus: Path, base: Path, out: Path, seed: int, settings: Sequence[str] = (), **options: Any
) -> Path:
    """Train on data that are prepared with other options than ``finetune`` chooses, and return the model."""
    usual = {"context_s": checkpoint.load(base, weights=False).context_s, "without_timestamps": 1.0}
    prepare([corpus], out / "data", **(usual | {"train_only": True} | options))
    return finetuned(out / "data", base, out, seed, settings)


def train_with_synthetic(corpus: Path, base: Path, out: Path, seed: int) -> Path:
    """Train on synthetic speech, too, and return the model."""
    for sound in sorted(SYNTHETIC.glob("*.flac"))[:_SYNTHETIC_RECORDINGS]:
        for path in (sound, sound.with_suffix(".cha")):
            shutil.copy(path, corpus)
    return train_prepared(corpus, base, out, seed)


OURS = trained()
VARIANTS = {
    "ours": OURS,
    "ours, trim": trained(["data.trim=true"]),
    "ours, splice": System(partial(train_prepared, splice=0.5)),
    "ours, verbatim labels": System(partial(train_prepared, labels="verbatim")),
    "ours, timestamps": System(partial(train_prepared, without_timestamps=0.2)),
    "ours, rate 1e-5": trained(["training.learning_rate=1e-5"]),
    "ours, rate 1e-4": trained(["training.learning_rate=1e-4"]),
    "ours, no prompt": trained(["data.prompt=''"]),
    "ours, with storybook": System(train_with_synthetic),
    "ours, fluent style": trained(style="fluent"),
    "ours, fluent labels": System(partial(train_prepared, settings=["data.prompt=''"], labels="fluent")),
}

if __name__ == "__main__":
    measure("real_people.variants", __doc__, VARIANTS)
