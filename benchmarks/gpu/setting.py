"""Where a campaign runs: its folders, and whether it is the dry run on a CPU."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Setting:
    """What every case is told.

    Attributes:
        work: Folder of models, data and compiled extensions, kept between calls.
        dry: Run every case at a tiny size on the CPU.
        processor: Folder with the tokenizer and generation settings of openai/whisper-large-v3.
        model: Folder of OpenAI's base, which is fine-tuned on ``speech``.
        speech: Folder of real recordings with transcripts, each of its folders a set.
    """

    work: str
    dry: bool = False
    processor: str | None = None
    model: str | None = None
    speech: str | None = None

    @property
    def folder(self) -> Path:
        """The work folder."""
        return Path(self.work)

    @property
    def device(self) -> str:
        """The device for torch."""
        return "cpu" if self.dry else "cuda"

    @property
    def size(self) -> str:
        """The size of the fine-tuned model."""
        return "test" if self.dry else "large-v3"

    @property
    def extensions(self) -> Path:
        """Folder of DeepSpeed's compiled extensions."""
        return self.folder / "extensions"

    def to_json(self) -> str:
        """Return the setting for the command line of a case's process."""
        return json.dumps(asdict(self))
