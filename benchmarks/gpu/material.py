"""Model and data of the cases, made once in the work folder and kept between calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks import whisper_size
from benchmarks.gpu.setting import Setting
from lsa_whisper import manifest
from lsa_whisper.preparation import prepare

CORPUS = Path("corpora/storybook")
BPE_TOKENS = 1000
LETTERS = 120
"""In the label of a window of noise."""


def base(setting: Setting) -> Path:
    """Return a model of the size that is fine-tuned, with random weights and a tokenizer for storybook.

    It is made in a separate process, so that its memory is not counted.
    """
    folder = setting.folder / f"base-{setting.size}"
    if not folder.exists():
        texts = storybook(setting, one_utterance=True)
        code = (
            "import sys\nfrom pathlib import Path\nfrom benchmarks.gpu import material\n"
            "material.save_base(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))\n"
        )
        subprocess.run([sys.executable, "-c", code, setting.size, str(folder), str(texts)], check=True)
    return folder


def save_base(size: str, folder: Path, texts: Path) -> Path:
    """Write the model of :func:`base`; large-v3 is published in fp16, too."""
    rows = [f" {row.text}" for row in manifest.read(texts)]
    return whisper_size.save(size, folder, dtype="float16", texts=rows, vocab_size=BPE_TOKENS)


def noise(setting: Setting, windows: int) -> Path:
    """Return the manifest of some full windows of noise with labels of letters."""
    path = setting.folder / f"noise-{windows}" / "train.jsonl"
    return path if path.exists() else whisper_size.windows(path.parent, windows, letters=LETTERS)


def storybook(setting: Setting, *, one_utterance: bool) -> Path:
    """Return the manifest of storybook's training recordings: one utterance a row, or packed to windows of 30 s.

    The dry run takes some of the dev recordings.
    """
    out = setting.folder / ("utterances" if one_utterance else "windows")
    path = out / "train.jsonl"
    if not path.exists():
        prepare([CORPUS / "dev" if setting.dry else CORPUS], out, one_utterance=one_utterance, without_timestamps=1.0)
    return path


def speech_s(path: Path) -> float:
    """Return the seconds of a manifest's rows."""
    return sum(row.duration for row in manifest.read(path))
