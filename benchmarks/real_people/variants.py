"""Training as ``finetune FOLDER`` chooses it but for one choice: what each choice is worth on real people."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsa_whisper import checkpoint
from lsa_whisper.finetuning.from_corpus import finetune
from lsa_whisper.preparation import prepare

SYNTHETIC = Path("corpora/storybook/train")
_SYNTHETIC_RECORDINGS = 2
"""About as many minutes of synthetic speech as there are of real speech."""


@dataclass(frozen=True)
class Variant:
    """What differs from the choice of ``finetune FOLDER``.

    Attributes:
        settings: Overrides of the recipe.
        prepared: Options of ``prepare``.
        with_synthetic: Whether synthetic speech is added to the real one.
        style: The style that recordings are transcribed in.
    """

    settings: Sequence[str] = ()
    prepared: Mapping[str, Any] = field(default_factory=dict)
    with_synthetic: bool = False
    style: str | None = None


VARIANTS = {
    "ours, trim": Variant(["data.trim=true"]),
    "ours, splice": Variant(prepared={"splice": 0.5}),
    "ours, verbatim labels": Variant(prepared={"labels": "verbatim"}),
    "ours, timestamps": Variant(prepared={"without_timestamps": 0.2}),
    "ours, rate 1e-5": Variant(["training.learning_rate=1e-5"]),
    "ours, rate 1e-4": Variant(["training.learning_rate=1e-4"]),
    "ours, no prompt": Variant(["data.prompt=''"]),
    "ours, with storybook": Variant(with_synthetic=True),
    "ours, fluent style": Variant(style="fluent"),
    "ours, fluent labels": Variant(["data.prompt=''"], {"labels": "fluent"}),
}


def train(variant: Variant, corpus: Path, base: Path, out: Path, seed: int) -> Path:
    """Return a model that is trained like those of ``finetune FOLDER`` but for what ``variant`` says."""
    if variant.with_synthetic:
        for sound in sorted(SYNTHETIC.glob("*.flac"))[:_SYNTHETIC_RECORDINGS]:
            for path in (sound, sound.with_suffix(".cha")):
                shutil.copy(path, corpus)
    data = out / "data"
    usual = {"context_s": checkpoint.load(base, weights=False).context_s, "without_timestamps": 1.0, "train_only": True}
    prepare([corpus], data, **(usual | dict(variant.prepared)))
    return finetune(data, model=base, out=out / "model", set=[f"seed={seed}", *variant.settings]).out
